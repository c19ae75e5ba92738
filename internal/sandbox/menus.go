package sandbox

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
)

// errNoMenu: no menu was put or generated under that name.
var errNoMenu = errors.New("no menu of this restaurant is known")

// restaurantMenu is one restaurant's menu, wherever it comes from.
type restaurantMenu interface {
	// published is the menu view as it stands: as put, with stop lists patched.
	published() []byte
	// model is the same menu for the validation of orders.
	model() (*menuModel, stopped, error)
	// render is the answer of the menu view under those settings.
	render(s Settings) *renderedMenu
}

// menuStore holds every menu: those that were put, and behind them those of a
// generator.
type menuStore struct {
	mu  sync.Mutex
	put map[string]*putMenu
	gen *generated

	changes atomic.Int64 // of menus and stop lists
}

func (st *menuStore) menu(restaurant string) (restaurantMenu, error) {
	st.mu.Lock()
	defer st.mu.Unlock()
	if m := st.put[restaurant]; m != nil {
		return m, nil
	}
	if st.gen != nil {
		if i, ok := st.gen.index[restaurant]; ok {
			return &generatedMenu{st.gen, i}, nil
		}
	}
	return nil, fmt.Errorf("%w: %q", errNoMenu, restaurant)
}

func (st *menuStore) model(restaurant string) (*menuModel, stopped, error) {
	f, err := st.menu(restaurant)
	if err != nil {
		return nil, stopped{}, err
	}
	return f.model()
}

// SetMenu puts a menu view in force for one restaurant, or under
// [DefaultMenu] for calls without restaurantId. raw is the view itself
// (docs/ordering-service.md, section 2.4) and goes out byte for byte inside
// {"result": …}, whether it is JSON or not; a raw that brings that envelope
// along goes out as it is.
func (s *Sandbox) SetMenu(restaurantID string, raw []byte) {
	s.menus.set(restaurantID, bytes.Clone(raw))
}

func (st *menuStore) set(restaurant string, raw []byte) {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.put[restaurant] = newPutMenu(restaurant, raw)
	st.changes.Add(1)
}

// patch stops dishes and ingredients, or sells them again. Ids that the menu
// does not have change nothing and come back.
func (st *menuStore) patch(restaurant string, stops map[string]bool) (unknown []string, err error) {
	f, err := st.menu(restaurant)
	if err != nil {
		return nil, err
	}
	c, _, err := f.model()
	if err != nil {
		return nil, err
	}
	for id := range stops {
		if c.dishes.byID[id] == nil && c.parts.byID[id] == nil {
			unknown = append(unknown, id)
		}
	}
	if len(unknown) > 0 {
		return unknown, nil
	}
	st.mu.Lock()
	defer st.mu.Unlock()
	st.changes.Add(1)
	if m := st.put[restaurant]; m != nil {
		raw, err := patched(m.raw, restaurant, stops)
		if err != nil {
			return nil, err
		}
		st.put[restaurant] = newPutMenu(restaurant, raw)
		return nil, nil
	}
	st.gen.patch(st.gen.index[restaurant], stops)
	return nil, nil
}

// patched rewrites the stop lists of a menu.
func patched(raw []byte, restaurant string, stops map[string]bool) ([]byte, error) {
	t, err := readTree(raw)
	if err != nil {
		return nil, err
	}
	view := t
	if inner := t.get("result"); inner != nil && t.get("products") == nil {
		view = inner
	}
	for _, list := range []string{"products", "ingredients"} {
		items := view.get(list)
		if items == nil {
			continue
		}
		for _, item := range items.items {
			id := item.get("id")
			if id == nil {
				continue
			}
			if stop, named := stops[id.text()]; named {
				item.stop(restaurant, stop)
			}
		}
	}
	return t.append(nil), nil
}

// stop adds a restaurant to an item's stop list or takes it out. The default
// menu belongs to no restaurant: there the list gives way to true.
func (t *tree) stop(restaurant string, on bool) {
	const field = "isContainInStopList"
	if restaurant == DefaultMenu && on {
		t.set(field, scalar("true"))
		return
	}
	kept := &tree{kind: '['}
	if old := t.get(field); old != nil && restaurant != DefaultMenu {
		for _, e := range old.items {
			if e.text() != restaurant {
				kept.items = append(kept.items, e)
			}
		}
	}
	if on {
		kept.items = append(kept.items, scalar(string(encode(restaurant))))
	}
	t.set(field, kept)
}

// putMenu is a menu that came as bytes. The bytes never change; what is made
// of them is made once.
type putMenu struct {
	stopName string // the restaurant as stop lists name it; the default menu has none
	raw      []byte

	mu     sync.Mutex
	made   map[style]*renderedMenu
	read   bool
	parsed *menuModel
	out    stopped
	broken error
}

func newPutMenu(restaurant string, raw []byte) *putMenu {
	m := &putMenu{stopName: restaurant, raw: raw, made: map[style]*renderedMenu{}}
	if restaurant == DefaultMenu {
		m.stopName = ""
	}
	return m
}

func (m *putMenu) published() []byte { return m.raw }

func (m *putMenu) model() (*menuModel, stopped, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.read {
		m.parsed, m.out, m.broken = readMenuModel(m.raw, m.stopName)
		m.read = true
	}
	return m.parsed, m.out, m.broken
}

func (m *putMenu) render(s Settings) *renderedMenu {
	m.mu.Lock()
	defer m.mu.Unlock()
	key := style{s.Spelling, s.Prices, s.Nulls}
	if r := m.made[key]; r != nil {
		return r
	}
	r := newRenderedMenu(restyled(inEnvelope(m.raw), s))
	m.made[key] = r
	return r
}

// inEnvelope returns a menu inside {"result": …}, which it may bring along.
func inEnvelope(raw []byte) []byte {
	var top struct {
		Result   json.RawMessage `json:"result"`
		Products json.RawMessage `json:"products"`
	}
	err := json.Unmarshal(bytes.TrimPrefix(raw, []byte("\xef\xbb\xbf")), &top)
	if err == nil && top.Result != nil && top.Products == nil {
		return raw
	}
	return envelope(raw)
}

// restyled rewrites a menu as the settings ask; what is no JSON, or needs no
// rewriting, stays as it is.
func restyled(body []byte, s Settings) []byte {
	if s.Spelling == SpellingID && s.Prices == PricesNumber && s.Nulls == NullsNull {
		return body
	}
	t, err := readTree(body)
	if err != nil {
		return body
	}
	t.restyle(s)
	return t.append(nil)
}
