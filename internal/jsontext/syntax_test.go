package jsontext_test

import (
	"encoding/json"
	"strings"
	"testing"

	"larder.local/internal/jsontext"
)

// FuzzCheck: Check accepts what encoding/json accepts, and control characters in strings, up to the same depth.
func FuzzCheck(f *testing.F) {
	for _, text := range []string{
		``, ` `, `{}`, `[]`, ` [ ] `, `{"a":1}`, `{"a":1,}`, `[1,]`, `[,1]`, `{,}`, `{"a"}`, `{"a":}`, `{a:1}`, `[1 2]`, `{"a":1 "b":2}`,
		`0`, `-0`, `00`, `01`, `-`, `1.`, `.5`, `1.5`, `1e`, `1e5`, `1E+5`, `1e-`, `-1.5e-10`, `+1`, `1.e5`, `0.0`, `0e0`, `1 2`,
		`true`, `tru`, `truex`, `false`, `null`, `nul`, `NaN`, `"`, `""`, `"a`, `"\"`, `"\\"`, `"\u12"`, `"\u12G4"`, `"\uD83D\ude00"`,
		`"\x"`, "\"\t\"", "\"\x7f\"", "\"\xff\"", "\xef\xbb\xbf{}", "\v{}", `[}`, `{]`, `]`, `}`, `[[[[]]]]`, `{"a":{"a":[]}}`, "\n\t\r {}\n",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		_, err := jsontext.Check(string(raw), 0)
		if want := json.Valid([]byte(ordinary(strings.TrimPrefix(string(raw), "\ufeff")))); (err == nil) != want {
			t.Fatalf("Check(%q) = %v, encoding/json returns %v", raw, err, want)
		}
	})
}

func TestCheckNestsAsDeepAsAllowed(t *testing.T) {
	t.Parallel()
	nested := func(levels int) []byte {
		return []byte(strings.Repeat("[", levels) + strings.Repeat("]", levels))
	}
	for _, c := range []struct {
		levels, limit int
		ok            bool
	}{{3, 3, true}, {4, 3, false}, {10_000, 0, true}, {10_001, 0, false}, {5_000_000, 0, false}, {5_000_000, 32, false}} {
		if _, err := jsontext.Check(string(nested(c.levels)), c.limit); (err == nil) != c.ok {
			t.Errorf("%d levels within %d: %v, want ok %v", c.levels, c.limit, err, c.ok)
		}
	}
	objects := strings.Repeat(`{"a":`, 3) + "1" + strings.Repeat("}", 3)
	if _, err := jsontext.Check(objects, 2); err == nil || !strings.Contains(err.Error(), "column 11: nested deeper than 2 levels") {
		t.Errorf("three objects within 2 levels: %v", err)
	}
}
