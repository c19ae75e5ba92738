package cache_test

import (
	"strings"
	"testing"
	"time"

	"larder.local/cache"
)

func TestCacheConfig(t *testing.T) {
	t.Parallel()
	var c cache.Config
	c.SetDefaults()
	if c.Memory != 512<<20 || c.Poll != 5*time.Second || c.Validate() != nil {
		t.Errorf("defaults %+v, %v", c, c.Validate())
	}
	err := cache.Config{Memory: 1000, Poll: time.Millisecond}.Validate()
	if err == nil || !strings.Contains(err.Error(), "cache.memory") || !strings.Contains(err.Error(), "cache.poll") {
		t.Errorf("got %v, want both keys", err)
	}
}

func TestByteSize(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]cache.ByteSize{
		"0": 0, "1000": 1000, "1B": 1, "512KiB": 512 << 10, " 512 MiB ": 512 << 20, "2GiB": 2 << 30,
	} {
		var got cache.ByteSize
		if err := got.UnmarshalText([]byte(text)); err != nil || got != want {
			t.Errorf("%q: %d, %v; want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "-1", "1.5MiB", "MiB", "1MB", "9999999999GiB", "10000000000000000000"} {
		var got cache.ByteSize
		if err := got.UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%q was parsed as %d", text, got)
		}
	}
	for size, want := range map[cache.ByteSize]string{0: "0", 1000: "1000", 3 << 10: "3KiB", 512 << 20: "512MiB", 2 << 40: "2048GiB"} {
		if got, err := size.MarshalText(); err != nil || string(got) != want {
			t.Errorf("%d: %s, %v; want %s", size, got, err, want)
		}
	}
}
