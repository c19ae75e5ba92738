package directory_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"larder.local/internal/directory"
	"larder.local/internal/menu"
)

func sample() *directory.Directory {
	return directory.New(
		[]directory.Connection{{Name: "main", DefaultMenu: "@main", KeepsDefaultMenu: true}, {Name: "north", DefaultMenu: "@north"}},
		[]directory.Restaurant{
			{ID: "oven", Name: "Pizza Oven", Connection: "north"},
			{ID: "bistro", Name: "Larder Bistro", Phone: "1", Address: "Here", Connection: "main"},
			{ID: "grill", Connection: "main"},
		},
	)
}

func TestViewersSeeOnlyTheirConnection(t *testing.T) {
	t.Parallel()
	d := sample()
	for who, want := range map[directory.Viewer]struct {
		restaurants, connections, menus []string
		only                            string
	}{
		"":      {restaurants: []string{"oven", "bistro", "grill"}, connections: []string{"main", "north"}, menus: []string{"oven", "bistro", "@main", "@north/reasons", "closed"}},
		"main":  {restaurants: []string{"bistro", "grill"}, connections: []string{"main"}, menus: []string{"bistro", "@main"}, only: "main"},
		"north": {restaurants: []string{"oven"}, connections: []string{"north"}, menus: []string{"oven", "@north/reasons"}, only: "north"},
		"gone":  {},
	} {
		if diff := cmp.Diff(want.connections, d.Connections(who)); len(want.connections)+len(d.Connections(who)) > 0 && diff != "" {
			t.Errorf("Connections of %q:\n%s", who, diff)
		}
		if name, one := d.OnlyConnection(who); name != want.only || one != (want.only != "") {
			t.Errorf("OnlyConnection of %q = %q, %v", who, name, one)
		}
		var visible []string
		following, total := d.Following(who, "")
		for _, id := range following {
			visible = append(visible, string(id))
		}
		if diff := cmp.Diff(slices.Sorted(slices.Values(want.restaurants)), visible); diff != "" || total != len(visible) {
			t.Errorf("Following of %q has %d in all:\n%s", who, total, diff)
		}
		for _, restaurant := range d.Restaurants() {
			found, ok := d.Find(who, restaurant.ID)
			if seen := slices.Contains(want.restaurants, string(restaurant.ID)); ok != seen || ok && found != restaurant {
				t.Errorf("Find(%q, %s) = %+v, %v", who, restaurant.ID, found, ok)
			}
		}
		var menus []string
		for _, id := range []menu.RestaurantID{"oven", "bistro", "@main", "@north/reasons", "closed"} {
			if d.SeesMenu(who, id) {
				menus = append(menus, string(id))
			}
		}
		if diff := cmp.Diff(want.menus, menus); diff != "" {
			t.Errorf("SeesMenu of %q:\n%s", who, diff)
		}
	}
}

func TestMenus(t *testing.T) {
	t.Parallel()
	d := sample()
	if want := []menu.RestaurantID{"oven", "bistro", "grill", "@main"}; !slices.Equal(d.Menus(), want) {
		t.Errorf("Menus = %v, want %v", d.Menus(), want)
	}
	for id, want := range map[menu.RestaurantID]bool{"bistro": true, "@main": true, "@north": false, "@main/reasons": false, "": false} {
		if d.HasMenu(id) != want {
			t.Errorf("HasMenu(%q) = %v", id, !want)
		}
	}
	if _, ok := d.Restaurant("@main"); ok {
		t.Error("a default menu is a restaurant")
	}
	for connection, want := range map[string]menu.RestaurantID{"main": "@main", "north": "@north", "gone": ""} {
		if id, kept := d.DefaultMenu(connection); id != want || kept != (connection == "main") {
			t.Errorf("DefaultMenu(%s) = %q, %v", connection, id, kept)
		}
	}
	for id, want := range map[menu.RestaurantID]string{"oven": "north", "@north": "north", "@main/reasons": "main", "@mainly": "", "gone": ""} {
		if name, ok := d.ConnectionOf(id); name != want || ok != (want != "") {
			t.Errorf("ConnectionOf(%s) = %q, %v", id, name, ok)
		}
	}
}

func TestIndexPagesByName(t *testing.T) {
	t.Parallel()
	index := sample().Index() // "grill" has no name
	for _, c := range []struct {
		who  directory.Viewer
		want directory.Query
		ids  []menu.RestaurantID
		next string
	}{
		{"", directory.Query{Limit: 2}, []menu.RestaurantID{"grill", "bistro"}, "bistro\n0\nLarder Bistro"},
		{"", directory.Query{Limit: 2, After: "bistro\n0\nLarder Bistro"}, []menu.RestaurantID{"oven"}, ""},
		{"", directory.Query{Limit: 2, After: "gone\n0\nLarder Diner"}, []menu.RestaurantID{"oven"}, ""},
		{"", directory.Query{Limit: 3, After: "anything"}, []menu.RestaurantID{"grill", "bistro", "oven"}, ""},
		{"", directory.Query{Limit: 3}, []menu.RestaurantID{"grill", "bistro", "oven"}, ""},
		{"", directory.Query{Limit: 3, Words: "here"}, []menu.RestaurantID{"bistro"}, ""},
		{"", directory.Query{Limit: 3, Words: "PIZZA oven"}, []menu.RestaurantID{"oven"}, ""},
		{"main", directory.Query{Limit: 1}, []menu.RestaurantID{"grill"}, "grill\n0\ngrill"},
		{"main", directory.Query{Limit: 3, Words: "oven"}, nil, ""},
	} {
		restaurants, next := index.Page(c.who, c.want, nil)
		var ids []menu.RestaurantID
		for _, restaurant := range restaurants {
			ids = append(ids, restaurant.ID)
		}
		if !slices.Equal(ids, c.ids) || next != c.next {
			t.Errorf("Page(%q, %+v) = %v, next %q", c.who, c.want, ids, next)
		}
	}
	last := func(at int) bool { return at == len(index.Entries())-1 }
	if chosen, next := index.Page("", directory.Query{Limit: 1}, last); len(chosen) != 1 || chosen[0].ID != "oven" || next != "" {
		t.Errorf("the last entry: %v, next %q", chosen, next)
	}
}

// A sorted index has equal keys by name. A page begins after the key that the last entry of the page before had.
func TestSortedIndex(t *testing.T) {
	t.Parallel()
	keys := map[menu.RestaurantID]int64{"oven": -5, "grill": 7, "bistro": 7}
	sorted := func() *directory.Index {
		return sample().Index().SortedBy(func(id menu.RestaurantID) int64 { return keys[id] })
	}
	var ids []menu.RestaurantID
	for position := ""; ; {
		page, next := sorted().Page("", directory.Query{Limit: 1, After: position}, nil)
		ids, position = append(ids, page[0].ID), next
		if keys["oven"] = 9; next == "" { // the first one moves behind all others
			break
		}
	}
	if want := []menu.RestaurantID{"oven", "grill", "bistro", "oven"}; !slices.Equal(ids, want) {
		t.Errorf("pages %v, want %v", ids, want)
	}
}

// Names are sorted as people count, and a search does not find words inside ids, which contain nearly every short number.
func TestNamesAreSortedAndFoundAsPeopleDo(t *testing.T) {
	t.Parallel()
	list := []directory.Restaurant{{ID: "larder", Name: "école 1"}, {ID: "b2", Name: "Zebra"}}
	for _, n := range []int{15, 2, 155, 1} {
		list = append(list, directory.Restaurant{ID: menu.RestaurantID(fmt.Sprintf("0cdd15%02d-41ab", n%100)), Name: fmt.Sprintf("Restaurant %d", n)})
	}
	index := directory.New(nil, list).Index()
	found := func(words string) (names []string) {
		for position := ""; ; {
			page, next := index.Page("", directory.Query{Limit: 2, Words: words, After: position}, nil)
			for _, one := range page {
				names = append(names, one.Name)
			}
			if position = next; next == "" {
				return names
			}
		}
	}
	for words, want := range map[string][]string{
		"":               {"école 1", "Restaurant 1", "Restaurant 2", "Restaurant 15", "Restaurant 155", "Zebra"},
		"15":             {"Restaurant 15", "Restaurant 155"},
		"0cdd15":         nil,
		"0CDD1515":       {"Restaurant 15"},
		"0cdd1515-41":    {"Restaurant 15"},
		"1515-41ab":      nil,
		"larder":         {"école 1"}, // the whole id
		"lard":           nil,
		"restaurant 155": {"Restaurant 155"},
	} {
		if got := found(words); !slices.Equal(got, want) {
			t.Errorf("%q finds %q, want %q", words, got, want)
		}
	}
}

// A reload replaces everything at once: the result of an earlier read does not
// change, and no read returns a mixture.
func TestReplaceIsAtomic(t *testing.T) {
	t.Parallel()
	const size = 100
	generation := func(n int) []directory.Restaurant {
		list := make([]directory.Restaurant, size)
		for i := range list {
			list[i] = directory.Restaurant{ID: menu.RestaurantID(fmt.Sprintf("r%d", i)), Name: fmt.Sprintf("generation %d", n), Connection: "main"}
		}
		return list
	}
	d := directory.New([]directory.Connection{{Name: "main", DefaultMenu: "@main", KeepsDefaultMenu: true}}, generation(0))
	var readers sync.WaitGroup
	done := make(chan struct{})
	for range 2 {
		readers.Go(func() {
			for {
				for _, list := range [][]directory.Restaurant{d.Restaurants(), page(d)} {
					if len(list) != size {
						t.Errorf("%d restaurants", len(list))
						return
					}
					for _, restaurant := range list {
						if restaurant.Name != list[0].Name {
							t.Errorf("%q in one list with %q", restaurant.Name, list[0].Name)
							return
						}
					}
				}
				select {
				case <-done:
					return
				default:
				}
			}
		})
	}
	given := generation(1)
	for n := range 200 {
		given = generation(n)
		d.Replace(given)
	}
	close(done)
	readers.Wait()
	d.Replace(append(given[:size-1:size-1], directory.Restaurant{ID: "added", Connection: "main", Phone: "+351 22 000 00 00"}))
	if _, known := d.Restaurant("r99"); known || d.HasMenu("r99") {
		t.Error("a removed restaurant is still known")
	}
	if one, known := d.Find("main", "added"); !known || one.Phone != "+351 22 000 00 00" || !d.HasMenu("added") {
		t.Errorf("the added restaurant is %+v, %v", one, known)
	}
	if ids := d.Menus(); len(ids) != size+1 || ids[size] != "@main" {
		t.Errorf("Menus = %v, want the restaurants and the default menu", ids)
	}
	if _, known := d.Restaurant("@main"); known {
		t.Error("a default menu does not count as a restaurant")
	}
	d.Replace(given)
	given[0].Name = "changed by the caller"
	if one, _ := d.Restaurant("r0"); one.Name != "generation 199" {
		t.Errorf("the directory uses the caller's slice: %q", one.Name)
	}
}

func page(d *directory.Directory) []directory.Restaurant {
	all, _ := d.Index().Page("", directory.Query{Limit: 1000}, nil)
	return all
}
