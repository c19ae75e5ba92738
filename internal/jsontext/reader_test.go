package jsontext_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"larder.local/internal/jsontext"
)

// walked writes all values that a Reader finds. Each is read by the method of its kind.
func walked(r *jsontext.Reader, out *strings.Builder) {
	switch kind := r.Kind(); kind {
	case jsontext.KindObject:
		out.WriteByte('{')
		for name := range r.Members() {
			fmt.Fprintf(out, "%q:", name)
			walked(r, out)
		}
		out.WriteByte('}')
	case jsontext.KindArray:
		out.WriteByte('[')
		for range r.Elements() {
			walked(r, out)
		}
		out.WriteByte(']')
	case jsontext.KindString:
		text, ok := r.Text()
		fmt.Fprintf(out, "%q %t,", text, ok)
	case jsontext.KindNumber, jsontext.KindNull:
		fmt.Fprintf(out, "%s,", r.Raw())
	case jsontext.KindBool:
		value, ok := r.Bool()
		fmt.Fprintf(out, "%t %t,", value, ok)
	default:
		fmt.Fprintf(out, "%s %s,", kind, r.Raw())
	}
}

// decoded writes what encoding/json finds, in the same format.
func decoded(d *json.Decoder, out *strings.Builder) {
	token, err := d.Token()
	if err != nil {
		out.WriteString(err.Error())
		return
	}
	switch value := token.(type) {
	case json.Delim:
		out.WriteString(value.String())
		for d.More() {
			if value == '{' {
				name, _ := d.Token()
				fmt.Fprintf(out, "%q:", name)
			}
			decoded(d, out)
		}
		end, _ := d.Token()
		fmt.Fprint(out, end)
	case string:
		fmt.Fprintf(out, "%q true,", value)
	case json.Number:
		fmt.Fprintf(out, "%s,", value)
	case bool:
		fmt.Fprintf(out, "%t true,", value)
	case nil:
		out.WriteString("null,")
	}
}

// ordinary escapes the control characters in strings, which encoding/json does not accept.
func ordinary(text string) string {
	var b strings.Builder
	inside, after := false, false
	for _, c := range []byte(text) {
		if inside && c < ' ' && !after {
			fmt.Fprintf(&b, `\u%04x`, c)
			continue
		}
		b.WriteByte(c)
		if c == '"' && !after {
			inside = !inside
		}
		after = inside && c == '\\' && !after
	}
	return b.String()
}

// agree compares a Reader with encoding/json for a body.
func agree(t interface {
	Helper()
	Fatalf(format string, args ...any)
}, body []byte, depth int,
) {
	t.Helper()
	r := jsontext.NewReader(string(body), depth)
	var found strings.Builder
	walked(&r, &found)
	err := r.Err()
	if _, want := jsontext.Check(string(body), depth); fmt.Sprint(want) != fmt.Sprint(err) {
		t.Fatalf("%q: read: %v, skipped: %v", body, err, want)
	}
	text := []byte(ordinary(strings.TrimPrefix(string(body), "\ufeff")))
	tooDeep := err != nil && strings.Contains(err.Error(), "nested deeper than")
	if valid := json.Valid(text); valid != (err == nil) && (!valid || !tooDeep) {
		t.Fatalf("%q: %v, but encoding/json returns %t", body, err, valid)
	}
	if err != nil {
		return
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var known strings.Builder
	decoded(d, &known)
	if diff := cmp.Diff(known.String(), found.String()); diff != "" {
		t.Fatalf("%q (-encoding/json +Reader):\n%s", body, diff)
	}
}

func readerSeeds() []string {
	return []string{
		`{"a":[1,2.5,"x\u00e9\n",null,true,{"b":{}}],"long name, longer than a word":"a text of more than eight bytes, Ünïcode"}`,
		"\xef\xbb\xbf {\t\"a\" :\r\n [ ] , \"b\":-0.5e-7 } ", `"text`, `"\x"`, "\"\xff\xfe bytes\"", "\"a\tb\"", `[1,]`, `[,1]`, `{"a":1,}`, `{"a"}`,
		`{1:2}`, `[1 2]`, `[}`, `{]`, `01`, `-`, `1.`, `1e`, `tru`, `nulll`, ``, ` `, `[[[[1]]]]`, `[[[[[1]]]]]`, `{"a":{"b":[{"c":[]}]}}`,
		`"\ud800"`, `"\u12"`, `12345678901234567890.5`, `1e999`, `[1]x`, `"eight888`, `"eight888"`, `"eight88\"9"`,
	}
}

func TestReaderAgreesWithEncodingJSON(t *testing.T) {
	t.Parallel()
	for _, body := range readerSeeds() {
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

// FuzzReader: a Reader rejects what encoding/json rejects, except control characters in strings, and otherwise reads the
// same values.
func FuzzReader(f *testing.F) {
	for _, body := range readerSeeds() {
		f.Add([]byte(body), 4)
	}
	f.Fuzz(func(t *testing.T, body []byte, depth int) {
		if depth < 1 || depth > 64 {
			t.Skip("not a depth of the product")
		}
		agree(t, body, depth)
	})
}

// A control character in a string is read (policy W17). Everything that is copied has its escape.
func TestControlCharactersInStringsAreRead(t *testing.T) {
	t.Parallel()
	const text = "{\"na\tme\":\"a\x00b\\\"\nc\",\n\t\"list\":[\"\x1f\", 1]}"
	const escaped = "{\"na\\tme\":\"a\\u0000b\\\"\\nc\",\n\t\"list\":[\"\\u001f\", 1]}"
	r := jsontext.NewReader(text, 4)
	if got := r.Raw(); got != escaped || r.Err() != nil {
		t.Errorf("Raw() = %s, %v; want %s", got, r.Err(), escaped)
	}
	if control, tooDeep := r.Oddities(); !control || tooDeep {
		t.Errorf("Oddities() = %t, %t; want a control character", control, tooDeep)
	}
	r = jsontext.NewReader(text, 4)
	for name := range r.Members() {
		if name != "na\tme" || r.RawName() != `"na\tme"` {
			break
		}
		if got, _ := r.Text(); got != "a\x00b\"\nc" {
			t.Errorf("Text() = %q", got)
		}
		break
	}
	if got, want := string(appendCanonical(nil, text, nil)), `{"list":["\u001f",1],"na\tme":"a\u0000b\"\nc"}`; got != want {
		t.Errorf("the canonical form is %s, want %s", got, want)
	}
	if got, want := string(jsontext.AppendCompact(nil, text, nil)), `{"na\tme":"a\u0000b\"\nc","list":["\u001f",1]}`; got != want {
		t.Errorf("the compact form is %s, want %s", got, want)
	}
	for bad, position := range map[string]string{
		"{\"a\":\"x\ty\",}": "line 1, column 12", "{\"a\":\"x\ny\" \"b\"}": "line 2, column 3", "\"a\tb": "line 1, column 1", "\"\\\t\"": "column",
	} {
		if _, err := jsontext.Check(bad, 4); err == nil || !strings.Contains(err.Error(), position) {
			t.Errorf("Check(%q) = %v, want an error at %s", bad, err, position)
		}
	}
}

// With AnyDepth, a Reader skips a value of any depth (policy W17), and the canonical form is not deeper than the limit.
func TestAnyDepth(t *testing.T) {
	t.Parallel()
	const levels = 3_000_000
	for name, c := range map[string]struct{ text, canonical string }{
		"arrays":  {`[1,` + strings.Repeat("[", levels) + strings.Repeat("]", levels) + `,2]`, `[1,[[null]],2]`},
		"objects": {`{"b":1,"a":` + strings.Repeat(`{"a":`, levels) + `7` + strings.Repeat("}", levels) + `}`, `{"a":{"a":{"a":null}},"b":1}`},
		"beside":  {`[[[[[1],"x"],{"y":2}],3]]`, `[[[null,null],3]]`},
		"shallow": {`[[[1]]]`, `[[[1]]]`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			canonical := jsontext.Canonical{Reader: jsontext.NewReader(c.text, 3)}
			canonical.AnyDepth = true
			if got := string(canonical.AppendNext(nil)); got != c.canonical || canonical.Err() != nil {
				t.Errorf("the canonical form is %s, %v; want %s", got, canonical.Err(), c.canonical)
			}
			if _, tooDeep := canonical.Oddities(); tooDeep != strings.Contains(c.canonical, "null") {
				t.Errorf("Oddities() reports a deep value: %t", tooDeep)
			}
			r := jsontext.NewReader(c.text, 3)
			r.AnyDepth = true
			if got := r.Raw(); got != c.text || r.Err() != nil {
				t.Errorf("Raw() has %d bytes, %v; want %d", len(got), r.Err(), len(c.text))
			}
		})
	}
	r := jsontext.NewReader(strings.Repeat("[", levels)+"}", 3)
	r.AnyDepth = true
	r.Skip()
	if err := r.Err(); err == nil || !strings.Contains(err.Error(), "column 3000001: invalid JSON") {
		t.Errorf("a wrong bracket: %v", err)
	}
}
