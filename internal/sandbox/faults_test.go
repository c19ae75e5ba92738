package sandbox_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"
	"time"

	"larder.local/internal/sandbox"
)

// executed returns the number of created orders.
func (w *fixture) executed() int {
	w.t.Helper()
	list, ok := w.do(http.MethodGet, "/sandbox/orders", "").at("result").([]any)
	if !ok {
		w.t.Fatal("no list of orders")
	}
	return len(list)
}

// reached waits for a call, and for that number of created orders.
func (w *fixture) reached(made int) {
	w.t.Helper()
	for w.t.Context().Err() == nil {
		calls := w.do(http.MethodGet, "/sandbox/counters", "").at("result", "calls", "POST /orders/api/v1/orders")
		if calls != nil && w.executed() == made {
			return
		}
	}
}

func fault(rest string) string {
	return `[{"match":{"method":"POST","path":"/orders/api/v1/orders"},"times":1,` + rest + `}]`
}

func TestFaultStatus(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.faults(fault(`"do":"status","status":503,"body":"busy","retryAfter":2,"headers":{"X-Why":"test"}`))
	r := w.do(http.MethodPost, orders, w.water()).want(http.StatusServiceUnavailable)
	if string(r.body) != "busy" || r.header.Get("Retry-After") != "2" || r.header.Get("X-Why") != "test" {
		t.Errorf("got %q %v", r.body, r.header)
	}
	if n := w.executed(); n != 0 {
		t.Errorf("%d orders made by a faulted call", n)
	}
	w.place() // the fault is used up
}

func TestFaultsThatLeaveNoAnswer(t *testing.T) {
	t.Parallel()
	for do, made := range map[string]int{"reset_before": 0, "execute_then_reset": 1} {
		t.Run(do, func(t *testing.T) {
			t.Parallel()
			w := start(t)
			w.faults(fault(`"do":"` + do + `"`))
			_, err := w.try(t.Context(), http.MethodPost, orders, w.water())
			if !errors.Is(err, syscall.ECONNRESET) && !errors.Is(err, io.EOF) {
				t.Errorf("%s: error %v, want a reset", do, err)
			}
			if n := w.executed(); n != made {
				t.Errorf("%s: %d orders made, want %d", do, n, made)
			}
		})
	}
	for do, made := range map[string]int{"hang": 0, "execute_then_hang": 1} {
		t.Run(do, func(t *testing.T) {
			t.Parallel()
			w := start(t)
			w.faults(fault(`"do":"` + do + `"`))
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			ended := make(chan error, 1)
			body := w.water()
			go func() {
				_, err := w.try(ctx, http.MethodPost, orders, body)
				ended <- err
			}()
			w.reached(made)
			select {
			case err := <-ended:
				t.Fatalf("%s: ended with %v while its caller was there", do, err)
			default:
			}
			cancel()
			if err := <-ended; !errors.Is(err, context.Canceled) {
				t.Errorf("%s: error %v, want the caller's own", do, err)
			}
			if n := w.executed(); n != made {
				t.Errorf("%s: %d orders made, want %d", do, n, made)
			}
		})
	}
}

func TestFaultExecuteThenStatus(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.faults(fault(`"do":"execute_then_status","status":500,"body":"{\"code\":\"x\"}"`))
	r := w.do(http.MethodPost, orders, w.water()).want(http.StatusInternalServerError)
	if string(r.body) != `{"code":"x"}` || !strings.HasPrefix(r.header.Get("Content-Type"), "application/json") {
		t.Errorf("got %q %v", r.body, r.header)
	}
	if n := w.executed(); n != 1 {
		t.Errorf("%d orders made, want 1", n)
	}
}

func TestFaultsThatSpoilTheAnswer(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.faults(fault(`"do":"truncate","after":12`))
	r, err := w.try(t.Context(), http.MethodPost, orders, w.water())
	if !errors.Is(err, io.ErrUnexpectedEOF) || string(r.body) != `{"result":{"` || w.executed() != 1 {
		t.Errorf("truncate: %q, error %v, %d made", r.body, err, w.executed())
	}
	etag := w.do(http.MethodGet, viewPath, "").want(http.StatusOK).header.Get("ETag")
	w.faults(`[{"do":"truncate","after":12,"times":1}]`)
	if r, err = w.try(t.Context(), http.MethodGet, viewPath, "", "If-None-Match", etag); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("truncate a menu that has not changed: %q, error %v", r.body, err)
	}
	w.faults(fault(`"do":"garbage"`))
	r = w.do(http.MethodPost, orders, w.water()).want(http.StatusOK)
	if !strings.Contains(string(r.body), "\x00") || w.executed() != 1 {
		t.Errorf("garbage: %q, %d made", r.body, w.executed())
	}
	w.faults(fault(`"do":"html"`))
	r = w.do(http.MethodPost, orders, w.water()).want(http.StatusBadGateway)
	if !strings.HasPrefix(r.header.Get("Content-Type"), "text/html") || !strings.HasPrefix(string(r.body), "<html>") {
		t.Errorf("html: %q %v", r.body, r.header)
	}
	w.faults(fault(`"do":"html","status":200,"body":"<p>hi"`))
	if got := string(w.do(http.MethodPost, orders, w.water()).want(http.StatusOK).body); got != "<p>hi" {
		t.Errorf("html with its own body: %q", got)
	}
	for _, do := range []string{"garbage", "html"} {
		w.faults(fault(`"do":"` + do + `","status":200,"headers":{"content-type":"text/csv"}`))
		if got := w.do(http.MethodPost, orders, w.water()).want(http.StatusOK).header.Get("Content-Type"); got != "text/csv" {
			t.Errorf("%s with its own content type: %q", do, got)
		}
	}
}

func TestFaultLatency(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.faults(fault(`"do":"latency","delay":"40ms"`))
	began := time.Now()
	w.place()
	if took := time.Since(began); took < 40*time.Millisecond {
		t.Errorf("answered after %v, want at least 40ms", took)
	}
	w.faults(fault(`"do":"latency","delay":"1h"`))
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond) //testwaits:allow the caller leaves before the response, which comes in an hour
	defer cancel()
	if _, err := w.try(ctx, http.MethodPost, orders, w.water()); err == nil || w.executed() != 1 {
		t.Errorf("a caller that left: error %v, %d made, want 1", err, w.executed())
	}
}

func TestFaultExpireTokens(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.faults(`[{"match":{"path":"*/rejectionReasons"},"times":1,"do":"expire_tokens"}]`)
	w.do(http.MethodGet, "/orders/api/v1/rejectionReasons", "").wantError(http.StatusUnauthorized, "unauthorized")
	w.do(http.MethodGet, "/orders/api/v1/rejectionReasons", "").wantError(http.StatusUnauthorized, "unauthorized")
	w.token = w.login()
	w.do(http.MethodGet, "/orders/api/v1/rejectionReasons", "").want(http.StatusOK)
}

func TestFaultMatching(t *testing.T) {
	t.Parallel()
	w := start(t)
	get := func(path string) int { return w.do(http.MethodGet, path, "").status }
	w.faults(`[{"match":{"method":"PUT"},"do":"status","status":500},
		{"match":{"path":"/orders/*/menu/view"},"times":2,"do":"status","status":501},
		{"match":{"path":"*"},"do":"status","status":502}]`)
	var got []int
	for _, path := range []string{viewPath, viewPath + "/?restaurantId=x", viewPath, "/anything"} {
		got = append(got, get(path))
	}
	if want := [4]int{501, 501, 502, 502}; [4]int(got) != want {
		t.Errorf("statuses %v, want %v", got, want)
	}
	if r := w.form(nil); r.status != http.StatusBadGateway {
		t.Errorf("the token endpoint answers %d, want 502", r.status)
	}
	left := w.do(http.MethodGet, "/sandbox/faults", "").want(http.StatusOK)
	if list, ok := left.at("result").([]any); !ok || len(list) != 2 || left.str("result", 1, "status") != "502" {
		t.Errorf("left: %s", left.body)
	}
	w.faults("[]")
	if got := get(viewPath); got != http.StatusOK {
		t.Errorf("after clearing: %d", got)
	}
}

func TestFaultMatchesOneRestaurant(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.box.SetMenu("other", sandbox.Bistro("other", ""))
	w.faults(`[{"match":{"restaurant":"` + sandbox.BistroID + `"},"do":"status","status":503}]`)
	for _, c := range []struct {
		method, path, body string
		want               int
	}{
		{http.MethodPost, orders, w.water(), 503},
		{http.MethodPost, orders, strings.Replace(w.water(), sandbox.BistroID, "other", 1), 201},
		{http.MethodPost, orders, strings.Replace(w.water(), "restaurantID", "restaurant_id", 1), 503},
		{http.MethodGet, viewPath + "?restaurantId=" + sandbox.BistroID, "", 503},
		{http.MethodGet, viewPath + "?restaurantId=other", "", 200},
		{http.MethodGet, viewPath, "", 200},
		{http.MethodGet, "/orders/api/v1/rejectionReasons", "", 200},
		{http.MethodPut, orders + "/77/reject", `{"restaurantID":"` + sandbox.BistroID + `"}`, 503},
		{http.MethodPut, orders + "/77/pay?restaurantID=" + sandbox.BistroID, `[]`, 503},
		{http.MethodPut, orders + "/77/pay", `[]`, 404},
	} {
		if got := w.do(c.method, c.path, c.body).status; got != c.want {
			t.Errorf("%s %s %s: status %d, want %d", c.method, c.path, c.body, got, c.want)
		}
	}
	if left := w.do(http.MethodGet, "/sandbox/faults", ""); left.str("result", 0, "match", "restaurant") != sandbox.BistroID {
		t.Errorf("faults do not show the restaurant: %s", left.body)
	}
}

func TestFaultProbabilityRepeats(t *testing.T) {
	t.Parallel()
	w := start(t)
	draw := func() (pattern string, hits int) {
		w.faults(`[{"match":{},"probability":0.5,"seed":7,"do":"status","status":503}]`)
		var seen strings.Builder
		for range 40 {
			if w.do(http.MethodGet, viewPath, "").status == http.StatusServiceUnavailable {
				seen.WriteByte('x')
				hits++
			} else {
				seen.WriteByte('.')
			}
		}
		return seen.String(), hits
	}
	first, hits := draw()
	second, _ := draw()
	if first != second || hits < 8 || hits > 32 {
		t.Errorf("40 draws: %s, again %s", first, second)
	}
}

func TestFaultsAreChecked(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.faults(`[{"match":{},"times":3,"do":"hang"}]`)
	for _, bad := range []string{
		"", "{}", "[null]", `[{"do":"explode"}]`, `[{}]`, `[{"do":"hang","unknown":1}]`, `[{"do":"hang","match":{"query":"x"}}]`,
		`[{"do":"status"}]`, `[{"do":"execute_then_status"}]`, `[{"do":"status","status":99}]`, `[{"do":"latency"}]`,
		`[{"do":"hang","times":0}]`, `[{"do":"hang","times":1,"probability":0.5}]`, `[{"do":"hang","probability":1.5}]`,
		`[{"do":"truncate","after":-1}]`, `[{"do":"hang","match":{"path":"/sandbox/orders"}}]`, `[] []`,
	} {
		w.do(http.MethodPut, "/sandbox/faults", bad).wantError(http.StatusBadRequest, "bad_faults")
	}
	if got := w.do(http.MethodGet, "/sandbox/faults", "").str("result", 0, "times"); got != "3" {
		t.Errorf("a refused list took the place of the one before: %s", got)
	}
}

// TestCloseLetsGo shows that a hanging call ends when the sandbox stops.
func TestCloseLetsGo(t *testing.T) {
	t.Parallel()
	box := sandbox.New(sandbox.Config{})
	server := httptest.NewServer(box.Handler())
	defer server.Close()
	w := &fixture{
		t:    t,
		box:  box,
		url:  server.URL,
		http: server.Client(),
		now:  noon,
	}
	w.faults(`[{"match":{},"do":"hang"}]`)
	ended := make(chan error, 1)
	go func() {
		_, err := w.try(t.Context(), http.MethodGet, viewPath, "")
		if err == nil {
			err = errors.New("the hanging call got an answer")
		} else {
			err = nil
		}
		ended <- err
	}()
	box.Close()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	w.http.CloseIdleConnections()
}
