package sandbox

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// kinds is the number of kinds of plain ingredients. A plain group has one kind, and the plain
// groups of a scheme have different kinds, so that groups share ingredients only on purpose.
const kinds = 8

// menuGenerator builds one chain's menu: ingredients, groups, schemes, dishes.
type menuGenerator struct {
	g      Generate
	seed   uint64
	rng    *rng
	combos int // schemes 0 … combos-1 belong to combo dishes

	categories  []genCategory
	ingredients []genItem
	groups      []genGroup
	schemes     []genScheme

	parts      int           // ingredients 0 … parts-1 are parts of combos
	comboGroup int           // groups 0 … comboGroup-1 hold them
	plain      int           // groups comboGroup … plain-1 hold one kind each
	last       map[int][]int // group → its limits in the previous scheme
	cursor     int           // the next plain group
}

func newMenuGenerator(g Generate, n int) *menuGenerator {
	seed := derive(g.seed(n), forMenu)
	m := &menuGenerator{
		g:    g,
		seed: seed,
		rng:  &rng{state: seed},
		last: map[int][]int{},
	}
	p := g.Products
	ingredients := max(p*3/2, 40)
	if p > 400 { // large menus share more
		ingredients = 600 + (p-400)*21/20
	}
	schemes, groups := max(p/5, 4), max(p*3/8, 12)
	overlaps := (schemes + 9) / 10
	m.parts = max(ingredients/20, 4)
	m.comboGroup = max(groups/15, 1)
	m.plain = groups - overlaps
	m.combos = max(schemes/10, 1)
	m.makeCategories(min(max(p/8, 4), 80))
	m.makeIngredients(ingredients, schemes)
	m.makeGroups()
	m.makeSchemes(schemes)
	return m
}

func (m *menuGenerator) id(what uint64, i int) string {
	return guid(derive(m.seed, what, uint64(i)))
}

// makeCategories makes a third of the categories roots; the others are below them.
func (m *menuGenerator) makeCategories(n int) {
	names := words().Categories
	roots := n/3 + 1
	for i := range n {
		c := genCategory{ID: m.id(forCategory, i), Name: names[i%len(names)]}
		if i >= len(names) {
			c.Name += " " + strconv.Itoa(i/len(names)+1)
		}
		if i >= roots {
			c.ParentID = new(m.categories[i%roots].ID)
		}
		m.categories = append(m.categories, c)
	}
}

func (m *menuGenerator) makeIngredients(n, schemes int) {
	for i := range n {
		in := genItem{
			ID:         m.id(forIngredient, i),
			ExternalID: m.id(forIngredientExt, i),
			Price:      money(m.rng.n(13) * 1000),
			ImageURLs:  []string{},
		}
		if i < m.parts {
			in.SchemeID = new(m.id(forScheme, m.combos+i%(schemes-m.combos))) // nested one level
			in.Name = dishName(m.rng, i*7+3)
			in.Price = money(m.rng.n(6) * 2500)
			in.Description = pick(m.rng, words().Sentences)
		} else {
			in.Name = partName(m.rng, i%kinds, i/kinds)
			if m.rng.n(3) == 0 {
				in.Measure = &genMeasure{Value: grams(m.rng.between(2, 20) * 5), Unit: "kg"}
			}
		}
		m.ingredients = append(m.ingredients, in)
	}
}

// pool returns the indexes of the plain ingredients of a kind.
func (m *menuGenerator) pool(kind int) []int {
	var pool []int
	for i := m.parts; i < len(m.ingredients); i++ {
		if i%kinds == kind {
			pool = append(pool, i)
		}
	}
	return pool
}

// draw returns the ids of n different members of a pool.
func (m *menuGenerator) draw(pool []int, n int) []string {
	pool = slices.Clone(pool)
	n = min(n, len(pool))
	ids := make([]string, 0, n)
	for i := range n {
		k := m.rng.between(i, len(pool)-1)
		pool[i], pool[k] = pool[k], pool[i]
		ids = append(ids, m.ingredients[pool[i]].ID)
	}
	return ids
}

func (m *menuGenerator) makeGroups() {
	combo := make([]int, m.parts)
	for i := range combo {
		combo[i] = i
	}
	for i := range m.plain {
		gr := genGroup{ID: m.id(forGroup, i)}
		if i < m.comboGroup {
			gr.Name = pick(m.rng, []string{"Main of the combo", "Choose a dish", "Основное блюдо", "セットの主菜"})
			gr.Ingredients = m.draw(combo, m.rng.between(3, 6))
		} else {
			gr.Name = pick(m.rng, words().Groups[i%kinds])
			gr.Ingredients = m.draw(m.pool(i%kinds), m.rng.between(4, 10))
		}
		m.groups = append(m.groups, gr)
	}
}

func (m *menuGenerator) makeSchemes(n int) {
	for k := range n {
		sc := genScheme{ID: m.id(forScheme, k)}
		groups := 1
		if k < m.combos {
			sc.Groups = append(sc.Groups, m.limit(k%m.comboGroup, 1))
		} else {
			groups = m.rng.between(1, 4)
		}
		due := m.due(groups)
		for _, group := range due {
			sc.Groups = append(sc.Groups, m.limit(group, 0))
		}
		if k >= m.combos && (k-m.combos)%10 == 0 {
			sc.Groups = append(sc.Groups, m.limit(m.overlap(due[0]), 0))
		}
		m.schemes = append(m.schemes, sc)
	}
}

// due returns the next n plain groups. Neighbours differ in kind, and every group occurs in several schemes.
func (m *menuGenerator) due(n int) []int {
	plain := m.plain - m.comboGroup
	n = min(n, plain, kinds)
	if m.cursor%plain+n > plain { // kinds would repeat
		m.cursor = 0
	}
	groups := make([]int, 0, n)
	for range n {
		groups = append(groups, m.comboGroup+m.cursor%plain)
		m.cursor++
	}
	return groups
}

// overlap adds a group that shares two ingredients with another.
func (m *menuGenerator) overlap(with int) int {
	i := len(m.groups)
	gr := genGroup{ID: m.id(forGroup, i), Name: "Chef's pick: " + m.groups[with].Name}
	gr.Ingredients = append(gr.Ingredients, m.groups[with].Ingredients[:2]...)
	gr.Ingredients = append(gr.Ingredients, m.draw(m.pool((with+5)%kinds), 3)...)
	m.groups = append(m.groups, gr)
	return i
}

// limit returns limits for a group that differ from those in the previous scheme. Maximum 0: no upper limit.
func (m *menuGenerator) limit(group, least int) genLimit {
	low := max(pick(m.rng, []int{0, 0, 0, 1, 1, 2}), least)
	high := low + m.rng.between(1, 4)
	if m.rng.n(10) == 0 {
		high = 0
	}
	if before := m.last[group]; before != nil && before[0] == low && before[1] == high {
		high += low + 1
	}
	m.last[group] = []int{low, high}
	return genLimit{ID: m.groups[group].ID, Min: low, Max: high}
}

// product returns the k-th dish. 13 of 20 dishes have a scheme; one of them is a combo.
func (m *menuGenerator) product(k int) genItem {
	p := genItem{
		ID:          m.id(forProduct, k),
		ExternalID:  m.id(forProductExt, k),
		CategoryID:  m.categories[m.rng.n(len(m.categories))].ID,
		Name:        dishName(m.rng, k),
		Price:       money(m.rng.between(90, 1490) * 1000),
		Description: m.description(),
		Measure:     &genMeasure{Value: grams(m.rng.between(8, 60) * 10), Unit: pick(m.rng, []string{"kg", "kg", "kg", "liter"})},
		genDish: &genDish{
			Calories:      m.rng.between(60, 900),
			Proteins:      tenths(m.rng.n(400)),
			Fats:          tenths(m.rng.n(450)),
			Carbohydrates: tenths(m.rng.n(800)),
		},
	}
	p.EnergyValue = p.Calories * 4184 / 1000
	p.ImageURLs = []string{m.g.ImageBase + "/sandbox/images/" + dishImage(k) + ".svg"}
	switch slot := k % 20; {
	case slot == 12:
		p.Name += " combo"
		p.SchemeID = &m.schemes[(k/20)%m.combos].ID
	case slot < 12:
		leaf := len(m.schemes) - m.combos
		p.SchemeID = &m.schemes[m.combos+(k*7)%leaf].ID
	}
	return p
}

// description returns three to six sentences.
func (m *menuGenerator) description() string {
	text := make([]string, 0, 6)
	for range m.rng.between(3, 6) {
		text = append(text, pick(m.rng, words().Sentences))
	}
	return strings.Join(text, " ")
}

// money formats thousandths as a price with at most two decimals.
func money(thousandths int) json.Number {
	switch thousandths / 1000 % 4 {
	case 0:
		return json.Number(fmt.Sprintf("%d.9", thousandths/1000))
	case 1:
		return json.Number(fmt.Sprintf("%d.50", thousandths/1000))
	default:
		return json.Number(strconv.Itoa(thousandths / 1000))
	}
}

// grams formats grams as kilograms (or millilitres as litres).
func grams(n int) json.Number {
	return json.Number(fmt.Sprintf("%d.%03d", n/1000, n%1000))
}

func tenths(n int) json.Number {
	return json.Number(fmt.Sprintf("%d.%d", n/10, n%10))
}
