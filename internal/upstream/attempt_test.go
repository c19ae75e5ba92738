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

	"larder/internal/upstream"
)

// collectAttempts collects the attempts of one call. It needs no lock, because the client
// reports them on the calling goroutine; the race detector checks that.
func collectAttempts(ctx context.Context) (context.Context, *[]upstream.Attempt) {
	tries := new([]upstream.Attempt)
	return upstream.WithAttempts(ctx, func(try upstream.Attempt) { *tries = append(*tries, try) }), tries
}

// answers returns the answers one after the other, and then repeats the last one.
func answers(s *service, list ...http.HandlerFunc) {
	s.handler = func(w http.ResponseWriter, r *http.Request) {
		list[min(int(s.calls.Load()), len(list))-1](w, r)
	}
}

// says answers with a status and a body.
func says(status int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

// slow waits a second before it answers.
func slow(then http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		<-time.After(time.Second)
		then(w, r)
	}
}

func breaksOff(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }

// TestAttemptsAreReported runs in a synctest bubble: an attempt takes as long as its
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
		"done at once": {[]http.HandlerFunc{slow(says(201, created))}, []upstream.Attempt{
			{Duration: time.Second, Status: 201, Effect: done},
		}},
		"refused": {[]http.HandlerFunc{says(500, shape)}, []upstream.Attempt{
			{Status: 500, Refused: true, Code: "pos_close_order"},
		}},
		"turned away, then done": {[]http.HandlerFunc{
			slow(says(429, "")), says(503, shape), slow(says(200, created)),
		}, []upstream.Attempt{
			{Duration: time.Second, Status: 429},
			{Status: 503, Code: "pos_close_order"},
			{Duration: time.Second, Status: 200, Effect: done},
		}},
		"turned away for ever": {[]http.HandlerFunc{says(503, "")}, []upstream.Attempt{
			{Status: 503}, {Status: 503}, {Status: 503}, {Status: 503},
		}},
		"the token renewed, then done": {[]http.HandlerFunc{slow(says(401, "")), slow(says(201, created))}, []upstream.Attempt{
			{Duration: time.Second, Status: 401},
			{Duration: time.Second, Status: 201, Effect: done},
		}},
		"the token refused twice": {[]http.HandlerFunc{says(401, "")}, []upstream.Attempt{{Status: 401}, {Status: 401}}},
		"the token renewed once in all": {[]http.HandlerFunc{
			says(401, ""), says(503, ""), says(401, `{"code":"who","msg":"are you"}`),
		}, []upstream.Attempt{{Status: 401}, {Status: 503}, {Status: 401, Code: "who"}}},
		"turned away, then not known": {[]http.HandlerFunc{says(429, ""), slow(breaksOff)}, []upstream.Attempt{
			{Status: 429}, {Duration: time.Second, Effect: unknown},
		}},
		"a success that says nothing": {[]http.HandlerFunc{says(200, "fine")}, []upstream.Attempt{
			{Status: 200, Effect: unknown},
		}},
		"time out while it is with the service": {[]http.HandlerFunc{hang}, []upstream.Attempt{
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
					tc.want[i].At = at // noPause: each starts when the one before has ended
					at = at.Add(tc.want[i].Duration)
				}
				if diff := cmp.Diff(tc.want, *tries); diff != "" {
					t.Errorf("tries of %v (-want +got):\n%s", err, diff)
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
			t.Errorf("the call succeeded, its last try is %+v", last)
		}
		return
	}
	e := asError(t, err)
	if last.Status != e.Status || last.Effect != e.Effect || last.Refused != e.Refused() || last.Code != e.Code {
		t.Errorf("the call ended with %+v, its last try with %+v", e, last)
	}
}

func TestAttemptsThatReachNobodyAreReported(t *testing.T) {
	t.Parallel()
	refused := &net.OpError{Op: "dial", Err: errors.New("connection refused")}
	for name, tc := range map[string]struct {
		dial  func(context.Context, string, string) (net.Conn, error)
		tries int
		want  upstream.Effect
	}{
		"no connection":         {func(context.Context, string, string) (net.Conn, error) { return nil, refused }, 4, upstream.EffectNone},
		"broken while it wrote": {writing(10), 1, upstream.EffectUnknown},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client := start(t, &service{handler: says(201, "")}, upstream.WithWriteDial(tc.dial, nil))
			for op := range operations(t.Context(), client) {
				ctx, tries := collectAttempts(t.Context())
				err := operations(ctx, client)[op]()
				checkLast(t, *tries, err)
				if len(*tries) != tc.tries {
					t.Errorf("%s: %d tries, want %d: %+v", op, len(*tries), tc.tries, *tries)
				}
				for _, try := range *tries {
					if try.Status != 0 || try.Effect != tc.want || try.Refused {
						t.Errorf("%s: try %+v, want no status, effect %s", op, try, tc.want)
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
		"its caller has left": {ended, nil},
		"no token":            {t.Context(), says(401, `{"error":"invalid_client"}`)},
		"no token for now":    {t.Context(), says(503, "")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &service{token: tc.token, handler: says(201, "")}
			client := start(t, s)
			ctx, tries := collectAttempts(tc.ctx)
			_, err := client.CreateOrder(ctx, []byte("{}"))
			if e := asError(t, err); e.Effect != upstream.EffectNone || e.Operation != upstream.OpCreate {
				t.Errorf("CreateOrder() = %+v, want a create that was not sent", e)
			}
			if len(*tries) != 0 || s.calls.Load() != 0 {
				t.Errorf("tries %+v, %d calls; want none", *tries, s.calls.Load())
			}
		})
	}
}

func TestAttemptsAreTimedByTheClientsClock(t *testing.T) {
	t.Parallel()
	at := time.Date(2031, 5, 6, 7, 8, 9, 0, time.UTC)
	client := start(t, &service{handler: says(201, `{"orderID":"1"}`)}, upstream.WithClock(func() time.Time { return at }))
	ctx, tries := collectAttempts(t.Context())
	if _, err := client.CreateOrder(ctx, []byte("{}")); err != nil {
		t.Fatal(err)
	}
	if got := (*tries)[0].At; !got.Equal(at) {
		t.Errorf("the try began at %s, want the client's %s", got, at)
	}
}

func TestACallWithoutAttemptsReportsNone(t *testing.T) {
	t.Parallel()
	client := start(t, &service{handler: says(200, `{"result":[]}`)})
	ctx, tries := collectAttempts(t.Context())
	if _, err := client.Complete(ctx, ".."); !errors.Is(err, upstream.ErrOrderID) {
		t.Errorf("Complete(..) = %v, want ErrOrderID", err)
	}
	if _, err := client.RejectionReasons(ctx); err != nil {
		t.Errorf("a read: %v", err)
	}
	if len(*tries) != 0 {
		t.Errorf("tries of an impossible call and of a read: %+v, want none", *tries)
	}
	if _, err := client.Complete(upstream.WithAttempts(ctx, nil), "1"); err != nil || len(*tries) != 0 {
		t.Errorf("Complete() without an observer = %v, tries %+v", err, *tries)
	}
}
