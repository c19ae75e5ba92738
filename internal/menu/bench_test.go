package menu_test

import (
	"fmt"
	"strconv"
	"testing"

	"larder.local/internal/menu"
	"larder.local/internal/sandbox"
)

// BenchmarkMenu measures the steps of a sync that belong to this package on
// generated menus of 60, 400 and 5,000 dishes (S, M, L of docs/performance.md).
func BenchmarkMenu(b *testing.B) {
	for _, products := range []int{60, 400, 5000} {
		raw := fmt.Appendf(nil, `{"result":%s}`, sandbox.Generate{Restaurants: 1, Products: products, Seed: 1}.Menu(0)) // docs/ordering-service.md, section 4.6
		view, err := menu.Decode(raw)
		if err != nil {
			b.Fatal(err)
		}
		s := menu.DefaultSettings()
		cat := menu.Compile(view, "r", s)
		_, published, err := menu.DecodePublished(raw)
		if err != nil {
			b.Fatal(err)
		}
		var asPublished []byte
		size := strconv.Itoa(products)
		steps := []struct {
			name string
			run  func()
		}{
			{"decode", func() { view, err = menu.Decode(raw) }},
			{"compile", func() { menu.CompileContent(view, s) }},
			{"overlay", func() { cat.Content.WithStops(menu.Stops{}) }},
			{"lint", func() { menu.Lint(view, "r", s) }},
			{"diff", func() { menu.Diff(cat, cat) }},
			{"decode and cut", func() { view, published, err = menu.DecodePublished(raw) }},
			{"restore", func() { asPublished, err = published.AppendView(asPublished[:0]) }},
			{"hash", func() { menu.ContentHash(published.Content, s) }},
			{"storefront", func() { cat.AppendMenu(nil, menu.Head{}) }},
		}
		for _, step := range steps {
			b.Run(step.name+"/"+size, func(b *testing.B) {
				b.ReportAllocs()
				b.SetBytes(int64(len(raw)))
				for b.Loop() {
					step.run()
				}
				if err != nil {
					b.Fatal(err)
				}
			})
		}
	}
}

// BenchmarkSearch searches a menu of 400 dishes. It measures the index of the first search,
// then the most expensive searches: eight words that no dish has, and words that every dish
// has (policy H7).
func BenchmarkSearch(b *testing.B) {
	view, err := menu.Decode(sandbox.Generate{Restaurants: 1, Products: 400, Seed: 1}.Menu(0))
	if err != nil {
		b.Fatal(err)
	}
	cat := menu.Compile(view, "r", menu.DefaultSettings())
	b.Run("first", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			menu.Compile(view, "r", menu.DefaultSettings()).Search(menu.Query{Text: "soup", After: menu.None})
		}
	})
	b.Run("compile", func(b *testing.B) {
		for b.Loop() {
			menu.Compile(view, "r", menu.DefaultSettings())
		}
	})
	for name, text := range map[string]string{
		"one word": "soup", "8 words": "a e i o u n s t",
		"8 words with a wrong letter": "chickem tomatp onionz chesse grillef saucw potatp salaf",
		"8 unknown words":             "aaaaaaaa eeeeeeee iiiiiiii oooooooo uuuuuuuu nnnnnnnn ssssssss tttttttt",
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				cat.Search(menu.Query{Text: text, After: menu.None, Limit: 50})
			}
		})
	}
}
