package menu_test

import (
	"testing"
	"time"

	"larder.local/internal/menu"
)

func TestAppendTimeIsTimeFormat(t *testing.T) {
	t.Parallel()
	zone := time.FixedZone("", -12345)
	for _, at := range []time.Time{
		{},
		time.UnixMilli(0),
		time.UnixMilli(1_764_201_599_009),
		time.UnixMilli(1_764_201_599_090),
		time.UnixMilli(1_764_201_599_999),
		time.Date(2026, 11, 26, 23, 59, 59, 999_999_999, zone),
		time.Date(9999, 12, 31, 23, 59, 59, 1_000_000, time.UTC),
	} {
		if got, want := string(menu.AppendTime([]byte("x"), at)), "x"+at.UTC().Format(menu.TimeFormat); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}
