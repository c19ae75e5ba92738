package menu

import (
	"slices"
	"strings"
)

// textBlock is how many bytes of texts stand in one piece of memory.
const textBlock = 8 << 10

// condense makes the content small for as long as it is held: texts in blocks, an
// id in one text wherever it is referred to, and nothing of the view's stop
// lists, which are no part of it. Numbers and measures are the view's own, of
// which Decode makes each once.
func (c *Content) condense() {
	p := &press{}
	p.texts(&c.name)
	c.condenseCategories(p)
	for i := range c.schemes {
		p.texts(&c.schemes[i].ID)
		c.schemeIDs[c.schemes[i].ID] = Index(i) // a map takes the newer text of an equal key
	}
	for i := range c.ingredients {
		in := &c.ingredients[i]
		p.texts(&in.ID, &in.ExternalID, &in.Name, &in.Description)
		in.SchemeID = c.schemeID(c.ingredientScheme[i])
		in.ImageURLs, in.Stop = p.list(in.ImageURLs), StopList{}
	}
	for i := range c.products {
		d := &c.products[i]
		p.texts(&d.ID, &d.ExternalID, &d.Name, &d.Description)
		d.SchemeID = c.schemeID(c.productScheme[i])
		if d.CategoryID != "" {
			d.CategoryID = c.categories[c.categoryIDs[d.CategoryID]].ID
		}
		d.ImageURLs, d.Stop = p.list(d.ImageURLs), StopList{}
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
type press struct{ block strings.Builder }

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
