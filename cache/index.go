package cache

import (
	"strconv"

	"larder/internal/menu"
)

// pairs are the fields of a hash and their values in turn, as HSET takes them.
type pairs []string

func (p *pairs) add(field string, value []byte) { *p = append(*p, field, string(value)) }

// productIndex is the documented hash products: dish id to
// {externalId, name, price, schemeId, categoryId, available}. For an index
// that restaurants share it leaves available out: they differ in it.
func productIndex(c *menu.Catalogue, shared bool) pairs {
	fields := make(pairs, 0, 2*c.ProductCount())
	var scratch []byte
	for at, p := range c.Products() {
		b := append(scratch[:0], `{"externalId":`...)
		b = appendOptional(b, p.ExternalID())
		b = menu.AppendString(append(b, `,"name":`...), p.Name())
		b = append(b, `,"price":`...)
		if p.PriceBad() {
			b = append(b, "null"...)
		} else {
			b = menu.AppendDecimal(b, p.Price())
		}
		b = append(b, `,"schemeId":`...)
		if scheme := c.ProductScheme(at); scheme == menu.None {
			b = append(b, "null"...)
		} else {
			b = menu.AppendString(b, c.Schemes()[scheme].ID)
		}
		b = append(b, `,"categoryId":`...)
		if category := c.ProductCategory(at); category == menu.None {
			b = append(b, "null"...)
		} else {
			b = menu.AppendString(b, c.Categories()[category].ID)
		}
		if !shared {
			b = strconv.AppendBool(append(b, `,"available":`...), c.Available(at))
		}
		b = append(b, '}')
		fields.add(p.ID(), b)
		scratch = b
	}
	return fields
}

// externalIDIndex is the documented hash externalIds: externalId of dishes to
// the JSON array of their ids, in the view's order (policy O3).
func externalIDIndex(c *menu.Catalogue) pairs {
	fields := make(pairs, 0, 2*c.ProductCount())
	var scratch []byte
	for i, p := range c.Products() {
		external := p.ExternalID()
		if external == "" {
			continue
		}
		same := c.ProductsByExternalID(external)
		if len(same) == 0 || same[0] != i {
			continue // written with the first of them
		}
		b := append(scratch[:0], '[')
		for k, at := range same {
			b = menu.AppendString(comma(b, k), c.Product(at).ID())
		}
		b = append(b, ']')
		fields.add(external, b)
		scratch = b
	}
	return fields
}

// schemeIndex is the documented hash schemes: scheme id to the JSON array of
// {group, name, min, max, options}, in scheme order, limits as policy M2
// reads them.
func schemeIndex(c *menu.Catalogue) pairs {
	schemes, groups := c.Schemes(), c.Groups()
	fields := make(pairs, 0, 2*len(schemes))
	var scratch []byte
	for i := range schemes {
		b := append(scratch[:0], '[')
		for k, limit := range c.Limits(menu.Index(i)) {
			group := &groups[limit.Group]
			b = menu.AppendString(append(comma(b, k), `{"group":`...), group.ID)
			b = menu.AppendString(append(b, `,"name":`...), group.Name)
			b = strconv.AppendInt(append(b, `,"min":`...), int64(limit.Min), 10)
			b = append(b, `,"max":`...)
			if limit.Max == menu.Unlimited {
				b = append(b, "null"...)
			} else {
				b = strconv.AppendInt(b, int64(limit.Max), 10)
			}
			b = append(b, `,"options":[`...)
			for n, member := range c.Members(limit.Group) {
				b = menu.AppendString(comma(b, n), c.Ingredient(member).ID())
			}
			b = append(b, ']', '}')
		}
		b = append(b, ']')
		fields.add(schemes[i].ID, b)
		scratch = b
	}
	return fields
}

// stoppedIndex is the documented set stopped: ids of dishes and ingredients,
// each once.
func stoppedIndex(stops menu.Stops) []string {
	ids := make([]string, 0, len(stops.Products)+len(stops.Ingredients))
	seen := make(map[string]bool, cap(ids))
	for _, list := range [][]string{stops.Products, stops.Ingredients} {
		for _, id := range list {
			if !seen[id] {
				seen[id] = true
				ids = append(ids, id)
			}
		}
	}
	return ids
}

func appendOptional(dst []byte, s string) []byte {
	if s == "" {
		return append(dst, "null"...)
	}
	return menu.AppendString(dst, s)
}

func comma(dst []byte, i int) []byte {
	if i == 0 {
		return dst
	}
	return append(dst, ',')
}
