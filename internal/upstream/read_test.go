package upstream_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"larder.local/internal/upstream"
)

func TestMenuView(t *testing.T) {
	t.Parallel()
	const view = `{"result":{"name":"Ресторан 🍲"}}`
	for name, tc := range map[string]struct {
		restaurant string
		seen       upstream.Validator
		answer     http.HandlerFunc
		query      string
		want       upstream.Menu
	}{
		"the default menu has no query": {
			answer: func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, view) },
			want:   upstream.Menu{Body: []byte(view)},
		},
		"a restaurant's menu, with an escaped id": {
			restaurant: "a&b",
			answer:     func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, view) },
			query:      "restaurantId=a%26b",
			want:       upstream.Menu{Body: []byte(view)},
		},
		"gzip is decompressed, validators are returned": {
			answer: func(w http.ResponseWriter, r *http.Request) {
				if r.Header.Get("Accept-Encoding") != "gzip" {
					return
				}
				w.Header().Set("Content-Encoding", "gzip")
				w.Header().Set("ETag", `"v1"`)
				w.Header().Set("Last-Modified", "Sat, 21 Nov 2026 01:00:00 GMT")
				packed := gzip.NewWriter(w)
				_, _ = io.WriteString(packed, view)
				_ = packed.Close()
			},
			want: upstream.Menu{Body: []byte(view), Validator: upstream.Validator{
				ETag: `"v1"`, LastModified: "Sat, 21 Nov 2026 01:00:00 GMT",
			}},
		},
		"validators are sent; a 304 without validators keeps them": {
			seen: upstream.Validator{ETag: `"v1"`, LastModified: "then"},
			answer: func(w http.ResponseWriter, r *http.Request) {
				if r.Header.Get("If-None-Match") == `"v1"` && r.Header.Get("If-Modified-Since") == "then" {
					w.WriteHeader(http.StatusNotModified)
				}
			},
			want: upstream.Menu{NotModified: true, Validator: upstream.Validator{ETag: `"v1"`, LastModified: "then"}},
		},
		"304 with a new validator": {
			seen: upstream.Validator{ETag: `"v1"`},
			answer: func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("ETag", `W/"v1"`)
				w.Header().Set("Content-Encoding", "gzip")
				w.WriteHeader(http.StatusNotModified)
			},
			want: upstream.Menu{NotModified: true, Validator: upstream.Validator{ETag: `W/"v1"`}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var path, query, bearer string
			s := &service{handler: func(w http.ResponseWriter, r *http.Request) {
				path, query, bearer = r.URL.Path, r.URL.RawQuery, r.Header.Get("Authorization")
				tc.answer(w, r)
			}}
			got, err := start(t, s).MenuView(t.Context(), tc.restaurant, tc.seen, 0)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("menu (-want +got):\n%s", diff)
			}
			if path != "/orders/api/v1/menu/view" || query != tc.query || bearer != "Bearer token-1" {
				t.Errorf("request = %s?%s as %q", path, query, bearer)
			}
		})
	}
}

func TestReadFailures(t *testing.T) {
	t.Parallel()
	status := func(code int, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", "/elsewhere")
			w.WriteHeader(code)
			_, _ = io.WriteString(w, body)
		}
	}
	for name, tc := range map[string]struct {
		answer http.HandlerFunc
		status int
		code   string
		tries  int64
		cause  error
	}{
		"404 is not retried":                     {status(404, `{"code":"no_menu","msg":"none","requestID":"r1","errors":null}`), 404, "no_menu", 1, nil},
		"a redirect is not followed":             {status(302, ""), 302, "", 1, nil},
		"304 without a validator in the request": {status(304, ""), 304, "", 1, nil},
		"500 is tried four times":                {status(500, "<h1>oops</h1>"), 500, "", 4, nil},
		"503 is tried four times":                {status(503, ""), 503, "", 4, nil},
		"408 is tried four times":                {status(408, ""), 408, "", 4, nil},
		"429 is tried four times":                {status(429, ""), 429, "", 4, nil},
		"an incomplete body": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100")
			_, _ = io.WriteString(w, "{")
		}, 200, "", 4, io.ErrUnexpectedEOF},
		"a body that is not gzip": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = io.WriteString(w, "plain text, long enough for a header")
		}, 200, "", 4, nil},
		"an encoding that was not requested": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "br")
			_, _ = io.WriteString(w, "x")
		}, 200, "", 1, upstream.ErrResponse},
		"a part of a menu": {func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusPartialContent)
			_, _ = io.WriteString(w, `{"result":{"products":[]}}`)
		}, 206, "", 4, nil},
		"more than 64 MiB announced": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "67108865")
			_, _ = io.WriteString(w, "{")
		}, 200, "", 1, upstream.ErrTooLarge},
		"more than 64 MiB after decompression": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			packed := gzip.NewWriter(w)
			block := make([]byte, 1<<20)
			for range 65 {
				_, _ = packed.Write(block)
			}
			_ = packed.Close()
		}, 200, "", 1, upstream.ErrTooLarge},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &service{handler: tc.answer}
			client := startWith(t, s, func(c *upstream.Config) { c.Timeouts.Menu = 5 * time.Minute }) // compressing 64 MiB takes time
			_, err := client.MenuView(t.Context(), "r", upstream.Validator{}, 0)
			e := asError(t, err)
			if e.Operation != upstream.OpMenu || e.Status != tc.status || e.Code != tc.code || e.Effect != upstream.EffectNone {
				t.Errorf("error = %+v, want status %d, code %q", e, tc.status, tc.code)
			}
			if tc.cause != nil && !errors.Is(err, tc.cause) {
				t.Errorf("error = %v, want %v", err, tc.cause)
			}
			if got := s.calls.Load(); got != tc.tries {
				t.Errorf("attempts = %d, want %d", got, tc.tries)
			}
		})
	}
}

func TestReadRetries(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		retryAfter string
		deadline   time.Duration // 0: none
		wantErr    bool
		tries      int64
		took       time.Duration
	}{
		"maximum pauses double: 1 + 2 s":              {"", time.Minute, false, 3, 3 * time.Second},
		"Retry-After is respected, with added jitter": {"2", time.Minute, false, 3, 4*time.Second + 3*time.Second},
		"Retry-After after the deadline: no retry":    {"5", 3 * time.Second, true, 1, 0},
		"Retry-After above the limit: no retry":       {"121", 0, true, 1, 0},
		"Retry-After at the limit":                    {"120", 0, false, 3, 4*time.Minute + 3*time.Second},
		"a pause that would end with the context":     {"", 3 * time.Second, true, 2, time.Second},
		"no deadline: retried":                        {"", 0, false, 3, 3 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := &service{}
				s.handler = func(w http.ResponseWriter, _ *http.Request) {
					if s.calls.Load() < 3 {
						if tc.retryAfter != "" {
							w.Header().Set("Retry-After", tc.retryAfter)
						}
						w.WriteHeader(http.StatusServiceUnavailable)
						return
					}
					_, _ = io.WriteString(w, "{}")
				}
				client, _, stop := within(t, s, upstream.WithJitter(func(most time.Duration) time.Duration { return most }))
				defer stop()
				ctx := t.Context()
				if tc.deadline > 0 {
					var cancel context.CancelFunc
					ctx, cancel = context.WithTimeout(ctx, tc.deadline)
					defer cancel()
				}
				begun := time.Now()
				_, err := client.MenuView(ctx, "r", upstream.Validator{}, 0)
				if (err != nil) != tc.wantErr || s.calls.Load() != tc.tries || time.Since(begun) != tc.took {
					t.Errorf("MenuView() = %v after %d attempts and %s, want error %v after %d and %s",
						err, s.calls.Load(), time.Since(begun), tc.wantErr, tc.tries, tc.took)
				}
				if tc.wantErr && tc.retryAfter != "" && asError(t, err).RetryAfter == 0 {
					t.Errorf("error = %+v, want the service's Retry-After in it", err)
				}
			})
		})
	}
}

func TestReadEndsWithItsContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &service{handler: func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "60")
			w.WriteHeader(http.StatusServiceUnavailable)
		}}
		client, _, stop := within(t, s)
		defer stop()
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			<-time.After(time.Second)
			cancel()
		}()
		begun := time.Now()
		_, err := client.MenuView(ctx, "r", upstream.Validator{}, 0)
		if e := asError(t, err); e.Status != http.StatusServiceUnavailable || time.Since(begun) != time.Second {
			t.Errorf("error = %v after %s, want the last failure, as soon as ctx ends", err, time.Since(begun))
		}
	})
}

func TestEachAttemptOfAReadHasItsLimit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &service{}
		s.handler = func(w http.ResponseWriter, r *http.Request) {
			if s.calls.Load() == 1 {
				hang(w, r)
				return
			}
			_, _ = io.WriteString(w, "{}")
		}
		client, _, stop := within(t, s)
		defer stop()
		begun := time.Now()
		_, err := client.MenuView(t.Context(), "r", upstream.Validator{}, 0)
		if err != nil || time.Since(begun) != upstream.DefaultMenuTimeout {
			t.Errorf("MenuView() = %v after %s, want success after one limit of 30s", err, time.Since(begun))
		}
	})
}

func TestRejectionReasons(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		body string
		want []upstream.Reason // nil: an error
	}{
		"the interface's spelling": {
			`{"result":[{"ID":"1","reason":"too late","type":"simple","isPossibleDelete":true},{"ID":"2","reason":"","type":"text"}]}`,
			[]upstream.Reason{{ID: "1", Reason: "too late", Type: "simple", IsPossibleDelete: true}, {ID: "2", Type: "text"}},
		},
		"other spellings, ids that are numbers": {
			`[{"id":9007199254740993,"Reason":"x","new":[1],"is_possible_delete":null}]`,
			[]upstream.Reason{{ID: "9007199254740993", Reason: "x"}},
		},
		"a byte order mark":                {"\ufeff" + `{"result":[]}`, []upstream.Reason{}},
		"null is an empty list":            {`{"result":null}`, []upstream.Reason{}},
		"no result":                        {`{"code":"x","msg":"y"}`, nil},
		"not an array":                     {`{"result":"none"}`, nil},
		"an element that is not an object": {`{"result":[{"ID":"1"},7]}`, nil},
		"not JSON":                         {`<html>`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &service{handler: func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, tc.body) }}
			got, err := start(t, s).RejectionReasons(t.Context())
			if tc.want == nil {
				if e := asError(t, err); !errors.Is(err, upstream.ErrResponse) || string(e.Body) != tc.body {
					t.Errorf("error = %v with body %q, want ErrResponse", err, e.Body)
				}
				return
			}
			if diff := cmp.Diff(tc.want, got); err != nil || diff != "" {
				t.Errorf("RejectionReasons() error %v (-want +got):\n%s", err, diff)
			}
		})
	}
}

func TestObserverSeesEveryExchange(t *testing.T) {
	t.Parallel()
	var seen []string
	s := &service{}
	s.handler = func(w http.ResponseWriter, _ *http.Request) {
		if s.calls.Load() == 1 {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		_, _ = io.WriteString(w, `{"result":[]}`)
	}
	client := start(t, s, upstream.WithObserver(func(op upstream.Operation, status int, _ time.Duration) {
		seen = append(seen, string(op)+" "+http.StatusText(status))
	}))
	if _, err := client.RejectionReasons(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := "token OK, reasons Service Unavailable, reasons OK"
	if got := strings.Join(seen, ", "); got != want {
		t.Errorf("seen = %s, want %s", got, want)
	}
}

// If a response announces more than MenuView may read, and there is room, it is read with the same request. A compressed
// length is not the length of the menu.
func TestMenuViewAsksForMoreRoom(t *testing.T) {
	t.Parallel()
	const size, most = 300_000, 200_000
	for name, tc := range map[string]struct {
		packed, room bool
		asked        int64
		cause        error
	}{
		"there is room":    {room: true, asked: size},
		"there is no room": {asked: size, cause: upstream.ErrTooLarge},
		"compressed":       {packed: true, room: true, cause: upstream.ErrTooLarge},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &service{handler: func(w http.ResponseWriter, _ *http.Request) {
				body := bytes.Repeat([]byte(" "), size)
				if tc.packed {
					w.Header().Set("Content-Encoding", "gzip")
					packed := gzip.NewWriter(w)
					_, _ = packed.Write(body)
					_ = packed.Close()
					return
				}
				w.Header().Set("Content-Length", strconv.Itoa(size))
				_, _ = w.Write(body)
			}}
			asked := int64(0)
			ctx := upstream.WithRoom(t.Context(), func(announced int64) bool { asked = announced; return tc.room })
			got, err := start(t, s).MenuView(ctx, "r", upstream.Validator{}, most)
			if !errors.Is(err, tc.cause) || (err == nil) != (tc.cause == nil) || err == nil && len(got.Body) != size {
				t.Errorf("%d bytes, %v; want %d or %v", len(got.Body), err, size, tc.cause)
			}
			if asked != tc.asked || s.calls.Load() != 1 {
				t.Errorf("room for %d bytes was asked for, with %d requests; want %d and 1", asked, s.calls.Load(), tc.asked)
			}
		})
	}
}

// A service that has rejection reasons turned off may answer with 204 (policy W17).
func TestNoContentMeansNoReasons_W17(t *testing.T) {
	t.Parallel()
	client := start(t, &service{handler: func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }})
	if got, err := client.RejectionReasons(t.Context()); err != nil || got == nil || len(got) > 0 {
		t.Errorf("RejectionReasons() = %v, %v; want an empty list", got, err)
	}
}
