package validate_test

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"larder.local/internal/menu"
	"larder.local/internal/testkit/menutest"
	"larder.local/ordering/validate"
)

// ordersAMenu is the number of orders per menu.
const ordersAMenu = 40

// mostLines limits the oracle to some thousand assignments.
const mostLines = 6

// TestGroupsAgreeWithTheOracle compares the group violations of thousands of random orders
// with an oracle that tries every assignment. The menus have shared ingredients, nested
// schemes and pins; the orders are flat and nested.
func TestGroupsAgreeWithTheOracle(t *testing.T) {
	t.Parallel()
	validator := validate.New(validate.DefaultConfig(), menutest.Noon)
	right, wrong := 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		m := drawOracleMenu(rt)
		view := m.view(rt)
		catalogue := menutest.Compile(t, view, menu.DefaultSettings())
		if !catalogue.Orderable(0) {
			return // every order is invalid for another reason
		}
		for range ordersAMenu {
			lines := m.drawLines(rt, "s0", 0)
			if len(flatten(lines, 1)) > mostLines {
				continue
			}
			body := menutest.Order(`[{"ID":"d","quantity":1,"ingredients":` + linesJSON(rt, lines) + `}]`)
			result, err := validator.Order(validate.Request{
				Restaurant: menutest.Restaurant, Catalogue: catalogue, Input: validate.Input{V1: true, Body: []byte(body)},
			})
			if err != nil {
				rt.Fatal(err)
			}
			got, want := violationsOf(result), m.checkDish(lines)
			slices.Sort(got)
			slices.Sort(want)
			if diff := cmp.Diff(want, got); diff != "" {
				rt.Fatalf("%s\non the menu %s\n(-oracle +larder):\n%s", body, view, diff)
			}
			if result.Valid {
				right++
			} else {
				wrong++
			}
		}
	})
	if right == 0 || wrong == 0 {
		t.Errorf("%d valid orders, %d invalid: nothing was tested", right, wrong)
	}
	t.Logf("%d valid orders, %d invalid", right, wrong)
}

// drawOracleMenu draws a menu with ingredients a to f. a may have the scheme s1, and b the
// scheme s2. s1 may contain b, and s2 contains neither, so that there are no cycles.
func drawOracleMenu(t *rapid.T) *oracleMenu {
	m := &oracleMenu{schemes: map[string][]menutest.DraftLimit{}, groups: map[string][]string{}, parts: map[string]string{}}
	offered := map[string]string{"s0": "abcdef", "s1": "bcdef", "s2": "cdef"}
	for _, scheme := range []string{"s0", "s1", "s2"} {
		for _, place := range []string{"x", "y", "z"}[:rapid.IntRange(1, 3).Draw(t, "groups")] {
			id := scheme + place
			for _, member := range offered[scheme] {
				if rapid.IntRange(0, 2).Draw(t, "member") == 0 {
					m.groups[id] = append(m.groups[id], string(member))
				}
			}
			limit := menutest.DraftLimit{ID: id, Min: rapid.IntRange(0, 1).Draw(t, "min")}
			if rapid.Bool().Draw(t, "limited") {
				limit.Max = max(limit.Min+rapid.IntRange(0, 1).Draw(t, "room"), 1)
			}
			m.schemes[scheme] = append(m.schemes[scheme], limit)
		}
	}
	if rapid.Bool().Draw(t, "the same group in two schemes") {
		m.schemes["s1"] = append(m.schemes["s1"], menutest.DraftLimit{ID: "s2x", Min: rapid.IntRange(0, 1).Draw(t, "min"), Max: 2})
	}
	if rapid.IntRange(0, 3).Draw(t, "a has a scheme") > 0 {
		m.parts["a"] = "s1"
	}
	if rapid.IntRange(0, 3).Draw(t, "b has a scheme") > 0 {
		m.parts["b"] = "s2"
	}
	return m
}

// view returns the menu as JSON.
func (m *oracleMenu) view(t *rapid.T) string {
	d := menutest.Draft{Products: []menutest.DraftItem{{ID: "d", ExternalID: "1", Name: "D", Price: "1", SchemeID: "s0"}}}
	for _, id := range []string{"a", "b", "c", "d", "e", "f"} {
		d.Ingredients = append(d.Ingredients, menutest.DraftItem{
			ID:         id,
			ExternalID: "x" + id,
			Name:       id,
			Price:      "0",
			SchemeID:   m.parts[id],
		})
	}
	for _, id := range []string{"s0", "s1", "s2"} {
		d.Schemes = append(d.Schemes, menutest.DraftScheme{ID: id, Groups: m.schemes[id]})
		for _, limit := range m.schemes[id] {
			d.Groups = append(d.Groups, menutest.DraftGroup{ID: limit.ID, Name: limit.ID, Ingredients: m.groups[limit.ID]})
		}
	}
	view, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	return string(view)
}

// drawLines draws a list of ingredients, mostly of the scheme. The ingredients of an
// ingredient are nested in it, flat beside it, or missing.
func (m *oracleMenu) drawLines(t *rapid.T, scheme string, depth int) (lines []oracleLine) {
	var beside []oracleLine
	add := func(id string) {
		l := oracleLine{id: id, units: rapid.IntRange(1, 2-depth/2).Draw(t, "units")}
		if rapid.IntRange(0, 4).Draw(t, "pinned") == 0 {
			l.pin = rapid.SampledFrom([]string{"s0x", "s0y", "s1x", "s2x"}).Draw(t, "pin")
		}
		if own := m.parts[id]; own != "" && depth < 2 {
			switch rapid.SampledFrom([]string{"within", "beside", "missing"}).Draw(t, "its own") {
			case "within":
				l.in = m.drawLines(t, own, depth+1)
			case "beside":
				beside = append(beside, m.drawLines(t, own, depth+1)...)
			}
		}
		lines = append(lines, l)
	}
	for _, limit := range m.schemes[scheme] {
		if members := m.groups[limit.ID]; len(members) > 0 && len(lines) < 3 {
			for range rapid.IntRange(limit.Min, 1).Draw(t, "of "+limit.ID) {
				add(rapid.SampledFrom(members).Draw(t, "member"))
			}
		}
	}
	if rapid.IntRange(0, 9).Draw(t, "stray") == 0 {
		strays := []string{"c", "d", "e", "f"} // avoids cycles
		if depth == 0 {
			strays = append(strays, "a", "b")
		}
		add(rapid.SampledFrom(strays).Draw(t, "which"))
	}
	return append(lines, beside...)
}

// linesJSON returns a list of ingredients as a client sends it.
func linesJSON(t *rapid.T, lines []oracleLine) string {
	var bodies func(lines []oracleLine) []map[string]any
	bodies = func(lines []oracleLine) []map[string]any {
		list := []map[string]any{}
		for _, l := range lines {
			entry := map[string]any{"ID": l.id}
			if l.units != 1 {
				entry["quantity"] = l.units
			}
			if l.pin != "" {
				entry["groupId"] = l.pin
			}
			if len(l.in) > 0 {
				entry["ingredients"] = bodies(l.in)
			}
			list = append(list, entry)
		}
		return list
	}
	text, err := json.Marshal(bodies(lines))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
