package viewtest

import (
	"slices"
	"strings"
	"unicode/utf8"

	"pgregory.net/rapid"

	"larder.local/internal/jsontext"
)

// Views draws unusual menu views: unknown fields, values of other types, other
// spellings, nulls, duplicates, wide texts, numbers beyond all limits, deep
// nesting, values other than lists.
func Views() *rapid.Generator[Node] {
	return rapid.Custom(func(t *rapid.T) Node {
		g := generator{t}
		view := g.object([]string{"name", "haveChanges", "isPossibleDelete", "allergens", "result"}, 3, 2)
		for _, list := range []string{"products", "ingredients", "categories", "ingredientsSchemes", "ingredientsGroups"} {
			for range g.int(map[bool]int{true: 1, false: 0}[list == "products"], 2) {
				view.Members = append(view.Members, Member{g.spelled(list), g.list(list)})
			}
		}
		return view
	})
}

// Mutated draws views that differ from the given one in a few places.
func Mutated(view Node) *rapid.Generator[Node] {
	return rapid.Custom(func(t *rapid.T) Node {
		g, mutated := generator{t}, view.Clone()
		for range g.int(1, 6) {
			g.mutate(&mutated)
		}
		return mutated
	})
}

// Restopped draws the view with other stop fields of its dishes and ingredients
// (policy W7), and no other changes.
func Restopped(view Node) *rapid.Generator[Node] {
	return rapid.Custom(func(t *rapid.T) Node {
		g, other := generator{t}, view.Clone()
		rapid.Bool().Draw(t, "of a view that may have none") // rapid requires a draw
		for i := range other.Members {
			m := &other.Members[i]
			if folded := jsontext.FoldName(m.Name); m.Value.Kind != List || (folded != "products" && folded != "ingredients") {
				continue
			}
			for k := range m.Value.Items {
				g.mergeStops(&m.Value.Items[k])
			}
		}
		return other
	})
}

type generator struct{ t *rapid.T }

func (g generator) int(least, most int) int { return rapid.IntRange(least, most).Draw(g.t, "n") }

func (g generator) of(all []string) string { return rapid.SampledFrom(all).Draw(g.t, "of") }

func (g generator) spelled(name string) string {
	if name == "" || name[0] >= utf8.RuneSelf {
		return name
	}
	switch g.int(0, 7) {
	case 0:
		return strings.ToUpper(name)
	case 1:
		return strings.ToUpper(name[:1]) + name[1:]
	case 2:
		return name[:1] + "_" + name[1:]
	default:
		return name
	}
}

// fieldsOf returns the interface's fields of a list's elements, and an unknown one.
func fieldsOf(list string) []string {
	fields := map[string][]string{
		"products": {
			"id", "externalId", "categoryId", "name", "price", "schemeId", "description", "imageUrls", "measure",
			"calories", "isContainInStopList", "isListStoped", "disabled",
		},
		"ingredients":        {"id", "externalId", "name", "price", "schemeId", "measure", "isContainInStopList", "disabled"},
		"categories":         {"id", "name", "parentId", "disabled"},
		"ingredientsSchemes": {"id", "ingredientsGroups"},
		"ingredientsGroups":  {"id", "name", "ingredients", "minCount", "maxCount"},
	}
	return append(fields[list], "spicy")
}

// list draws the value of one of the view's lists: mostly an array of objects.
func (g generator) list(name string) Node {
	if g.int(0, 9) == 0 {
		return g.value(2)
	}
	list := Node{Kind: List}
	for range g.int(0, 6) {
		if g.int(0, 9) == 0 {
			list.Items = append(list.Items, g.value(2))
			continue
		}
		element := g.object(fieldsOf(name), 8, 2)
		list.Items = append(list.Items, element)
		for g.int(0, 3) == 0 { // as in most menus: the next one is similar
			list.Items = append(list.Items, element.Clone())
		}
	}
	return list
}

func (g generator) object(names []string, most, depth int) Node {
	object := Node{Kind: Object}
	for range g.int(0, most) {
		name := g.of(names)
		object.Members = append(object.Members, Member{g.spelled(name), g.field(name, depth)})
	}
	return object
}

// field draws a valid value of a field, or any value.
func (g generator) field(name string, depth int) Node {
	if g.int(0, 3) == 0 {
		return g.value(depth)
	}
	switch name {
	case "ingredientsGroups":
		return g.list("ingredientsGroups")
	case "ingredients", "imageUrls", "isContainInStopList":
		list := Node{Kind: List}
		for range g.int(0, 3) {
			list.Items = append(list.Items, Node{Kind: Text, Text: g.of([]string{"a", "b", "c", "r1", "r2"})})
		}
		return list
	case "price", "calories", "minCount", "maxCount":
		return Node{Text: g.of([]string{"1", "1.0", "199.90", "0", "2"})}
	case "disabled", "isListStoped", "haveChanges", "isPossibleDelete":
		return Node{Text: g.of([]string{"true", "false"})}
	case "measure":
		return g.object([]string{"value", "unit", "gross"}, 3, 0)
	default:
		return Node{Kind: Text, Text: g.of([]string{"a", "b", "c", "r1", "r2", ""})}
	}
}

// value draws any JSON value.
func (g generator) value(depth int) Node {
	kinds := 5
	if depth <= 0 {
		kinds = 2
	}
	switch g.int(0, kinds) {
	case 0:
		return Node{Text: g.of([]string{
			"null", "true", "false", "0", "-0", "1.50", "1E+2", "1e-7", "-12345678901234567890.00100", "1e999999999", "9007199254740993",
		})}
	case 1, 2:
		return Node{Kind: Text, Text: rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{
			"", "0,5", "true", "12.50", "суп", "שלום", "👩‍🍳 \"x\" \\ / \b\f\n\r\t\x00\u2028", "ſ",
		})).Draw(g.t, "text")}
	case 3:
		list := Node{Kind: List}
		for range g.int(0, 3) {
			list.Items = append(list.Items, g.value(depth-1))
		}
		return list
	case 4:
		return g.object(append(fieldsOf("products"), "", "суп", "a.b"), 4, depth-1)
	default:
		deep := g.value(0)
		for range g.int(1, 40) {
			deep = Node{Kind: List, Items: []Node{deep}}
		}
		return deep
	}
}

// mergeStops draws other stop fields of an element.
func (g generator) mergeStops(element *Node) {
	if element.Kind != Object {
		return
	}
	element.Members = slices.DeleteFunc(element.Members, func(m Member) bool {
		folded := jsontext.FoldName(m.Name)
		return folded == "iscontaininstoplist" || folded == "isliststoped" || folded == "disabled"
	})
	stops := g.object([]string{"isContainInStopList", "isListStoped", "disabled"}, 2, 1)
	element.Members = append(element.Members, stops.Members...)
}

// mutate changes one place of the value.
func (g generator) mutate(n *Node) {
	for top := true; ; top = false {
		children := len(n.Items) + len(n.Members)
		if children == 0 || (!top && g.int(0, 3) == 0) {
			break
		}
		at := g.int(0, children-1)
		if n.Kind == Object {
			m := &n.Members[at]
			switch g.int(0, 7) {
			case 0:
				m.Name = g.spelled(m.Name)
				return
			case 1:
				n.Members = append(n.Members, Member{m.Name, g.value(2)})
				return
			case 2:
				n.Members = slices.Delete(n.Members, at, at+1)
				return
			}
			n = &m.Value
			continue
		}
		if g.int(0, 7) == 0 {
			n.Items = append(n.Items, n.Items[at].Clone())
			return
		}
		n = &n.Items[at]
	}
	*n = g.value(3)
}
