package upstream_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/oauth2"

	"larder.local/internal/upstream"
)

func TestTokenRequestForms_W1(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		form upstream.TokenRequest
		want [][2]string
		enc  string
	}{
		"document uses the interface's field names as multipart": {
			documentForm(),
			[][2]string{
				{"client_ID", "client"},
				{"client_secret", secret},
				{"grant_type", "client_credentials"},
				{"scopes", "orders"},
			},
			"multipart/form-data",
		},
		"oauth uses RFC 6749": {
			oauthForm(),
			[][2]string{
				{"client_id", "client"},
				{"client_secret", secret},
				{"grant_type", "client_credentials"},
				{"scope", "orders"},
			},
			"application/x-www-form-urlencoded",
		},
		"custom uses the configured fields": {
			upstream.TokenRequest{Encoding: "urlencoded", ClientIDField: "app", ScopeField: "realm"},
			[][2]string{
				{"app", "client"},
				{"client_secret", secret},
				{"grant_type", "client_credentials"},
				{"realm", "orders"},
			},
			"application/x-www-form-urlencoded",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var method, encoding string
			var got [][2]string
			s := &service{token: func(w http.ResponseWriter, r *http.Request) {
				method = r.Method
				encoding, got = formOf(r)
				_, _ = io.WriteString(w, `{"access_token":"abc","expires_in":60}`)
			}}
			client := startWith(t, s, func(c *upstream.Config) { c.TokenRequest = tc.form })
			if _, err := client.Token(t.Context()); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("fields (-want +got):\n%s", diff)
			}
			if method != http.MethodPost || encoding != tc.enc {
				t.Errorf("request = %s %s, want POST %s", method, encoding, tc.enc)
			}
		})
	}
}

// formOf returns a form's encoding and fields. Multipart fields are in the order of the
// request, others in the order of the form.
func formOf(r *http.Request) (encoding string, fields [][2]string) {
	encoding, params, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if encoding == "multipart/form-data" {
		reader := multipart.NewReader(r.Body, params["boundary"])
		for {
			part, err := reader.NextPart()
			if err != nil {
				return encoding, fields
			}
			value, _ := io.ReadAll(part)
			fields = append(fields, [2]string{part.FormName(), string(value)})
		}
	}
	_ = r.ParseForm()
	for _, name := range []string{
		"client_id", "client_ID", "app", "client_secret", "grant_type", "scope", "scopes", "realm",
	} {
		if r.PostForm.Has(name) {
			fields = append(fields, [2]string{name, r.PostForm.Get(name)})
		}
	}
	return encoding, fields
}

func TestTokenReply_W2(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_800_000_000, 0)
	jwt := func(claims string) string {
		return "h." + base64.RawURLEncoding.EncodeToString([]byte(claims)) + ".s"
	}
	for name, tc := range map[string]struct {
		reply string
		token string
		want  time.Duration
	}{
		"lifetime as a number":       {`{"access_token":"abc","expires_in":90}`, "abc", 90 * time.Second},
		"lifetime as a string":       {`{"access_token":"abc","expires_in":"90"}`, "abc", 90 * time.Second},
		"names in another spelling":  {`{"accessToken":"abc","expiresIn":90}`, "abc", 90 * time.Second},
		"in an envelope":             {`{"result":{"access_token":"abc","expires_in":90}}`, "abc", 90 * time.Second},
		"no lifetime: the JWT's exp": {`{"access_token":"` + jwt(`{"exp":1800000120}`) + `"}`, jwt(`{"exp":1800000120}`), 2 * time.Minute},
		"exp in the past of larder's clock: exp less iat": {
			`{"access_token":"` + jwt(`{"iat":1700000000,"exp":1700000060}`) + `"}`,
			jwt(`{"iat":1700000000,"exp":1700000060}`), time.Minute,
		},
		"a JWT without exp: 5 minutes":   {`{"access_token":"` + jwt(`{}`) + `"}`, jwt(`{}`), 5 * time.Minute},
		"exp that is a string":           {`{"access_token":"` + jwt(`{"exp":"1800000120"}`) + `"}`, jwt(`{"exp":"1800000120"}`), 2 * time.Minute},
		"exp that is not a number":       {`{"access_token":"` + jwt(`{"exp":"soon"}`) + `"}`, jwt(`{"exp":"soon"}`), 5 * time.Minute},
		"a payload that is not base64":   {`{"access_token":"a.*.c"}`, "a.*.c", 5 * time.Minute},
		"a payload that is not JSON":     {`{"access_token":"a.YWJj.c"}`, "a.YWJj.c", 5 * time.Minute},
		"not a JWT: 5 minutes":           {`{"access_token":"abc"}`, "abc", 5 * time.Minute},
		"a token of 8 KiB":               {`{"access_token":"` + strings.Repeat("a", 8<<10) + `"}`, strings.Repeat("a", 8<<10), 5 * time.Minute},
		"zero lifetime counts as none":   {`{"access_token":"abc","expires_in":0}`, "abc", 5 * time.Minute},
		"a huge lifetime is limited":     {`{"access_token":"abc","expires_in":99999999999999}`, "abc", 365 * 24 * time.Hour},
		"a null lifetime counts as none": {`{"access_token":"abc","expires_in":null}`, "abc", 5 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &service{token: func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, tc.reply) }}
			client := start(t, s, upstream.WithClock(func() time.Time { return now }))
			got, err := client.Token(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if got.AccessToken != tc.token || got.Expiry.Sub(now) != tc.want || got.Type() != "Bearer" {
				t.Errorf("Token() of %s = %q for %s as %s, want %q for %s", tc.reply,
					got.AccessToken, got.Expiry.Sub(now), got.Type(), tc.token, tc.want)
			}
		})
	}
}

func TestTokenRefusals(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		status          int
		body, code, msg string
		cause           error
	}{
		"RFC 6749 error":            {401, `{"error":"invalid_client","error_description":"no such client"}`, "invalid_client", "no such client", nil},
		"the interface's shape":     {400, `{"code":"bad","msg":"no","requestId":"r"}`, "bad", "no", nil},
		"HTML":                      {500, `<h1>oops</h1>`, "", "", nil},
		"a redirect":                {302, ``, "", "", nil},
		"a success without a token": {200, `{"token":"x"}`, "", "", upstream.ErrResponse},
		"a token with a line break": {200, `{"access_token":"a\nb"}`, "", "", upstream.ErrResponse},
		"a token above 8 KiB":       {200, `{"access_token":"` + strings.Repeat("a", 8<<10+1) + `"}`, "", "", upstream.ErrResponse},
		"not JSON":                  {200, `access_token=abc`, "", "", upstream.ErrResponse},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &service{token: func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Location", "/elsewhere")
				w.WriteHeader(tc.status)
				_, _ = io.WriteString(w, tc.body)
			}}
			client := start(t, s)
			_, err := client.Token(t.Context())
			e := asError(t, err)
			if e.Operation != upstream.OpToken || e.Status != tc.status || e.Code != tc.code || e.Msg != tc.msg {
				t.Errorf("error = %+v, want token, status %d, code %q, msg %q", e, tc.status, tc.code, tc.msg)
			}
			if tc.cause != nil && (!errors.Is(err, tc.cause) || e.Body != nil) {
				t.Errorf("error = %v with body %q, want %v and no body", err, e.Body, tc.cause)
			}
			if s.tokens.Load() != 1 {
				t.Errorf("token requests = %d, want 1", s.tokens.Load())
			}
		})
	}
}

func TestAHundredCallsShareOneTokenRequest(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &service{handler: func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, `{"result":[]}`) }}
		s.token = func(w http.ResponseWriter, _ *http.Request) {
			<-time.After(time.Second)
			_, _ = fmt.Fprintf(w, `{"access_token":"token-%d","expires_in":300}`, s.tokens.Load())
		}
		client, _, stop := within(t, s)
		defer stop()
		if _, err := client.Token(t.Context()); err != nil {
			t.Fatal(err)
		}
		<-time.After(301 * time.Second) // expired
		var all sync.WaitGroup
		errs := make(chan error, 100)
		for range 100 {
			all.Go(func() {
				_, err := client.RejectionReasons(t.Context())
				errs <- err
			})
		}
		all.Wait()
		close(errs)
		for err := range errs {
			if err != nil {
				t.Errorf("RejectionReasons() = %v", err)
			}
		}
		if got := s.tokens.Load(); got != 2 {
			t.Errorf("token requests = %d, want 2: the first and one renewal", got)
		}
		if got := s.calls.Load(); got != 100 {
			t.Errorf("calls = %d, want 100", got)
		}
	})
}

func TestTokenIsRenewedEarly_W2(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ lifetime, fresh, stale time.Duration }{
		"a fifth of a short lifetime": {100 * time.Second, 79 * time.Second, 81 * time.Second},
		"30 s of a long lifetime":     {time.Hour, 3569 * time.Second, 3571 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			start0 := time.Unix(1_800_000_000, 0)
			var mu sync.Mutex
			now := start0
			s := &service{token: func(w http.ResponseWriter, _ *http.Request) {
				_, _ = fmt.Fprintf(w, `{"access_token":"abc","expires_in":%d}`, int(tc.lifetime.Seconds()))
			}}
			client := start(t, s, upstream.WithClock(func() time.Time {
				mu.Lock()
				defer mu.Unlock()
				return now
			}))
			for _, step := range []struct {
				at   time.Duration
				want int64
			}{{0, 1}, {tc.fresh, 1}, {tc.stale, 2}} {
				mu.Lock()
				now = start0.Add(step.at)
				mu.Unlock()
				if _, err := client.Token(t.Context()); err != nil {
					t.Fatal(err)
				}
				await(t, func() bool { return s.tokens.Load() >= step.want }) // a renewal is beside the call
				if got := s.tokens.Load(); got != step.want {
					t.Errorf("token requests at %s = %d, want %d", step.at, got, step.want)
				}
			}
		})
	}
}

func TestHungTokenEndpoint(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &service{token: hang}
		client, _, stop := within(t, s)
		defer stop()
		begun := time.Now()
		patient := make(chan error, 1)
		go func() {
			_, err := client.Token(t.Context())
			patient <- err
		}()
		synctest.Wait()
		hasty, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := client.Token(hasty)
		if !errors.Is(err, context.DeadlineExceeded) || time.Since(begun) != time.Second {
			t.Errorf("caller with a short deadline: %v after %s, want its own deadline after 1s", err, time.Since(begun))
		}
		if err := <-patient; !errors.Is(err, context.DeadlineExceeded) || time.Since(begun) != 10*time.Second {
			t.Errorf("caller without a deadline: %v after %s, want the fetch's limit of 10s", err, time.Since(begun))
		}
		ended, stopNow := context.WithCancel(t.Context())
		stopNow()
		if _, err := client.Token(ended); !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled caller: %v, want context.Canceled", err)
		}
		if got := s.tokens.Load(); got != 1 {
			t.Errorf("token requests = %d, want 1", got)
		}
	})
}

func TestOldTokenIsUsedUntilItExpires(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &service{}
		s.token = func(w http.ResponseWriter, _ *http.Request) {
			if s.tokens.Load() > 1 {
				http.Error(w, "down", http.StatusInternalServerError)
				return
			}
			_, _ = io.WriteString(w, `{"access_token":"abc","expires_in":100}`)
		}
		client, _, stop := within(t, s)
		defer stop()
		get := func() (*oauth2.Token, error) {
			defer synctest.Wait() // the renewal is beside the call
			return client.Token(t.Context())
		}
		if _, err := get(); err != nil {
			t.Fatal(err)
		}
		<-time.After(85 * time.Second)
		for range 3 { // one failed renewal, then a pause before the next
			if token, err := get(); err != nil || token.AccessToken != "abc" {
				t.Fatalf("Token() before it expires = %v, %v, want the old one", token, err)
			}
		}
		if got := s.tokens.Load(); got != 2 {
			t.Errorf("token requests = %d, want 2", got)
		}
		<-time.After(13 * time.Second)
		if _, err := get(); err != nil {
			t.Errorf("Token() 2 s before it expires = %v", err)
		}
		<-time.After(3 * time.Second)
		if _, err := get(); err == nil {
			t.Error("Token() returned the expired token")
		}
	})
}

func TestUnauthorizedRenewsTheTokenOnce_W2(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		good   string // the token that the service accepts
		status int    // of the error; 0 for none
	}{
		"the new token is accepted": {"Bearer token-2", 0},
		"the new token is refused":  {"Bearer nothing", http.StatusUnauthorized},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			write := func(c *upstream.Client) error {
				_, err := c.CreateOrder(t.Context(), []byte(`{}`))
				return err
			}
			for op, call := range map[string]func(*upstream.Client) error{
				"read": func(c *upstream.Client) error {
					_, err := c.RejectionReasons(t.Context())
					return err
				},
				"write":       write,
				"write, kept": write,
			} {
				s := &service{handler: func(w http.ResponseWriter, r *http.Request) {
					switch {
					case r.Header.Get("Authorization") != tc.good:
						w.WriteHeader(http.StatusUnauthorized)
					case r.Method == http.MethodPost:
						w.WriteHeader(http.StatusCreated)
						_, _ = io.WriteString(w, `{"result":{"orderID":"765"}}`)
					default:
						_, _ = io.WriteString(w, `{"result":[]}`)
					}
				}}
				err := call(start(t, s, upstream.WithReuse(reuseOf(op == "write, kept"))))
				if tc.status == 0 && err != nil {
					t.Errorf("%s: %v", op, err)
				}
				if tc.status != 0 {
					e := asError(t, err)
					if e.Status != tc.status || e.Effect != upstream.EffectNone || e.Refused() {
						t.Errorf("%s: %+v, want 401, certainly no effect, not refused", op, e)
					}
				}
				if s.tokens.Load() != 2 || s.calls.Load() != 2 {
					t.Errorf("%s: %d tokens, %d calls, want 2 and 2", op, s.tokens.Load(), s.calls.Load())
				}
			}
		})
	}
}

func TestProbeToken_W1(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		accepts    string // the encoding that the service accepts
		configured upstream.TokenRequest
		want       []bool // which probes work
	}{
		"the configured form works: nothing is guessed": {"multipart/form-data", documentForm(), []bool{true}},
		"the other preset works":                        {"application/x-www-form-urlencoded", documentForm(), []bool{false, true}},
		"a custom form fails, both presets are tried": {
			"multipart/form-data",
			upstream.TokenRequest{Encoding: "urlencoded", ClientIDField: "app", ScopeField: "realm"},
			[]bool{false, true, false},
		},
		"nothing works": {"none", oauthForm(), []bool{false, false}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &service{token: func(w http.ResponseWriter, r *http.Request) {
				if !strings.HasPrefix(r.Header.Get("Content-Type"), tc.accepts) {
					w.WriteHeader(http.StatusBadRequest)
					return
				}
				_, _ = io.WriteString(w, `{"access_token":"abc","expires_in":60}`)
			}}
			client := startWith(t, s, func(c *upstream.Config) { c.TokenRequest = tc.configured })
			probes, err := client.ProbeToken(t.Context())
			var got []bool
			for i, probe := range probes {
				got = append(got, probe.Err == nil)
				if (probe.Request == tc.configured) != (i == 0) || (probe.Err == nil && probe.Lifetime != time.Minute) {
					t.Errorf("probe %d = %+v", i, probe)
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("working probes (-want +got):\n%s", diff)
			}
			if (err == nil) != tc.want[0] {
				t.Errorf("error = %v, want the error of the configured form", err)
			}
		})
	}
}

// documentForm and oauthForm return the presets of the token request.
func documentForm() upstream.TokenRequest {
	return upstream.TokenRequest{Encoding: upstream.EncodingMultipart, ClientIDField: "client_ID", ScopeField: "scopes"}
}

func oauthForm() upstream.TokenRequest {
	return upstream.TokenRequest{Encoding: upstream.EncodingURLEncoded, ClientIDField: "client_id", ScopeField: "scope"}
}
