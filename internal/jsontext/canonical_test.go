package jsontext_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"larder.local/internal/jsontext"
)

// appendCanonical appends the canonical form of a well-formed value.
func appendCanonical(dst []byte, value string, number func(dst []byte, number string) []byte) []byte {
	c := jsontext.Canonical{Reader: jsontext.NewReader(value, 0), AppendNumber: number}
	return c.AppendNext(dst)
}

func TestAppendCanonical(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]string{
		` { "b" : 1 , "a" : [ true , null , {} , [] ] } `: `{"a":[true,null,{},[]],"b":1}`,
		`{"order_b":1,"orderA":2,"OrderA":{"y":1,"x":2}}`: `{"orderA":2,"OrderA":{"x":2,"y":1},"order_b":1}`,
		`[1.50,1E+2,-0]`: `[1.50,1E+2,-0]`,
		`"\u0053\u00fcp\/pe\b\"\ud83d\ude00\uD800x"`: `"Süp/pe\u0008\"😀\ud800x"`,
		"\"\xff\xfe\"":       "\"\ufffd\ufffd\"",
		`{"\u0062":1,"a":2}`: `{"a":2,"b":1}`,
	} {
		if got := string(appendCanonical(nil, value, nil)); got != want {
			t.Errorf("AppendCanonical(%s) = %s, want %s", value, got, want)
		}
	}
	starred := func(dst []byte, number string) []byte { return append(append(dst, number...), '0') }
	if got := string(appendCanonical([]byte("x"), `{"b":1,"a":[2]}`, starred)); got != `x{"a":[20],"b":10}` {
		t.Errorf("with a number function: %s", got)
	}
}

func TestAppendCompact(t *testing.T) {
	t.Parallel()
	const value = " { \"b\" : [ 1e2 , -2.50 ] ,\n\t\"a \\\" 1\" : \"1 , 2\" } "
	if got, want := string(jsontext.AppendCompact(nil, value, nil)), `{"b":[1e2,-2.50],"a \" 1":"1 , 2"}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	number := func(dst []byte, number string) []byte { return append(dst, '0') }
	if got, want := string(jsontext.AppendCompact(nil, value, number)), `{"b":[0,0],"a \" 1":"1 , 2"}`; got != want {
		t.Errorf("with a number function: got %s, want %s", got, want)
	}
}

// Canonical returns the same errors as Check.
func FuzzCanonicalErr(f *testing.F) {
	for _, text := range []string{
		"", " ", `{`, `[1,`, `"a`, `"\x"`, `{"b":1,"a":"\u12"}`, `{"a" 1}`, `{1:2}`, `[01]`, `[-]`, `tru`, `{"a":[[[[1]]]]}`, "\xef\xbb\xbf{} x", `{"a":{"b":[1,2,{}]}}`,
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		_, want := jsontext.Check(text, 4)
		c := jsontext.Canonical{
			Reader:       jsontext.NewReader(text, 4),
			AppendNumber: func(dst []byte, number string) []byte { return append(dst, number[:1]...) },
		}
		c.AppendNext(nil)
		if got := c.Err(); (got == nil) != (want == nil) || got != nil && got.Error() != want.Error() {
			t.Errorf("%q: error %v, want %v", text, got, want)
		}
	})
}

// The canonical form has the same meaning for encoding/json as the value, and is its own
// canonical form.
func FuzzAppendCanonical(f *testing.F) {
	for _, body := range readerSeeds() {
		f.Add(body)
	}
	f.Fuzz(func(t *testing.T, value string) {
		if !json.Valid([]byte(ordinary(value))) {
			t.Skip("not JSON")
		}
		var want, got any
		canonical := appendCanonical(nil, value, nil)
		compact := jsontext.AppendCompact(nil, value, nil)
		if json.Unmarshal([]byte(ordinary(value)), &want) != nil {
			t.Skip("a number above the range of float64")
		}
		for _, form := range [][]byte{canonical, compact} {
			got = nil
			if err := json.Unmarshal(form, &got); err != nil || !reflect.DeepEqual(want, got) {
				t.Fatalf("%s became %s: %v", value, form, err)
			}
		}
		if again := appendCanonical(nil, string(canonical), nil); string(again) != string(canonical) {
			t.Fatalf("the canonical form %s has the canonical form %s", canonical, again)
		}
	})
}

func TestWriterPutsCommas(t *testing.T) {
	t.Parallel()
	var w jsontext.Writer
	w.Open('{')
	w.Name("a")
	w.Open('[')
	for i := range 3 {
		w.Next()
		w.Int(int64(i))
	}
	w.Close(']')
	w.AnyName("quote \"")
	w.Text("tab\t")
	w.Name("c")
	w.Open('{')
	w.Close('}')
	w.Name("d")
	w.Bool(true)
	w.Name("e")
	w.Number(jsontext.Whole(5))
	w.Name("f")
	w.Raw("null")
	w.Close('}')
	if want := `{"a":[0,1,2],"quote \"":"tab\t","c":{},"d":true,"e":5,"f":null}`; string(w.Buf) != want {
		t.Errorf("got %s, want %s", w.Buf, want)
	}
}
