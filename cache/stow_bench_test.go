package cache

import (
	"strconv"
	"testing"

	"larder/internal/menu"
	"larder/internal/sandbox"
)

// BenchmarkStow is packing a content: the first time, and after one dish has
// changed.
func BenchmarkStow(b *testing.B) {
	for _, dishes := range []int{60, 400, 5000} {
		_, published, err := menu.DecodePublished(sandbox.Generate{Products: dishes, Seed: 1}.Menu(0))
		if err != nil {
			b.Fatal(err)
		}
		p := newPacker()
		whole := p.stow(published.Content, stowed{})
		changed := append([]byte(nil), published.Content...)
		changed[len(changed)*3/4] ^= 1
		for name, c := range map[string]struct {
			content []byte
			before  stowed
		}{"new": {published.Content, stowed{}}, "changed": {changed, whole}} {
			b.Run(strconv.Itoa(dishes)+"/"+name, func(b *testing.B) {
				b.ReportAllocs()
				b.SetBytes(int64(len(c.content)))
				var s stowed
				for b.Loop() {
					s = p.stow(c.content, c.before)
				}
				b.ReportMetric(float64(len(s.frames)), "packed-B")
				b.ReportMetric(float64(len(s.parts)/partEntry), "parts")
			})
		}
	}
}
