package ordering_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"testing"
	"time"

	"larder/internal/menu"
	"larder/internal/upstream"
	"larder/ordering"
)

// service answers as it is told and counts.
type service struct {
	calls   int
	body    string
	created upstream.Created
	err     error
	during  func(ctx context.Context)
}

func (s *service) CreateOrder(ctx context.Context, body []byte) (upstream.Created, error) {
	s.calls++
	s.body = string(body)
	if s.during != nil {
		s.during(ctx)
	}
	return s.created, s.err
}

func (*service) Pay(context.Context, string, []byte) (upstream.Answer, error) {
	return upstream.Answer{Status: http.StatusOK}, nil
}

func (*service) Complete(context.Context, string) (upstream.Answer, error) {
	return upstream.Answer{Status: http.StatusOK}, nil
}

func (*service) Reject(context.Context, string, []byte) (upstream.Answer, error) {
	return upstream.Answer{Status: http.StatusOK}, nil
}

func placer(s ordering.Service) *ordering.Placer {
	return ordering.NewPlacer(ordering.NewValidator(ordering.Config{}, noon), func(connection string) (ordering.Service, bool) {
		return s, connection == "main"
	}, noon, func() string { return "REF" })
}

func placeRequest(tb testing.TB, dishes string) ordering.PlaceRequest {
	tb.Helper()
	return ordering.PlaceRequest{Request: native(tb, order(dishes)), Connection: "main", Client: "storefront", Key: "k"}
}

func TestPlaced(t *testing.T) {
	t.Parallel()
	s := &service{created: upstream.Created{OrderID: "765", Status: 201}}
	got, err := placer(s).Place(t.Context(), placeRequest(t, oneSoup))
	if err != nil {
		t.Fatal(err)
	}
	if got.Ref != "REF" || got.OrderID != "765" || got.State != string(ordering.StatePlaced) || got.Total.String() != "199.9" || !got.CreatedAt.Equal(noon()) {
		t.Errorf("placed %+v", got)
	}
	if want := string(validate(t, order(oneSoup)).Order); s.calls != 1 || s.body != want {
		t.Errorf("sent %d times: %s; want once what validate shows: %s", s.calls, s.body, want)
	}
}

func TestNotPlaced(t *testing.T) {
	t.Parallel()
	other := errors.New("other")
	for _, tc := range []struct {
		name    string
		request ordering.PlaceRequest
		service service
		calls   int
		as      func(error) bool
	}{
		{"malformed", ordering.PlaceRequest{Request: native(t, `{`), Connection: "main"}, service{}, 0, is[*menu.SyntaxError]},
		{"invalid", placeRequest(t, `[]`), service{}, 0, is[*ordering.InvalidError]},
		{"unknown connection", ordering.PlaceRequest{Request: native(t, order(oneSoup)), Connection: "other"}, service{}, 0, func(err error) bool {
			return errors.Is(err, ordering.ErrUnknownConnection)
		}},
		{"never sent", placeRequest(t, oneSoup), service{err: &upstream.Error{Effect: upstream.EffectNone, RetryAfter: 7 * time.Second}}, 1, func(err error) bool {
			var e *ordering.NotSentError
			return errors.As(err, &e) && e.RetryAfter == 7*time.Second && e.Ref == "REF"
		}},
		{"perhaps done", placeRequest(t, oneSoup), service{err: &upstream.Error{Effect: upstream.EffectUnknown, Err: other}}, 1, func(err error) bool {
			return is[*ordering.UnknownError](err) && errors.Is(err, other)
		}},
		{"an error that says nothing of the effect", placeRequest(t, oneSoup), service{err: other}, 1, is[*ordering.UnknownError]},
		{"an answer without orderID", placeRequest(t, oneSoup), service{}, 1, is[*ordering.UnknownError]},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			s := tc.service
			_, err := placer(&s).Place(t.Context(), tc.request)
			if err == nil || !tc.as(err) || err.Error() == "" {
				t.Errorf("error %T: %v", err, err)
			}
			if s.calls != tc.calls {
				t.Errorf("sent %d times, want %d", s.calls, tc.calls)
			}
		})
	}
}

func TestClientsDisconnectCancelsNoWrite(t *testing.T) {
	t.Parallel()
	ctx, hangUp := context.WithCancel(t.Context())
	s := &service{created: upstream.Created{OrderID: "1"}}
	s.during = func(call context.Context) {
		hangUp()
		if call.Err() != nil {
			t.Errorf("the call ended with its client: %v", call.Err())
		}
		if _, bounded := call.Deadline(); !bounded {
			t.Error("the call has no limit of its own")
		}
	}
	if got, err := placer(s).Place(ctx, placeRequest(t, oneSoup)); err != nil || got.OrderID != "1" {
		t.Errorf("placed %+v, %v", got, err)
	}
	if _, err := placer(s).Place(ctx, placeRequest(t, oneSoup)); !is[*ordering.NotSentError](err) || s.calls != 1 {
		t.Errorf("for a client that has left already: %v after %d calls", err, s.calls)
	}
}

// TestOverHTTP places through the real client, whose word on refusals the
// Placer takes.
func TestOverHTTP(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, answer string
		status       int
		as           func(error) bool
	}{
		{"refused", `{"code":"order_validation","msg":"no","requestId":"1","errors":null}`, http.StatusBadRequest, func(err error) bool {
			var e *ordering.RefusedError
			return errors.As(err, &e) && e.Upstream.Code == "order_validation" && errors.Is(err, e.Upstream) && e.Error() != ""
		}},
		{"an error that may have come after the order was made", `oops`, http.StatusBadGateway, is[*ordering.UnknownError]},
		{"a good answer that lacks the orderID", `{"result":{}}`, http.StatusCreated, is[*ordering.UnknownError]},
		{"placed", `{"result":{"orderId":12345678901234567890}}`, http.StatusCreated, func(err error) bool { return err == nil }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			calls := 0
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/connect/token" {
					_, _ = io.WriteString(w, `{"access_token":"a-long-token-of-this-test","expires_in":3600,"token_type":"Bearer"}`)
					return
				}
				calls++
				w.WriteHeader(tc.status)
				_, _ = io.WriteString(w, tc.answer)
			}))
			defer server.Close()
			_, err := placer(connect(t, server.URL)).Place(t.Context(), placeRequest(t, oneSoup))
			if !tc.as(err) || calls != 1 {
				t.Errorf("error %T: %v after %d calls, want one", err, err, calls)
			}
		})
	}
}

// connect gives the real client of the service at url.
func connect(tb testing.TB, url string) *upstream.Client {
	tb.Helper()
	cfg := upstream.Config{Name: "main", BaseURL: url, AuthURL: url, ClientID: "demo", ClientSecret: "demo-secret"}
	cfg.SetDefaults()
	client, err := upstream.New(cfg)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(client.Close)
	return client
}

func TestRefs(t *testing.T) {
	t.Parallel()
	at := noon()
	refs := ordering.Refs(func() time.Time { return at })
	shape := regexp.MustCompile(`^[0-7][0-9A-HJKMNP-TV-Z]{25}$`)
	seen, last := map[string]bool{}, ""
	for range 1000 {
		ref := refs()
		if !shape.MatchString(ref) || seen[ref] {
			t.Fatalf("reference %q: no 26 characters of Crockford's base 32, or seen before", ref)
		}
		if seen[ref] = true; ref[:10] < last {
			t.Fatalf("reference %q sorts before %q", ref, last)
		}
		last = ref[:10]
		at = at.Add(time.Millisecond)
	}
	if got := ordering.Refs(func() time.Time { return time.UnixMilli(1469918176385) })()[:10]; got != "01ARYZ6S41" {
		t.Errorf("the time of a known ULID: %s, want 01ARYZ6S41", got)
	}
}
