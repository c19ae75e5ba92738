package client_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"larder.local/cmd/larder/client"
)

// answering returns a client of a server that sends the same response to every request.
func answering(t *testing.T, status int, header, body string) *client.Client {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if name, value, ok := strings.Cut(header, ": "); ok {
			w.Header().Set(name, value)
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}))
	t.Cleanup(server.Close)
	return client.New(t.Context(), server.URL, "", "")
}

// Facts about the call come from the call, never from the body.
func TestError_CallIsNotReadFromTheBody(t *testing.T) {
	t.Parallel()
	const body = `{"code":"rate_limited","msg":"slow","Anonymous":false,"opsRoute":false,"RetryAfter":1,"Body":"x"}`
	_, err := answering(t, http.StatusTooManyRequests, "Retry-After: 7", body).Get(t.Context(), client.OpsRestaurantPath("r1")+"/lint")
	refused, ok := errors.AsType[*client.Error](err)
	if !ok || !refused.Anonymous || !refused.OpsRoute || refused.RetryAfter != 7*time.Second || string(refused.Body) != body {
		t.Errorf("the call failed with %+v", err)
	}
	if !client.RefusedWith(err, http.StatusUnauthorized, http.StatusTooManyRequests) || client.RefusedWith(err, http.StatusUnauthorized) {
		t.Errorf("RefusedWith does not know the status of %v", err)
	}
}

func TestError_AnswerOfAnotherProgram(t *testing.T) {
	t.Parallel()
	_, err := answering(t, http.StatusBadGateway, "", "<html>").Get(t.Context(), "/v1/restaurants")
	if refused, ok := errors.AsType[*client.Error](err); !ok || refused.Body != nil || !strings.Contains(err.Error(), "502 Bad Gateway: the response is not from larder") {
		t.Errorf("the call failed with %v", err)
	}
}

// A refused token request is an error of its own: the daemon answers, so a retry
// with the same secret cannot succeed.
func TestError_WrongSecret(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = io.WriteString(w, `{"error":"invalid_client","error_description":"no"}`)
	}))
	t.Cleanup(server.Close)
	_, err := client.New(t.Context(), server.URL, "ops", "wrong").Get(t.Context(), "/v1/ops/runs")
	refused, ok := errors.AsType[*client.Error](err)
	if !ok || refused.Status != http.StatusUnauthorized || refused.Code != "unauthorized" || !refused.NoToken || refused.Anonymous {
		t.Errorf("a call with a wrong secret failed with %#v", err)
	}
	if want := "authentication failed at " + server.URL + ": unknown client or wrong secret"; err == nil || err.Error() != want {
		t.Errorf("a call with a wrong secret failed with %q, want %q", err, want)
	}
}

func TestGet_AnswerOfAnotherProgram(t *testing.T) {
	t.Parallel()
	if _, err := client.Get[[]string](t.Context(), answering(t, http.StatusOK, "", "hello"), "/"); !errors.Is(err, client.ErrForeignAnswer) {
		t.Errorf("Get failed with %v, want ErrForeignAnswer", err)
	}
}

// The token and the secret are only for the address that was given.
func TestRedirectsAreNotFollowed(t *testing.T) {
	t.Parallel()
	reached := false
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached = true }))
	t.Cleanup(other.Close)
	for _, first := range []string{"/connect/token", "/v1/ops/runs"} {
		daemon := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == first {
				http.Redirect(w, r, other.URL+r.URL.Path, http.StatusTemporaryRedirect)
				return
			}
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write([]byte(`{"access_token":"t","token_type":"Bearer","expires_in":60}`))
		}))
		t.Cleanup(daemon.Close)
		_, err := client.New(t.Context(), daemon.URL, "ops", "secret").Get(t.Context(), "/v1/ops/runs")
		if reached || err == nil || !strings.Contains(err.Error(), "the server redirects to "+other.URL) {
			t.Errorf("%s: reached the other server: %t, %v", first, reached, err)
		}
	}
}

func TestUnreachable(t *testing.T) {
	t.Parallel()
	_, err := client.New(t.Context(), "http://127.0.0.1:1/", "", "").Get(t.Context(), "/livez")
	if _, ok := errors.AsType[*client.UnreachableError](err); !ok || err.Error() != "larder at http://127.0.0.1:1 does not answer" {
		t.Errorf("a call without a listener failed with %v", err)
	}
}

func TestBaseURL(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"0.0.0.0:8080": "http://127.0.0.1:8080", ":8080": "http://127.0.0.1:8080", "[::]:80": "http://127.0.0.1:80",
		"[fe80::1]:80": "http://[fe80::1]:80", "larder.example:80": "http://larder.example:80", "larder.example": "http://larder.example",
	} {
		if got := client.BaseURL(address); got != want {
			t.Errorf("BaseURL(%q) = %q, want %q", address, got, want)
		}
	}
}
