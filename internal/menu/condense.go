package menu

import (
	"slices"
	"strings"

	"github.com/shopspring/decimal"
)

// textBlock is how many bytes of texts stand in one piece of memory.
const textBlock = 8 << 10

// condense makes the content small for as long as it is held: texts in blocks, an
// id in one text wherever it is referred to, each number and measure once, and
// nothing of the view's stop lists, which are no part of it.
func (c *Content) condense() {
	p := &press{numbers: make(map[number]decimal.Decimal, 256), measures: make(map[measure]*Measure, 64), units: map[string]string{}}
	p.texts(&c.name)
	c.condenseCategories(p)
	for i := range c.schemes {
		p.texts(&c.schemes[i].ID)
		c.schemeIDs[c.schemes[i].ID] = Index(i) // a map takes the newer text of an equal key
	}
	for i := range c.ingredients {
		in := &c.ingredients[i]
		p.texts(&in.ID, &in.ExternalID, &in.Name, &in.Description)
		p.number(&in.Price)
		in.SchemeID = c.schemeID(c.ingredientScheme[i])
		in.ImageURLs, in.Measure, in.Stop = p.list(in.ImageURLs), p.measure(in.Measure), StopList{}
	}
	for i := range c.products {
		d := &c.products[i]
		p.texts(&d.ID, &d.ExternalID, &d.Name, &d.Description)
		p.number(&d.Price)
		d.SchemeID = c.schemeID(c.productScheme[i])
		if d.CategoryID != "" {
			d.CategoryID = c.categories[c.categoryIDs[d.CategoryID]].ID
		}
		d.ImageURLs, d.Measure, d.Stop = p.list(d.ImageURLs), p.measure(d.Measure), StopList{}
		d.Nutrition = p.nutrition(d.Nutrition)
	}
	c.condenseGroups(p)
}

func (c *Content) condenseCategories(p *press) {
	for i := range c.categories {
		category := &c.categories[i]
		p.texts(&category.ID, &category.Name)
		c.categoryIDs[category.ID] = Index(i)
		if category.ParentID != "" { // it stands before its children
			category.ParentID = c.categories[c.categoryIDs[category.ParentID]].ID
		}
	}
}

// condenseGroups lets groups and schemes use the texts of what they refer to.
func (c *Content) condenseGroups(p *press) {
	for i := range c.groups {
		group := &c.groups[i]
		p.texts(&group.ID, &group.Name)
		c.groupIDs[group.ID] = Index(i)
		for k, member := range c.Members(Index(i)) {
			group.Ingredients[k] = c.ingredients[member].ID
		}
	}
	for i := range c.schemes {
		limits := slices.Clone(c.schemes[i].Groups)
		for k, limit := range c.Limits(Index(i)) {
			limits[k].GroupID = c.groups[limit.Group].ID
		}
		c.schemes[i].Groups = limits
	}
}

func (c *Content) schemeID(s Index) string {
	if s == None {
		return ""
	}
	return c.schemes[s].ID
}

// press makes small copies. It never changes what the view points to.
type press struct {
	block    strings.Builder
	numbers  map[number]decimal.Decimal
	measures map[measure]*Measure
	units    map[string]string
}

// number and measure tell values apart as they are written: 1.0 is not 1.
type number struct {
	coefficient int64
	exponent    int32
}

type measure struct {
	value number
	unit  string
}

// texts moves each text into a block.
func (p *press) texts(texts ...*string) {
	for _, text := range texts {
		*text = p.text(*text)
	}
}

func (p *press) text(text string) string {
	if text == "" {
		return ""
	}
	if p.block.Len()+len(text) > p.block.Cap() {
		p.block = strings.Builder{}
		p.block.Grow(max(textBlock, len(text)))
	}
	start := p.block.Len()
	p.block.WriteString(text) // never beyond its capacity: what stands there stays
	return p.block.String()[start:]
}

func (p *press) list(texts []string) []string {
	if len(texts) == 0 {
		return nil
	}
	moved := make([]string, len(texts))
	for i, text := range texts {
		moved[i] = p.text(text)
	}
	return moved
}

func (p *press) unit(unit string) string {
	kept, again := p.units[unit]
	if !again {
		kept = p.text(unit)
		p.units[kept] = kept
	}
	return kept
}

// exactDigits fit an int64 whatever they are.
const exactDigits = 18

// number makes a decimal the first one that was written so; false where it is
// too long to be compared.
func (p *press) number(d *decimal.Decimal) (number, bool) {
	if d.NumDigits() > exactDigits {
		return number{}, false
	}
	key := number{d.CoefficientInt64(), d.Exponent()}
	if kept, again := p.numbers[key]; again {
		*d = kept
	} else {
		p.numbers[key] = *d
	}
	return key, true
}

func (p *press) measure(m *Measure) *Measure {
	if m == nil {
		return nil
	}
	own := Measure{Value: m.Value, Unit: p.unit(m.Unit)}
	value, ok := p.number(&own.Value)
	if !ok {
		return &own
	}
	key := measure{value, own.Unit}
	if kept, again := p.measures[key]; again {
		return kept
	}
	p.measures[key] = &own
	return &own
}

func (p *press) nutrition(n *Nutrition) *Nutrition {
	if n == nil {
		return nil
	}
	own := *n
	for _, value := range []*decimal.NullDecimal{&own.Calories, &own.EnergyValue, &own.Proteins, &own.Fats, &own.Carbohydrates} {
		p.number(&value.Decimal)
	}
	return &own
}
