package sandbox

import (
	"maps"
	"slices"
	"sync"
)

// keptBytes bounds the menus of chains that are kept ready; at least the one
// in use is.
const keptBytes = 512 << 20

// generated serves a generator's restaurants: a chain's menu is made on its
// first use, kept while there is room, and laid out for a restaurant each
// time with that restaurant's stop list.
type generated struct {
	g     Generate
	index map[string]int
	keep  int // bytes

	mu      sync.Mutex
	chains  map[int]*chain
	recent  []int // chains in use, least recent first
	bytes   int
	patches map[int]map[string]bool
}

// chain is the menu that the restaurants of a chain share. It is read for the
// judgement only when an order or a patch asks: most chains of many never are.
type chain struct {
	once     sync.Once
	template *template
	size     int // of the template, and of what is read of it

	reading sync.Once
	model   *menuModel
	broken  error
}

// SetGenerated puts the generator's restaurants in force in place of those of
// an earlier one; menus that were put under the same ids stay before them. It
// makes no menu yet. The default menu is not touched.
func (s *Sandbox) SetGenerated(g Generate) {
	g = g.withDefaults()
	if g.ImageBase == "" {
		g.ImageBase = s.baseURL
	}
	gen := &generated{
		g: g, index: make(map[string]int, g.Restaurants), keep: keptBytes,
		chains: map[int]*chain{}, patches: map[int]map[string]bool{},
	}
	for i := range g.Restaurants {
		gen.index[g.RestaurantID(i)] = i
	}
	s.menus.mu.Lock()
	defer s.menus.mu.Unlock()
	s.menus.gen = gen
}

// chain is the menu of a chain, made by the first who asks.
func (gen *generated) chain(n int) *chain {
	gen.mu.Lock()
	ch := gen.chains[n]
	if ch == nil {
		ch = &chain{}
		gen.chains[n] = ch
	}
	gen.mu.Unlock()
	ch.once.Do(func() {
		ch.template = gen.g.template(n)
		for _, piece := range ch.template.pieces {
			ch.size += 4 * len(piece) // the maps of a carte weigh about three times the text
		}
	})
	gen.use(n, ch)
	return ch
}

// read returns the chain's menu as orders are judged by it.
func (ch *chain) read() (*menuModel, error) {
	ch.reading.Do(func() { ch.model, _, ch.broken = readMenuModel(ch.template.render("", nil), "") })
	return ch.model, ch.broken
}

// use marks a chain as the most recent and lets the oldest go.
func (gen *generated) use(n int, ch *chain) {
	gen.mu.Lock()
	defer gen.mu.Unlock()
	if gen.chains[n] != ch {
		return // let go meanwhile; the caller still has it
	}
	if i := slices.Index(gen.recent, n); i >= 0 {
		gen.recent = slices.Delete(gen.recent, i, i+1)
	} else {
		gen.bytes += ch.size
	}
	gen.recent = append(gen.recent, n)
	for gen.bytes > gen.keep && len(gen.recent) > 1 {
		oldest := gen.recent[0]
		gen.recent = gen.recent[1:]
		gen.bytes -= gen.chains[oldest].size
		delete(gen.chains, oldest)
	}
}

func (gen *generated) patch(i int, stops map[string]bool) {
	gen.mu.Lock()
	defer gen.mu.Unlock()
	merged := map[string]bool{} // a new map: readers keep the one they have
	maps.Copy(merged, gen.patches[i])
	maps.Copy(merged, stops)
	gen.patches[i] = merged
}

// generatedMenu is one restaurant of a generator.
type generatedMenu struct {
	gen *generated
	i   int
}

func (m *generatedMenu) patches() map[string]bool {
	m.gen.mu.Lock()
	defer m.gen.mu.Unlock()
	return m.gen.patches[m.i]
}

func (m *generatedMenu) published() []byte {
	g, ch, patches := m.gen.g, m.gen.chain(m.i/m.gen.g.ChainSize), m.patches()
	restaurant := g.RestaurantID(m.i)
	raw := ch.template.render(restaurant, func(k int) bool {
		if on, named := patches[ch.template.ids[k]]; named {
			return on
		}
		return g.stops(m.i, k)
	})
	if len(patches) == 0 {
		return raw
	}
	model, _ := ch.read()
	for id := range patches {
		if model != nil && model.parts.byID[id] != nil {
			if rewritten, err := patched(raw, restaurant, patches); err == nil {
				return rewritten
			}
		}
	}
	return raw
}

func (m *generatedMenu) model() (*menuModel, stopped, error) {
	g, ch, patches := m.gen.g, m.gen.chain(m.i/m.gen.g.ChainSize), m.patches()
	model, err := ch.read()
	if err != nil {
		return nil, stopped{}, err
	}
	out := stopped{dishes: map[string]bool{}, parts: map[string]bool{}}
	for k, id := range ch.template.ids {
		on, named := patches[id]
		if !named {
			on = g.stops(m.i, k)
		}
		if on {
			out.dishes[id] = true
		}
	}
	for id, on := range patches {
		if on && model.parts.byID[id] != nil {
			out.parts[id] = true
		}
	}
	return model, out, nil
}

func (m *generatedMenu) render(s Settings) *renderedMenu {
	return newRenderedMenu(restyled(envelope(m.published()), s))
}
