package upstream_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"larder.local/internal/upstream"
)

// collectAttempts collects the attempts of one call. It needs no lock, because the client
// reports them on the calling goroutine. The race detector checks this.
func collectAttempts(ctx context.Context) (context.Context, *[]upstream.Attempt) {
	tries := new([]upstream.Attempt)
	return upstream.WithCall(ctx, nil, func(try upstream.Attempt) { *tries = append(*tries, try) }), tries
}

// answers sends one response after the other, and then repeats the last one.
func answers(s *service, list ...http.HandlerFunc) {
	s.handler = func(w http.ResponseWriter, r *http.Request) {
		list[min(int(s.calls.Load()), len(list))-1](w, r)
	}
}

// reply responds with a status and a body.
func reply(status int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

// slow waits one second before it responds.
func slow(then http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		<-time.After(time.Second) //testwaits:allow in the synctest bubble
		then(w, r)
	}
}

func breaksOff(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }

// TestAttemptsAreReported runs in a synctest bubble. An attempt takes as long as its
// handlers, and nothing else takes time.
func TestAttemptsAreReported(t *testing.T) {
	t.Parallel()
	const (
		created = `{"result":{"orderID":"1"}}`
		shape   = `{"code":"pos_close_order","msg":"not paid","requestId":"r","errors":null}`
	)
	done, unknown := upstream.EffectDone, upstream.EffectUnknown
	for name, tc := range map[string]struct {
		answers []http.HandlerFunc
		want    []upstream.Attempt
	}{
		"done at the first attempt": {[]http.HandlerFunc{slow(reply(201, created))}, []upstream.Attempt{
			{Duration: time.Second, Status: 201, Effect: done},
		}},
		"refused": {[]http.HandlerFunc{reply(422, shape)}, []upstream.Attempt{
			{Status: 422, Effect: upstream.EffectRefused, Code: "pos_close_order"},
		}},
		"rejected before execution, then done": {[]http.HandlerFunc{
			slow(reply(429, "")), reply(425, shape), slow(reply(200, created)),
		}, []upstream.Attempt{
			{Duration: time.Second, Status: 429},
			{Status: 425, Code: "pos_close_order"},
			{Duration: time.Second, Status: 200, Effect: done},
		}},
		"rejected before execution, every time": {[]http.HandlerFunc{reply(425, "")}, []upstream.Attempt{
			{Status: 425}, {Status: 425}, {Status: 425}, {Status: 425},
		}},
		"new token, then done": {[]http.HandlerFunc{slow(reply(401, "")), slow(reply(201, created))}, []upstream.Attempt{
			{Duration: time.Second, Status: 401},
			{Duration: time.Second, Status: 201, Effect: done},
		}},
		"the token is refused twice": {[]http.HandlerFunc{reply(401, "")}, []upstream.Attempt{{Status: 401}, {Status: 401}}},
		"only one new token per call": {[]http.HandlerFunc{
			reply(401, ""), reply(425, ""), reply(401, `{"code":"who","msg":"are you"}`),
		}, []upstream.Attempt{{Status: 401}, {Status: 425}, {Status: 401, Code: "who"}}},
		"rejected before execution, then unknown": {[]http.HandlerFunc{reply(429, ""), slow(breaksOff)}, []upstream.Attempt{
			{Status: 429}, {Duration: time.Second, Effect: unknown},
		}},
		"a success without an orderID": {[]http.HandlerFunc{reply(200, "fine")}, []upstream.Attempt{
			{Status: 200, Effect: unknown},
		}},
		"timeout while the service executes it": {[]http.HandlerFunc{hang}, []upstream.Attempt{
			{Duration: upstream.DefaultWriteTimeout, Effect: unknown},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := &service{}
				answers(s, tc.answers...)
				client, _, stop := within(t, s)
				defer stop()
				ctx, tries := collectAttempts(t.Context())
				begun := time.Now()
				_, err := client.CreateOrder(ctx, []byte("{}"))
				checkLast(t, *tries, err)
				at := begun
				for i := range tc.want {
					tc.want[i].At = at // noPause: each attempt starts when the previous one has ended
					at = at.Add(tc.want[i].Duration)
				}
				if diff := cmp.Diff(tc.want, *tries); diff != "" {
					t.Errorf("attempts of %v (-want +got):\n%s", err, diff)
				}
			})
		})
	}
}

// checkLast checks that the result of a call is the result of its last attempt.
func checkLast(t *testing.T, tries []upstream.Attempt, err error) {
	t.Helper()
	if len(tries) == 0 {
		t.Fatalf("no attempt was reported, error %v", err)
	}
	last := tries[len(tries)-1]
	if err == nil {
		if last.Effect != upstream.EffectDone {
			t.Errorf("the call succeeded, its last attempt is %+v", last)
		}
		return
	}
	e := asError(t, err)
	if last.Status != e.Status || last.Effect != e.Effect || last.Code != e.Code {
		t.Errorf("the call ended with %+v, its last attempt with %+v", e, last)
	}
}

func TestFailedConnectionsAreReportedAsAttempts(t *testing.T) {
	t.Parallel()
	refused := &net.OpError{Op: "dial", Err: errors.New("connection refused")}
	for name, tc := range map[string]struct {
		dial  func(context.Context, string, string) (net.Conn, error)
		tries int
		want  upstream.Effect
	}{
		"no connection":           {func(context.Context, string, string) (net.Conn, error) { return nil, refused }, 4, upstream.EffectNone},
		"broken during the write": {writing(10, io.ErrClosedPipe), 1, upstream.EffectUnknown},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client := start(t, &service{handler: reply(201, "")}, upstream.WithWriteDial(tc.dial, nil))
			for op := range operations(t.Context(), client) {
				ctx, tries := collectAttempts(t.Context())
				err := operations(ctx, client)[op]()
				checkLast(t, *tries, err)
				if len(*tries) != tc.tries {
					t.Errorf("%s: %d attempts, want %d: %+v", op, len(*tries), tc.tries, *tries)
				}
				for _, try := range *tries {
					if try.Status != 0 || try.Effect != tc.want {
						t.Errorf("%s: attempt %+v, want no status, effect %s", op, try, tc.want)
					}
				}
			}
		})
	}
}

// A call that gets no slot or no token has no attempts.
func TestARejectedCallHasNoAttempt(t *testing.T) {
	t.Parallel()
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for name, tc := range map[string]struct {
		ctx   context.Context //nolint:containedctx // of one case
		token http.HandlerFunc
	}{
		"its context has ended":             {ended, nil},
		"no token":                          {t.Context(), reply(401, `{"error":"invalid_client"}`)},
		"the token endpoint is unavailable": {t.Context(), reply(503, "")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &service{token: tc.token, handler: reply(201, "")}
			client := start(t, s)
			ctx, tries := collectAttempts(tc.ctx)
			_, err := client.CreateOrder(ctx, []byte("{}"))
			if e := asError(t, err); e.Effect != upstream.EffectNone || e.Operation != upstream.OpCreate {
				t.Errorf("CreateOrder() = %+v, want a create that was not sent", e)
			}
			if len(*tries) != 0 || s.calls.Load() != 0 {
				t.Errorf("attempts %+v, %d calls; want none", *tries, s.calls.Load())
			}
		})
	}
}

func TestAttemptsAreTimedByTheClientsClock(t *testing.T) {
	t.Parallel()
	at := time.Date(2031, 5, 6, 7, 8, 9, 0, time.UTC)
	client := start(t, &service{handler: reply(201, `{"orderID":"1"}`)}, upstream.WithClock(func() time.Time { return at }))
	ctx, tries := collectAttempts(t.Context())
	if _, err := client.CreateOrder(ctx, []byte("{}")); err != nil {
		t.Fatal(err)
	}
	if got := (*tries)[0].At; !got.Equal(at) {
		t.Errorf("the attempt started at %s, want %s of the client's clock", got, at)
	}
}

func TestACallWithoutAttemptsReportsNone(t *testing.T) {
	t.Parallel()
	client := start(t, &service{handler: reply(200, `{"result":[]}`)})
	ctx, tries := collectAttempts(t.Context())
	if _, err := client.Complete(ctx, ".."); !errors.Is(err, upstream.ErrOrderID) {
		t.Errorf("Complete(..) = %v, want ErrOrderID", err)
	}
	if _, err := client.RejectionReasons(ctx); err != nil {
		t.Errorf("a read: %v", err)
	}
	if len(*tries) != 0 {
		t.Errorf("attempts of an invalid call and of a read: %+v, want none", *tries)
	}
	if _, err := client.Complete(upstream.WithCall(ctx, nil, nil), "1"); err != nil || len(*tries) != 0 {
		t.Errorf("Complete() without an observer = %v, attempts %+v", err, *tries)
	}
}
