package sandbox

import (
	"cmp"
	"context"

	"github.com/maypok86/otter/v2"
)

// keptBytes limits the memory of the cached menus of chains: 2,000 chains with menus of 400 dishes fit.
const keptBytes = 5 << 30

// generated serves generated restaurants. The menu of a chain is generated on first use and cached. The stop list
// of a restaurant is inserted each time. A restaurant whose stop list is changed gets a menu of its own.
type generated struct {
	g      Generate
	index  map[string]int
	chains *otter.Cache[int, *template]
}

// SetGenerated replaces the generated restaurants. Menus that were put under the same ids take
// precedence. It does not change the default menu. Menus are generated on first use.
func (s *Sandbox) SetGenerated(g Generate) {
	g = g.withDefaults()
	g.ImageBase = cmp.Or(g.ImageBase, s.baseURL)
	gen := &generated{g: g, index: make(map[string]int, g.Restaurants), chains: newChains(keptBytes)}
	for i := range g.Restaurants {
		gen.index[g.RestaurantID(i)] = i
	}
	s.menus.mu.Lock()
	defer s.menus.mu.Unlock()
	s.menus.gen = gen
}

// newChains returns an empty cache of chains.
func newChains(bytes uint64) *otter.Cache[int, *template] {
	return otter.Must(&otter.Options[int, *template]{
		MaximumWeight: bytes,
		Weigher: func(_ int, t *template) (bytes uint32) {
			for _, piece := range t.pieces {
				bytes += 4 * uint32(len(piece))
			}
			return bytes
		},
		// Without a goroutine.
		Executor: func(work func()) { work() },
	})
}

// chain returns the menu of a chain. Concurrent callers share its generation.
func (gen *generated) chain(n int) *template {
	load := otter.LoaderFunc[int, *template](func(context.Context, int) (*template, error) { return gen.g.template(n), nil })
	t, _ := gen.chains.Get(context.Background(), n, load) // the loader has no errors
	return t
}

// generatedMenu is a generated restaurant.
type generatedMenu struct {
	gen *generated
	i   int
}

func (m *generatedMenu) chain() *template { return m.gen.chain(m.i / m.gen.g.ChainSize) }

// stops reports whether the chain's k-th dish is out of stock here.
func (m *generatedMenu) stops(k int) bool { return m.gen.g.stops(m.i, k) }

func (m *generatedMenu) published() []byte {
	return envelope(m.chain().render(m.gen.g.RestaurantID(m.i), m.stops))
}

func (m *generatedMenu) name() string { return m.chain().name }

func (m *generatedMenu) model() (*menuModel, error) {
	t := m.chain()
	shared, err := t.read()
	if err != nil {
		return nil, err
	}
	model := *shared
	model.out.dishes = map[string]bool{}
	for k, id := range t.ids {
		if m.stops(k) {
			model.out.dishes[id] = true
		}
	}
	return &model, nil
}
