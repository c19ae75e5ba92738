package configs

import (
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"larder.local/internal/testkit/doctest"
)

// keySpan matches code in a sentence that looks like a key.
var keySpan = regexp.MustCompile(`^(http|redis|cache|connections\[\]|restaurants\[\]|sync|ordering|auth|tracing)(\.[a-z_\[\]]+)+$`)

// TestKeysInSentences checks that the keys in sentences of pages exist. The name of a
// log event has the same form and must be in the code.
func TestKeysInSentences(t *testing.T) {
	t.Parallel()
	known := map[string]bool{}
	for _, key := range keysOf("", reflect.TypeFor[Config]()) {
		for key != "" {
			known[key] = true
			key = key[:max(strings.LastIndexByte(key, '.'), 0)]
		}
	}
	known["restaurants[].ordering"], known["auth.clients"] = true, true
	pages, err := doctest.Find("..", "README.md", "docs", "deploy")
	if err != nil {
		t.Fatal(err)
	}
	code := source(t)
	seen := 0
	for _, page := range pages {
		for _, span := range page.Spans() {
			if !keySpan.MatchString(span) {
				continue
			}
			seen++
			if _, last, _ := strings.Cut(span, "."); !known[span] && !strings.Contains(code, `"`+span+`"`) && !strings.Contains(code, `"`+last+`"`) {
				t.Errorf("%s: `%s` is neither a key of the configuration nor an event", page.Path, span)
			}
		}
	}
	if least := 100; seen < least {
		t.Errorf("%d keys found, there were %d once", seen, least)
	}
}

// source returns the text of all Go files except tests.
func source(t *testing.T) string {
	t.Helper()
	var text strings.Builder
	for _, folder := range []string{"cache", "cmd", "configs", "httpapi", "internal", "ordering", "sync"} {
		err := filepath.WalkDir(filepath.Join("..", folder), func(path string, _ os.DirEntry, err error) error {
			if err != nil || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
				return err
			}
			content, err := os.ReadFile(path)
			text.Write(content)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return text.String()
}
