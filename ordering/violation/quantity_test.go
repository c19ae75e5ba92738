package violation

import "testing"

// The Russian form depends on the last digit, except for 11 to 14.
func TestQuantityText(t *testing.T) {
	t.Parallel()
	for n, want := range map[int64]string{
		1: "1 позицию", 2: "2 позиции", 3: "3 позиции", 4: "4 позиции", 5: "5 позиций", 10: "10 позиций", 11: "11 позиций", 12: "12 позиций",
		14: "14 позиций", 15: "15 позиций", 20: "20 позиций", 21: "21 позицию", 22: "22 позиции", 24: "24 позиции", 25: "25 позиций",
		101: "101 позицию", 111: "111 позиций", 114: "114 позиций", 122: "122 позиции",
	} {
		if got := quantityText(Russian, n); got != want {
			t.Errorf("quantityText(%d) = %q, want %q", n, got, want)
		}
	}
}
