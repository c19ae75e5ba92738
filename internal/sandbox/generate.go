package sandbox

import (
	"bytes"
	"encoding/json"
	"fmt"
	"sync"
)

// Generate configures generated menus with realistic names, lengths and modifiers. Equal values produce equal menus on
// every machine. The ChainSize restaurants of a chain share one menu and differ only in their stop lists.
//
// 60 products make about 77 KB of JSON, 400 about 540 KB, 5,000 about 5.9 MB.
type Generate struct {
	Restaurants int   // 0: 1; at most 100,000
	Products    int   // dishes of each menu; 0: 60; at most 10,000
	Seed        int64 // of the random values
	ChainSize   int   // 0: 50
	// ImageBase is the prefix of image paths, such as "http://127.0.0.1:9090".
	ImageBase string
}

// Limits of generated restaurants.
const (
	MaxGenerated = 100_000 // restaurants
	MaxProducts  = 10_000  // dishes of each
	stopPercent  = 3       // of the dishes of each restaurant
)

// Purposes of derived seeds.
const (
	forRestaurant uint64 = iota + 1
	forMenu
	forStops
	forProduct
	forProductExt
	forIngredient
	forIngredientExt
	forGroup
	forScheme
	forCategory
)

func (g Generate) withDefaults() Generate {
	fill := func(v *int, to, most int) {
		if *v <= 0 {
			*v = to
		}
		*v = min(*v, most)
	}
	fill(&g.Restaurants, 1, MaxGenerated)
	fill(&g.Products, 60, MaxProducts)
	fill(&g.ChainSize, 50, MaxGenerated)
	return g
}

func (g Generate) seed(parts ...int) uint64 {
	z := derive(uint64(g.Seed))
	for _, p := range parts {
		z = derive(z, uint64(p))
	}
	return z
}

// RestaurantID is the id of the i-th restaurant, from 0.
func (g Generate) RestaurantID(i int) string {
	return guid(derive(g.seed(i), forRestaurant))
}

// Menu returns the menu view of the i-th restaurant. It generates the menu each
// time, which takes about 10 ms for 400 products.
func (g Generate) Menu(i int) []byte { return g.Chain(i / g.withDefaults().ChainSize)(i) }

// Chain generates the menu of the n-th chain once, and returns Menu for its restaurants.
func (g Generate) Chain(n int) func(i int) []byte {
	g = g.withDefaults()
	t := g.template(n)
	return func(i int) []byte { return t.render(g.RestaurantID(i), func(k int) bool { return g.stops(i, k) }) }
}

// stops reports whether the k-th dish is out of stock in the i-th restaurant.
func (g Generate) stops(i, k int) bool {
	return derive(g.seed(i, k), forStops)%100 < stopPercent
}

// template is a chain's menu as text with a gap in each dish's stop list.
type template struct {
	name   string
	pieces [][]byte // one more than ids
	ids    []string // of the dishes, in menu order
	// read returns the model for validation. It is built on the first call, because most chains get no orders.
	read func() (*menuModel, error)
}

// render inserts the stop lists of one restaurant.
func (t *template) render(restaurant string, stops func(k int) bool) []byte {
	var buf bytes.Buffer
	name := encode(restaurant)
	for k, piece := range t.pieces {
		buf.Write(piece)
		if k < len(t.ids) && stops != nil && stops(k) {
			buf.Write(name)
		}
	}
	return buf.Bytes()
}

// guid formats a seed as a GUID.
func guid(seed uint64) string {
	a, b := mix(seed), mix(seed+1)
	return fmt.Sprintf("%08x-%04x-4%03x-a%03x-%012x", a>>32, a>>16&0xffff, a&0xfff, b>>52, b&0xffffffffffff)
}

// These types have the fields of docs/ordering-service.md, section 2.4, in its order.
type (
	genMenu struct {
		Name             string        `json:"name"`
		IsPossibleDelete bool          `json:"isPossibleDelete"`
		HaveChanges      bool          `json:"haveChanges"`
		Categories       []genCategory `json:"categories"`
		Products         []genItem     `json:"products"`
		Schemes          []genScheme   `json:"ingredientsSchemes"`
		Groups           []genGroup    `json:"ingredientsGroups"`
		Ingredients      []genItem     `json:"ingredients"`
	}
	genMeasure struct {
		Value json.Number `json:"value"`
		Unit  string      `json:"unit"`
	}
	genCategory struct {
		ID       string  `json:"id"`
		Name     string  `json:"name"`
		ParentID *string `json:"parentId"`
	}
	genItem struct {
		ID          string      `json:"id"`
		ExternalID  string      `json:"externalId"`
		CategoryID  string      `json:"categoryId,omitempty"` // of a dish
		Name        string      `json:"name"`
		Price       json.Number `json:"price"`
		SchemeID    *string     `json:"schemeId"`
		Description string      `json:"description"`
		ImageURLs   []string    `json:"imageUrls"`
		Measure     *genMeasure `json:"measure"`

		*genDish // nil for an ingredient
	}
	genDish struct {
		Calories      int         `json:"calories"`
		EnergyValue   int         `json:"energyValue"`
		Proteins      json.Number `json:"proteins"`
		Fats          json.Number `json:"fats"`
		Carbohydrates json.Number `json:"carbohydrates"`
		Stop          []string    `json:"isContainInStopList"`
	}
	genLimit struct {
		ID  string `json:"id"`
		Min int    `json:"minCount"`
		Max int    `json:"maxCount"`
	}
	genScheme struct {
		ID     string     `json:"id"`
		Groups []genLimit `json:"ingredientsGroups"`
	}
	genGroup struct {
		ID          string   `json:"id"`
		Name        string   `json:"name"`
		Ingredients []string `json:"ingredients"`
	}
)

// template returns the menu of the n-th chain.
func (g Generate) template(n int) *template {
	const gap = "{{stops}}"
	m := newMenuGenerator(g, n)
	menu := genMenu{
		Name:        pick(m.rng, words().Brands) + " " + pick(m.rng, words().Places),
		Categories:  m.categories,
		Schemes:     m.schemes,
		Groups:      m.groups,
		Ingredients: m.ingredients,
	}
	t := &template{name: menu.Name}
	for k := range g.Products {
		p := m.product(k)
		p.Stop = []string{gap}
		menu.Products = append(menu.Products, p)
		t.ids = append(t.ids, p.ID)
	}
	t.pieces = bytes.Split(encode(menu), encode(gap))
	t.read = sync.OnceValues(func() (*menuModel, error) { return readMenuModel(t.render("", nil), "") })
	return t
}
