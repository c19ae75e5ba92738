package ordering_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"larder.local/internal/jsontext"
	"larder.local/ordering"
)

func TestCanonical(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat("[", 32) + strings.Repeat("]", 32)
	for _, tc := range []struct{ body, want string }{
		{` { "b" : 1 , "a" : [ true , false , null ] } `, `{"a":[true,false,null],"b":1}`},
		{"\xef\xbb\xbf{}", `{}`},
		{`{"a":{},"b":[]}`, `{"a":{},"b":[]}`},
		{`"\u0041\/\n\u0442"`, `"A/\nт"`},
		{`{"order_b":1,"orderA":2}`, `{"orderA":2,"order_b":1}`},
		{`{"ID":1,"x":0,"id":2}`, `{"ID":1,"id":2,"x":0}`}, // the last spelling counts
		{`{"x":0,"id":2,"ID":1}`, `{"id":2,"ID":1,"x":0}`},
		{`[0,-0,0.00,0e5,-0.0e-3,0e99999999999]`, `[0,0,0,0,0,0]`},
		{`[1,1.0,1e0,10e-1,0.1e1,1.000e+00]`, `[1,1,1,1,1,1]`},
		{`[100,1e2,-2.50,-25e-1,199.90]`, `[1e2,1e2,-25e-1,-25e-1,1999e-1]`},
		{`[1e999999999,10e999999999,1e9999999999]`, `[1e999999999,1e1000000000,1e9999999999]`},
		{`[12345678901234567890.5]`, `[123456789012345678905e-1]`},
		{deep, deep},
	} {
		got, err := ordering.Canonical([]byte(tc.body))
		if err != nil || string(got) != tc.want {
			t.Errorf("canonical(%s) = %s, %v; want %s", tc.body, got, err, tc.want)
		}
	}
	for _, body := range []string{``, `{`, `{"a":1}x`, `01`, `[` + deep + `]`} {
		got, err := ordering.Canonical([]byte(body))
		if _, ok := errors.AsType[*jsontext.SyntaxError](err); !ok {
			t.Errorf("canonical(%s) = %s, %v; want a syntax error", body, got, err)
		}
	}
}

// All spellings of a value have the same canonical form. Different values have
// different forms.
func TestCanonical_EqualValues(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		value := aValue(3).Draw(t, "value")
		seed := rapid.Uint64().Draw(t, "seed")
		one, other := write(value, rand.New(rand.NewPCG(seed, 1))), write(value, rand.New(rand.NewPCG(seed, 2)))
		a, b := canonicalOf(t, one), canonicalOf(t, other)
		if a != b {
			t.Fatalf("%s\n%s\nare equal, but their canonical forms are\n%s\n%s", one, other, a, b)
		}
		if again := canonicalOf(t, a); again != a {
			t.Fatalf("the canonical form %s has the canonical form %s", a, again)
		}
		path := 0
		changed := alter(value, rapid.IntRange(0, size(value)-1).Draw(t, "where"), &path)
		if c := canonicalOf(t, write(changed, rand.New(rand.NewPCG(seed, 3)))); c == a {
			t.Fatalf("%v\n%v\nare different, but both have the canonical form\n%s", value, changed, a)
		}
	})
}

func canonicalOf(t *rapid.T, body string) string {
	got, err := ordering.Canonical([]byte(body))
	if err != nil {
		t.Fatalf("canonical(%s): %v", body, err)
	}
	return string(got)
}

// amount is the number digits × 10^exponent.
type amount struct {
	digits   int64
	exponent int
}

// fields is an object without duplicate names.
type fields []struct {
	name  string
	value any
}

func aValue(depth int) *rapid.Generator[any] {
	return rapid.Custom(func(t *rapid.T) any {
		kinds := 6
		if depth == 0 {
			kinds = 4
		}
		switch rapid.IntRange(0, kinds-1).Draw(t, "kind") {
		case 0:
			return rapid.Bool().Draw(t, "bool")
		case 1:
			return nil
		case 2:
			return rapid.String().Draw(t, "text")
		case 3:
			a := amount{rapid.Int64Range(-9999, 9999).Draw(t, "digits"), rapid.IntRange(-30, 30).Draw(t, "exponent")}
			if a.digits == 0 {
				a.exponent = 0
			}
			for a.digits != 0 && a.digits%10 == 0 {
				a.digits /= 10
				a.exponent++
			}
			return a
		case 4:
			return rapid.SliceOfN(aValue(depth-1), 0, 4).Draw(t, "array")
		default:
			var f fields
			for i := range rapid.IntRange(0, 4).Draw(t, "members") {
				f = append(f, struct {
					name  string
					value any
				}{rapid.StringMatching(`[a-z]{0,3}`).Draw(t, "name") + strconv.Itoa(i), aValue(depth-1).Draw(t, "value")})
			}
			return f
		}
	})
}

// write encodes a value with a random spelling.
func write(v any, r *rand.Rand) string {
	space := func() string { return []string{"", "", " ", "\n\t"}[r.IntN(4)] }
	var b strings.Builder
	b.WriteString(space())
	switch v := v.(type) {
	case string:
		b.WriteString(quote(v, r))
	case amount:
		b.WriteString(v.write(r))
	case []any:
		b.WriteString("[" + space())
		for i, e := range v {
			if i > 0 {
				b.WriteString(",")
			}
			b.WriteString(write(e, r))
		}
		b.WriteString("]")
	case fields:
		b.WriteString("{" + space())
		for i, k := range r.Perm(len(v)) {
			if i > 0 {
				b.WriteString("," + space())
			}
			b.WriteString(quote(v[k].name, r) + space() + ":" + write(v[k].value, r))
		}
		b.WriteString("}")
	default:
		text, _ := json.Marshal(v)
		b.Write(text)
	}
	b.WriteString(space())
	return b.String()
}

// quote encodes a text with unnecessary escapes.
func quote(s string, r *rand.Rand) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, c := range s {
		switch {
		case c > 0xffff:
			b.WriteRune(c)
		case c < ' ' || c == '"' || c == '\\' || r.IntN(3) == 0:
			fmt.Fprintf(&b, `\u%04x`, c)
		default:
			b.WriteRune(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// write encodes a number with redundant zeros and exponents.
func (a amount) write(r *rand.Rand) string {
	sign, digits, exponent := "", strconv.FormatInt(a.digits, 10), a.exponent
	if a.digits < 0 {
		sign, digits = "-", digits[1:]
	}
	for range r.IntN(3) {
		digits, exponent = digits+"0", exponent-1
	}
	if a.digits == 0 {
		digits = "0"
	}
	switch r.IntN(3) {
	case 0:
		if exponent < 0 && -exponent < len(digits) {
			return sign + digits[:len(digits)+exponent] + "." + digits[len(digits)+exponent:]
		}
	case 1:
		return sign + digits[:1] + "." + digits[1:] + "0" + "E" + strconv.Itoa(exponent+len(digits)-1)
	}
	return sign + digits + []string{"e", "E"}[r.IntN(2)] + strconv.Itoa(exponent)
}

// size counts the places of a value that alter can change.
func size(v any) int {
	n := 1
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			n += size(e)
		}
	case fields:
		for _, f := range v {
			n += size(f.value)
		}
	}
	return n
}

// alter returns the value with a change at one place.
func alter(v any, where int, at *int) any {
	here := *at
	*at++
	if here == where {
		switch v := v.(type) {
		case string:
			return v + "x"
		case amount:
			return amount{v.digits*10 + 1, v.exponent - 1}
		case bool:
			return !v
		case nil:
			return false
		case []any:
			return append(append([]any{}, v...), nil)
		case fields:
			return append(append(fields{}, v...), fields{{"more", nil}}...)
		}
	}
	switch v := v.(type) {
	case []any:
		out := []any{}
		for _, e := range v {
			out = append(out, alter(e, where, at))
		}
		return out
	case fields:
		out := fields{}
		for _, f := range v {
			f.value = alter(f.value, where, at)
			out = append(out, f)
		}
		return out
	}
	return v
}

// Valid JSON has a canonical form, which is valid JSON with the same value. It is its own
// canonical form. Other input is rejected.
func FuzzCanonical(f *testing.F) {
	for _, body := range []string{
		`{"b":[1,2.50,-0,1e400],"a":"\ud83d\ude00 \ud83d","A":{"_a":null}}`, `[{}, [], true, 1E+2, "\u0000"]`, `{`, "\"\xff\"", `1e99999999999`,
	} {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		got, err := ordering.Canonical(body)
		if err != nil {
			if _, ok := errors.AsType[*jsontext.SyntaxError](err); !ok {
				t.Fatalf("error %T: %v", err, err)
			}
			return
		}
		if !json.Valid(got) {
			t.Fatalf("canonical(%q) is not JSON: %q", body, got)
		}
		again, err := ordering.Canonical(got)
		if err != nil || !bytes.Equal(again, got) {
			t.Fatalf("canonical(%q) = %q, whose canonical form is %q, %v", body, got, again, err)
		}
	})
}
