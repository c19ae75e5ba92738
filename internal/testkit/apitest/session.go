package apitest

import (
	"encoding/json"
	"net/http"
	"testing"
)

// SignInBody returns the body of a sign-in.
func SignInBody(client, secret string) string {
	text, _ := json.Marshal(map[string]string{"client": client, "secret": secret})
	return string(text)
}

// Cookie returns the only cookie that a response sets.
func (r Reply) Cookie(t *testing.T) *http.Cookie {
	t.Helper()
	cookies := (&http.Response{Header: r.Header}).Cookies()
	if len(cookies) != 1 {
		t.Fatalf("%d cookies in %v, want one", len(cookies), r.Header)
	}
	return cookies[0]
}

// SignIn returns the headers that a browser sends after signing in.
func (w *Fixture) SignIn(client string) []string {
	w.T.Helper()
	cookie := w.Post(SessionPath, SignInBody(client, Secret(client))).Is(w.T, http.StatusOK).Cookie(w.T)
	return []string{"Cookie", cookie.Name + "=" + cookie.Value}
}
