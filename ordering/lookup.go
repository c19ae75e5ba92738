package ordering

import (
	"encoding/json"
	"strings"

	"larder/internal/jsontext"
	"larder/internal/menu"
)

// findDish finds the dish that the line n names: by the menu's id first, then
// by externalId (policy O3). menu.None with a violation noted when it cannot.
func (c *validation) findDish(n int32) menu.Index {
	id, external, ok := c.nameOf(n, "dishList[].ID")
	if !ok {
		return menu.None
	}
	i, sharing := c.Catalogue.ProductNamed(id)
	switch {
	case external:
		sharing = c.Catalogue.ProductsByExternalID(id)
	case i != menu.None:
		return i
	}
	return c.single(n, id, sharing, DishNotInMenu, func(i menu.Index) string { return c.Catalogue.Product(i).ID() })
}

// findIngredient is findDish for an ingredient.
func (c *validation) findIngredient(n int32) menu.Index {
	id, external, ok := c.nameOf(n, "dishList[].ingredients[].ID")
	if !ok {
		return menu.None
	}
	i, sharing := c.Catalogue.IngredientNamed(id)
	switch {
	case external:
		sharing = c.Catalogue.IngredientsByExternalID(id)
	case i != menu.None:
		return i
	}
	return c.single(n, id, sharing, IngredientNotInMenu, func(i menu.Index) string { return c.Catalogue.Ingredient(i).ID() })
}

// nameOf returns what the line is named by: its ID, or where that is null its
// externalId (policy W12).
func (c *validation) nameOf(n int32, field string) (id string, external, ok bool) {
	l := &c.order.lines[n]
	switch {
	case l.id.state == refused:
		return "", false, false
	case l.id.text != "":
		return l.id.text, false, true
	case l.externalID.state == refused:
		return "", false, false
	case l.externalID.text != "":
		return l.externalID.text, true, true
	}
	c.add(l.missing(l.id.position), member(c.path(n), l.id.or("ID")), FieldRequired, Params{"field": field}, "")
	return "", false, false
}

// single returns the one item that has an externalId.
func (c *validation) single(n int32, id string, sharing []menu.Index, unknown Code, name func(menu.Index) string) menu.Index {
	switch len(sharing) {
	case 1:
		return sharing[0]
	case 0:
		c.add(c.order.lines[n].pos, c.path(n), unknown, Params{"id": strings.Clone(id)}, "")
	default:
		ids := make([]string, len(sharing))
		for i, shared := range sharing {
			ids[i] = name(shared)
		}
		c.add(c.order.lines[n].pos, c.path(n), ExternalIDAmbiguous, Params{"externalId": strings.Clone(id), "ids": ids}, "")
	}
	return menu.None
}

// number returns an exact number as a param.
func number(n jsontext.Number) json.Number { return json.Number(n.Append(nil)) }

// exact returns a number of the body as a param, with its exact digits.
func exact(v *value) json.Number { return number(v.number) }
