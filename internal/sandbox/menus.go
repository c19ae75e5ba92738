package sandbox

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
)

// errNoMenu means that the restaurant has no menu.
var errNoMenu = errors.New("no menu of this restaurant is known")

// restaurantMenu is the menu of one restaurant.
type restaurantMenu interface {
	// published returns the menu view in {"result": …}, with the changes to its stop list.
	published() []byte
	// model returns the menu for the validation of orders.
	model() (*menuModel, error)
	// name returns the menu's name, or "".
	name() string
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

func (st *menuStore) model(restaurant string) (*menuModel, error) {
	f, err := st.menu(restaurant)
	if err != nil {
		return nil, err
	}
	return f.model()
}

// SetMenu sets the menu view of a restaurant, or of calls without restaurantId for [DefaultMenu].
// raw is the view (docs/ordering-service.md, section 2.4). It is sent unchanged inside {"result":
// …}, even if it is not valid JSON. A raw that has this envelope is sent as it is.
func (s *Sandbox) SetMenu(restaurantID string, raw []byte) {
	s.menus.set(restaurantID, bytes.Clone(raw), "")
}

// set puts a menu. name is its name if it cannot be read.
func (st *menuStore) set(restaurant string, raw []byte, name string) {
	st.mu.Lock()
	defer st.mu.Unlock()
	m := newPutMenu(restaurant, raw)
	m.lastName = name
	st.put[restaurant] = m
	st.changes.Add(1)
}

// patch adds items to the stop list or removes them. It returns the ids that
// the menu does not have and changes nothing then.
func (st *menuStore) patch(restaurant string, stops map[string]bool) (unknown []string, err error) {
	f, err := st.menu(restaurant)
	if err != nil {
		return nil, err
	}
	c, err := f.model()
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
	menu, err := readMenu(raw)
	if err != nil {
		return nil, err
	}
	view := viewIn(menu)
	for _, item := range append(objects(view, "products"), objects(view, "ingredients")...) {
		if stop, named := stops[textOf(item, "id")]; named {
			setStop(item, restaurant, stop)
		}
	}
	return encode(menu), nil
}

// setStop adds a restaurant to an item's stop list or removes it. The default menu
// has no restaurant, so its items have true or false instead of a list.
func setStop(item map[string]any, restaurant string, on bool) {
	field := spelling(item, "isContainInStopList")
	if restaurant == DefaultMenu && on {
		item[field] = true
		return
	}
	kept := []any{}
	if list, ok := item[field].([]any); ok && restaurant != DefaultMenu {
		kept = slices.DeleteFunc(list, func(e any) bool { return identifier(e, true) == restaurant })
	}
	if on {
		kept = append(kept, restaurant)
	}
	item[field] = kept
}

// putMenu is a menu that was put as bytes. Its model is read on first use.
type putMenu struct {
	body     []byte
	read     func() (*menuModel, error)
	lastName string // of the menu before a broken one
}

func newPutMenu(restaurant string, raw []byte) *putMenu {
	if restaurant == DefaultMenu {
		restaurant = "" // no stop list contains it
	}
	return &putMenu{
		body: inEnvelope(raw),
		read: sync.OnceValues(func() (*menuModel, error) { return readMenuModel(raw, restaurant) }),
	}
}

func (m *putMenu) published() []byte { return m.body }

func (m *putMenu) model() (*menuModel, error) { return m.read() }

func (m *putMenu) name() string {
	if model, err := m.read(); err == nil {
		return model.name
	}
	return m.lastName
}

// inEnvelope returns a menu inside {"result": …}, added if it is missing.
func inEnvelope(raw []byte) []byte {
	var top struct {
		Result   json.RawMessage `json:"result"`
		Products json.RawMessage `json:"products"`
	}
	err := json.Unmarshal(bytes.TrimPrefix(raw, []byte(byteOrderMark)), &top)
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
	menu, err := readMenu(body)
	if err != nil {
		return body
	}
	return encode(restyle(menu, s))
}

// readMenu parses a menu that is rewritten.
func readMenu(raw []byte) (any, error) {
	return readJSON(bytes.TrimPrefix(raw, []byte(byteOrderMark)))
}

// restyle returns a part of a menu in the form of the settings.
func restyle(part any, s Settings) any {
	switch part := part.(type) {
	case []any:
		for i := range part {
			part[i] = restyle(part[i], s)
		}
	case map[string]any:
		restyled := make(map[string]any, len(part))
		for name, item := range part {
			if n, numeric := item.(json.Number); numeric && s.Prices == PricesString && fold(name) == "price" {
				item = n.String()
			}
			if list, ok := item.([]any); s.Nulls == NullsOmit && (item == nil || item == "" || ok && len(list) == 0) {
				continue
			}
			if s.Nulls == NullsEmpty && item == nil {
				item = emptyFor(name)
			}
			restyled[s.spell(name)] = restyle(item, s)
		}
		return restyled
	}
	return part
}

// emptyFor returns the empty value of a list or text field. Numbers and measures have no empty value and stay null.
func emptyFor(name string) any {
	switch fold(name) {
	case "categories", "products", "ingredients", "ingredientsgroups", "ingredientsschemes", "imageurls", "iscontaininstoplist":
		return []any{}
	case "id", "externalid", "categoryid", "parentid", "schemeid", "name", "description":
		return ""
	default:
		return nil
	}
}
