package menu_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"larder/internal/menu"
)

// walked writes down what a Cursor finds, every value read as what it is.
func walked(c *menu.Cursor, out *strings.Builder) {
	switch kind := c.Kind(); kind {
	case menu.KindObject:
		out.WriteByte('{')
		c.Open()
		for name, ok := c.Member(); ok; name, ok = c.Member() {
			fmt.Fprintf(out, "%q:", name)
			walked(c, out)
		}
		out.WriteByte('}')
	case menu.KindArray:
		out.WriteByte('[')
		c.Open()
		for c.Element() {
			walked(c, out)
		}
		out.WriteByte(']')
	case menu.KindString:
		text, ok := c.Text()
		fmt.Fprintf(out, "%q %t,", text, ok)
	case menu.KindNumber:
		number, state := c.Number()
		fmt.Fprintf(out, "%s %d,", number.Decimal(), state)
	case menu.KindBool:
		value, ok := c.Bool()
		fmt.Fprintf(out, "%t %t,", value, ok)
	default:
		fmt.Fprintf(out, "%s %s,", kind, c.Raw())
	}
}

// read writes down what a Reader finds in the same way.
func read(r *menu.Reader, out *strings.Builder) {
	switch kind := r.Kind(); kind {
	case menu.KindObject:
		out.WriteByte('{')
		r.Object(func(name string) {
			fmt.Fprintf(out, "%q:", name)
			read(r, out)
		})
		out.WriteByte('}')
	case menu.KindArray:
		out.WriteByte('[')
		r.Array(func(int) { read(r, out) })
		out.WriteByte(']')
	case menu.KindString:
		text, ok := r.Text()
		fmt.Fprintf(out, "%q %t,", text, ok)
	case menu.KindNumber:
		number, state := r.Decimal()
		fmt.Fprintf(out, "%s %d,", number, state)
	case menu.KindBool:
		value, ok := r.Bool()
		fmt.Fprintf(out, "%t %t,", value, ok)
	default:
		fmt.Fprintf(out, "%s %s,", kind, r.Raw())
	}
}

// agree holds a Cursor to what Check says of a body and a Reader finds in it.
func agree(t interface {
	Helper()
	Fatalf(format string, args ...any)
}, body []byte, depth int,
) {
	t.Helper()
	c := menu.NewCursor(string(body), depth)
	var found strings.Builder
	walked(&c, &found)
	checked, want := menu.Check(body, depth)
	if diff := cmp.Diff(fmt.Sprint(want), fmt.Sprint(c.Err(body))); diff != "" || c.End() != (want == nil) {
		t.Fatalf("%q: End %t (-want +got error):\n%s", body, c.End(), diff)
	}
	skipped := menu.NewCursor(string(body), depth)
	if skipped.Skip(); skipped.End() != (want == nil) {
		t.Fatalf("%q: End %t when skipped, want %t", body, skipped.End(), want == nil)
	}
	if want != nil {
		return
	}
	var known strings.Builder
	read(menu.NewReader(checked), &known)
	if diff := cmp.Diff(known.String(), found.String()); diff != "" {
		t.Fatalf("%q (-Reader +Cursor):\n%s", body, diff)
	}
}

func cursorSeeds() []string {
	return []string{
		`{"a":[1,2.5,"x\u00e9\n",null,true,{"b":{}}],"long name, longer than a word":"a text of more than eight bytes, Ünïcode"}`,
		"\xef\xbb\xbf {\t\"a\" :\r\n [ ] , \"b\":-0.5e-7 } ", `"text`, `"\x"`, "\"\xff\xfe bytes\"", "\"a\tb\"", `[1,]`, `[,1]`, `{"a":1,}`, `{"a"}`,
		`{1:2}`, `[1 2]`, `[}`, `{]`, `01`, `-`, `1.`, `1e`, `tru`, `nulll`, ``, ` `, `[[[[1]]]]`, `[[[[[1]]]]]`, `{"a":{"b":[{"c":[]}]}}`,
		`"\ud800"`, `"\u12"`, `12345678901234567890.5`, `1e999`, `[1]x`, `"eight888`, `"eight888"`, `"eight88\"9"`,
	}
}

func TestCursorAgreesWithCheck(t *testing.T) {
	t.Parallel()
	for _, body := range cursorSeeds() {
		agree(t, []byte(body), 4)
		for i := range body {
			agree(t, []byte(body[:i]), 4)
		}
	}
	part := rapid.SampledFrom([]string{
		`{`, `}`, `[`, `]`, `,`, `:`, `"a"`, `"text of many letters"`, `1`, `-2.50`, `null`, `true`, ` `, "\n", `"`, `\`, `"é"`, "\x01",
	})
	rapid.Check(t, func(t *rapid.T) {
		agree(t, []byte(strings.Join(rapid.SliceOfN(part, 0, 12).Draw(t, "parts"), "")), 4)
	})
}

// FuzzCursor: what Check refuses a Cursor refuses, for the same reason, and of
// the rest it reads what a Reader reads.
func FuzzCursor(f *testing.F) {
	for _, body := range cursorSeeds() {
		f.Add([]byte(body), 4)
	}
	f.Fuzz(func(t *testing.T, body []byte, depth int) {
		if depth < 1 || depth > 64 {
			t.Skip("no depth that a body is read with")
		}
		agree(t, body, depth)
	})
}
