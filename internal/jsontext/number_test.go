package jsontext_test

import (
	"strings"
	"testing"

	"github.com/shopspring/decimal"
	"pgregory.net/rapid"

	"larder.local/internal/jsontext"
)

// drawDecimal draws numbers of every size: typical prices, numbers at the limit of a
// Number's units, and larger ones.
func drawDecimal(t *rapid.T, name string) decimal.Decimal {
	exponent := rapid.Int32Range(-20, 4).Draw(t, name+" exponent")
	units := rapid.OneOf(
		rapid.Int64Range(-1000, 1000), rapid.Int64Range(-1e9, 1e9), rapid.Int64Range(-1e18-1, 1e18+1), rapid.Int64(),
	).Draw(t, name)
	d := decimal.New(units, exponent)
	if rapid.IntRange(0, 9).Draw(t, name+" long") == 0 {
		d = d.Mul(decimal.New(rapid.Int64().Draw(t, name+" more"), 0))
	}
	return d
}

// same reports whether a Number equals the decimal, including its exponent.
func same(n jsontext.Number, d decimal.Decimal) bool {
	got := n.Decimal()
	return got.Exponent() == d.Exponent() && got.Coefficient().Cmp(d.Coefficient()) == 0
}

// Every operation returns the same result as decimal.Decimal.
func TestNumbersAreDecimals(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a, b := drawDecimal(t, "a"), drawDecimal(t, "b")
		if rapid.IntRange(0, 4).Draw(t, "alike") == 0 {
			b = a.Mul(decimal.New(1, 3)).Shift(-3)
		}
		n, m := jsontext.NumberOf(a), jsontext.NumberOf(b)
		if !same(n, a) {
			t.Fatalf("%s became %s", a, n.Decimal())
		}
		if sum := n.Add(m); !same(sum, a.Add(b)) {
			t.Errorf("%s + %s = %s, want %s", a, b, sum.Decimal(), a.Add(b))
		}
		if product := n.Mul(m); !same(product, a.Mul(b)) {
			t.Errorf("%s × %s = %s, want %s", a, b, product.Decimal(), a.Mul(b))
		}
		if n.Cmp(m) != a.Cmp(b) || n.Sign() != a.Sign() || n.IsWhole() != a.IsInteger() {
			t.Errorf("%s and %s: Cmp %d, Sign %d, IsWhole %t; want %d, %d, %t",
				a, b, n.Cmp(m), n.Sign(), n.IsWhole(), a.Cmp(b), a.Sign(), a.IsInteger())
		}
		places := rapid.Int32Range(0, 6).Draw(t, "places")
		want := a
		if -a.Exponent() > places {
			want = a.Round(places)
		}
		if got := n.Round(places); !same(got, want) {
			t.Errorf("%s rounded to %d places is %s, want %s", a, places, got.Decimal(), want)
		}
		if got, want := string(n.Append(nil)), a.String(); got != want {
			t.Errorf("%s is written %s, want %s", a, got, want)
		}
		if whole := n.Int64(); a.NumDigits()+int(a.Exponent()) <= 18 && whole != a.IntPart() {
			t.Errorf("the whole part of %s is %d, want %d", a, whole, a.IntPart())
		}
	})
}

// TestParsedNumbersEqualDecimals compares ParseNumber with the decimal package. Both return
// the same value. ParseNumber rejects only numbers above its limits.
func TestParsedNumbersEqualDecimals(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(
			rapid.StringMatching(`-?[0-9]{1,20}(\.[0-9]{1,20})?`), rapid.StringMatching(`[ +-]?[0-9]{0,4}[.,]?[0-9]{0,3}([eE][+-]?[0-9]{1,4})? ?`),
		).Draw(t, "text")
		n, state := jsontext.ParseNumber(text)
		trimmed := strings.TrimSpace(text)
		want, err := decimal.NewFromString(trimmed)
		switch {
		case trimmed == "":
			if state != jsontext.NumberNull {
				t.Errorf("%q is parsed as %d, want nothing", text, state)
			}
		case strings.Contains(trimmed, ","):
			if state != jsontext.NumberComma && len(trimmed) <= 40 {
				t.Errorf("%q is parsed as %d, want a decimal comma", text, state)
			}
		case state == jsontext.NumberOK:
			if err != nil || !same(n, want) {
				t.Errorf("%q is parsed as %s, want %s, %v", text, n.Decimal(), want, err)
			}
		case err == nil && len(trimmed) <= 40 && want.Exponent() <= 20 && want.Exponent() >= -40:
			t.Errorf("%q is not parsed (%d), want %s", text, state, want)
		}
	})
}

func TestParseNumber(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]struct {
		out   string
		state jsontext.NumberState
	}{
		"199.90": {"199.9", jsontext.NumberOK}, "0": {"0", jsontext.NumberOK}, "-3": {"-3", jsontext.NumberOK}, " 7 ": {"7", jsontext.NumberOK},
		"1e2": {"100", jsontext.NumberOK}, "9007199254740993.01": {"9007199254740993.01", jsontext.NumberOK},
		"": {"0", jsontext.NumberNull}, "12,5": {"0", jsontext.NumberComma}, "1 000": {"0", jsontext.NumberInvalid},
		"1e99": {"0", jsontext.NumberInvalid}, "1e-99": {"0", jsontext.NumberInvalid}, "1e999999999999": {"0", jsontext.NumberInvalid},
		"NaN": {"0", jsontext.NumberInvalid}, "1.2.3": {"0", jsontext.NumberInvalid}, strings.Repeat("9", 41): {"0", jsontext.NumberInvalid},
	} {
		n, state := jsontext.ParseNumber(text)
		if state != want.state || string(n.Append(nil)) != want.out {
			t.Errorf("ParseNumber(%q) = %s, %d; want %s, %d", text, n.Append(nil), state, want.out, want.state)
		}
	}
}

// TestPlainNumbersAreExact compares the fast parsing and formatting of numbers with the
// decimal package.
func TestPlainNumbersAreExact(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`-?[0-9]{1,21}(\.[0-9]{1,20})?`).Draw(t, "text")
		got, state := jsontext.ParseNumber(text)
		want, err := decimal.NewFromString(text)
		if err != nil || len(text) > 40 {
			return
		}
		if state != jsontext.NumberOK || !same(got, want) {
			t.Fatalf("ParseNumber(%q) = %s, %d; want %s", text, got.Decimal(), state, want)
		}
		if out := string(got.Append(nil)); out != want.String() {
			t.Fatalf("%q is written %s, want %s", text, out, want.String())
		}
	})
	for _, text := range []string{
		"", "-", ".", "-.", "1.", ".5", "+5", "1.2.3", "1-2", "--1", "0", "-0", "0.0", "-0.00", "007", "1,5",
		"1e3",
	} {
		want, err := decimal.NewFromString(strings.ReplaceAll(text, ",", "?"))
		got, state := jsontext.ParseNumber(text)
		if (state == jsontext.NumberOK) != (err == nil) || (err == nil && !got.Decimal().Equal(want)) {
			t.Errorf("ParseNumber(%q) = %s, %d; want %s, %v", text, got.Decimal(), state, want, err)
		}
	}
}

func TestWhole(t *testing.T) {
	t.Parallel()
	for _, n := range []int64{0, 1, -1, 9, 10, 63, 64, 1e18 - 1, 1e18, -1e18, 1<<63 - 1, -1 << 63} {
		if got := jsontext.Whole(n); !same(got, decimal.NewFromInt(n)) {
			t.Errorf("Whole(%d) = %s", n, got.Decimal())
		}
	}
}

func TestSumsDoNotAllocate(t *testing.T) { //nolint:paralleltest // other tests' allocations would count
	price, _ := jsontext.ParseNumber("199.90")
	var buffer [64]byte
	allocations := testing.AllocsPerRun(100, func() {
		total := price.Mul(jsontext.Whole(3)).Add(price).Round(2)
		if total.Cmp(price) <= 0 || len(total.Append(buffer[:0])) != len("799.6") {
			t.Error("the sum is wrong")
		}
	})
	if allocations != 0 {
		t.Errorf("a sum needs %v allocations", allocations)
	}
}
