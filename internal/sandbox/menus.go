package sandbox

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
)

// errNoMenu means that the restaurant has no menu.
var errNoMenu = errors.New("no menu of this restaurant is known")

// restaurantMenu is the menu of one restaurant.
type restaurantMenu interface {
	// published returns the menu view with the changes to its stop list.
	published() []byte
	// model returns the menu for the validation of orders.
	model() (*menuModel, stopped, error)
	// render returns the response of the menu view.
	render(s Settings) *renderedMenu
}

// menuStore holds the menus: those that were put, then the generated ones.
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

// SetMenu sets the menu view of a restaurant, or of calls without restaurantId for [DefaultMenu].
// raw is the view (docs/ordering-service.md, section 2.4). It is sent unchanged inside {"result":
// …}, even if it is not valid JSON. A raw that has this envelope is sent as it is.
func (s *Sandbox) SetMenu(restaurantID string, raw []byte) {
	s.menus.set(restaurantID, bytes.Clone(raw))
}

func (st *menuStore) set(restaurant string, raw []byte) {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.put[restaurant] = newPutMenu(restaurant, raw)
	st.changes.Add(1)
}

// patch adds items to the stop list or removes them. It returns the ids that
// the menu does not have and changes nothing then.
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
	if now := st.put[restaurant]; now != nil {
		f = now // otherwise a generated menu, which is put with the change
	}
	raw, err := patched(f.published(), restaurant, stops)
	if err != nil {
		return nil, err
	}
	st.changes.Add(1)
	st.put[restaurant] = newPutMenu(restaurant, raw)
	return nil, nil
}

// patched returns a menu with changed stop lists.
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

// stop adds a restaurant to an item's stop list or removes it. The default menu
// has no restaurant, so its items have true or false instead of a list.
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

// putMenu is a menu that was put as bytes. Derived data is computed once.
type putMenu struct {
	stopName string // the restaurant's name in stop lists; empty for the default menu
	raw      []byte

	mu     sync.Mutex
	made   map[[3]string]*renderedMenu // by the settings that affect menus
	read   bool
	parsed *menuModel
	out    stopped
	broken error
}

func newPutMenu(restaurant string, raw []byte) *putMenu {
	m := &putMenu{stopName: restaurant, raw: raw, made: map[[3]string]*renderedMenu{}}
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
	key := [...]string{string(s.Spelling), string(s.Prices), string(s.Nulls)}
	if r := m.made[key]; r != nil {
		return r
	}
	r := newRenderedMenu(restyled(inEnvelope(m.raw), s))
	m.made[key] = r
	return r
}

// inEnvelope returns a menu inside {"result": …}, added if it is missing.
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

// restyled applies the settings to a menu. It returns invalid JSON unchanged.
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
