package menu_test

import (
	"testing"

	"github.com/shopspring/decimal"
	"pgregory.net/rapid"

	"larder/internal/menu"
)

// drawDecimal makes numbers of every size: such as prices are, such as just fit
// a Number by themselves, and such as do not.
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

// same tells whether a Number is the decimal, its exponent included.
func same(n menu.Number, d decimal.Decimal) bool {
	got := n.Decimal()
	return got.Exponent() == d.Exponent() && got.Coefficient().Cmp(d.Coefficient()) == 0
}

// TestNumbersAreDecimals: every operation gives what decimal.Decimal gives.
func TestNumbersAreDecimals(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a, b := drawDecimal(t, "a"), drawDecimal(t, "b")
		if rapid.IntRange(0, 4).Draw(t, "alike") == 0 {
			b = a.Mul(decimal.New(1, 3)).Shift(-3)
		}
		n, m := menu.NumberOf(a), menu.NumberOf(b)
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
		if got, want := string(n.Append(nil)), string(menu.AppendDecimal(nil, a)); got != want {
			t.Errorf("%s is written %s, want %s", a, got, want)
		}
		whole, ok := n.Int64()
		if short := a.NumDigits()+int(a.Exponent()) <= 18; ok != short || (ok && whole != a.IntPart()) {
			t.Errorf("the whole part of %s is %d, %t; want %d", a, whole, ok, a.IntPart())
		}
	})
}

func TestNumbersAreRead(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(
			rapid.StringMatching(`-?[0-9]{1,20}(\.[0-9]{1,20})?`), rapid.StringMatching(`[ +-]?[0-9]{0,4}[.,]?[0-9]{0,3}([eE][+-]?[0-9]{1,4})? ?`),
		).Draw(t, "text")
		n, state := menu.ParseNumber(text)
		d, want := menu.ParseDecimal(text)
		if state != want || (state == menu.NumberOK && !same(n, d)) {
			t.Errorf("%q is read as %s (%d), want %s (%d)", text, n.Decimal(), state, d, want)
		}
	})
}

func TestWhole(t *testing.T) {
	t.Parallel()
	for _, n := range []int64{0, 1, -1, 9, 10, 63, 64, 1e18 - 1, 1e18, -1e18, 1<<63 - 1, -1 << 63} {
		if got := menu.Whole(n); !same(got, decimal.NewFromInt(n)) {
			t.Errorf("Whole(%d) = %s", n, got.Decimal())
		}
	}
}

func TestSumsOfNumbersCostNothing(t *testing.T) { //nolint:paralleltest // allocations of others would count
	price, _ := menu.ParseNumber("199.90")
	var room [64]byte
	allocations := testing.AllocsPerRun(100, func() {
		total := price.Mul(menu.Whole(3)).Add(price).Round(2)
		if total.Cmp(price) <= 0 || len(total.Append(room[:0])) != len("799.6") {
			t.Error("the sum is wrong")
		}
	})
	if allocations != 0 {
		t.Errorf("a sum made %v allocations", allocations)
	}
}
