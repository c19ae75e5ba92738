package jsontext_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"larder/internal/jsontext"
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
	text := bytes.TrimPrefix(body, []byte("\ufeff"))
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

// FuzzReader: a Reader rejects what encoding/json rejects, and otherwise reads the same
// values.
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
