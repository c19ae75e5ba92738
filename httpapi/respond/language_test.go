package respond

import (
	"net/http"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"
)

func TestLanguage(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ accept, want string }{
		{"", "en"},
		{"en", "en"},
		{"ru", "ru"},
		{"RU", "ru"},
		{"ru-RU", "ru"},
		{"ru-RU,ru;q=0.9,en-US;q=0.8,en;q=0.7", "ru"},
		{"en-US,en;q=0.9,ru;q=0.8", "en"},
		{"en;q=0.1, ru;q=0.2", "ru"},
		{"ru;q=0.1, en;q=0.2", "en"},
		{"ru;q=0", "en"},
		{"ru;q=0, en", "en"},
		{"uk", "en"},
		{"uk-UA, ru;q=0.5", "ru"},
		{"be, kk, sr-Cyrl", "en"},
		{"de, fr;q=0.9", "en"},
		{"de, ru;q=0.1", "ru"},
		{"*", "en"},
		{"de, *;q=0.5", "en"},
		{"ru-KZ", "ru"},
		{"ru-Cyrl-RU", "ru"},
		{"und-RU", "en"},
		{"russian", "en"},
		{"ru;q=x", "en"},
		{";;,,", "en"},
		{"de\nru", "ru"}, // two header lines
		{"ru," + strings.Repeat("en,", 400), "en"},
	} {
		header := http.Header{}
		for line := range strings.SplitSeq(test.accept, "\n") {
			header.Add("Accept-Language", line)
		}
		if got := Language(&gin.Context{Request: &http.Request{Header: header}}); got != test.want {
			t.Errorf("Accept-Language %q: got %q, want %q", test.accept, got, test.want)
		}
	}
	if got := Language(&gin.Context{Request: &http.Request{}}); got != "en" {
		t.Errorf("no Accept-Language: got %q, want en", got)
	}
}
