package validate

import (
	"encoding/json"
	"strings"

	"larder/internal/jsontext"
	"larder/internal/menu"
	"larder/ordering/violation"
)

// findDish finds the dish that the line n names, by the menu's id first, then by
// externalId (policy O3); menu.None with a violation noted when it cannot.
func (c *validation) findDish(n int32) menu.Index {
	id, external, ok := c.identifierOf(n, "dishList[].ID")
	if !ok {
		return menu.None
	}
	found, sharing := c.Catalogue.ProductNamed(id)
	switch {
	case external:
		sharing = c.Catalogue.ProductsByExternalID(id)
	case found != menu.None:
		return found
	}
	return c.onlyOne(n, id, sharing, violation.DishNotInMenu)
}

// findIngredient is findDish for an ingredient.
func (c *validation) findIngredient(n int32) menu.Index {
	id, external, ok := c.identifierOf(n, "dishList[].ingredients[].ID")
	if !ok {
		return menu.None
	}
	found, sharing := c.Catalogue.IngredientNamed(id)
	switch {
	case external:
		sharing = c.Catalogue.IngredientsByExternalID(id)
	case found != menu.None:
		return found
	}
	return c.onlyOne(n, id, sharing, violation.IngredientNotInMenu)
}

// onlyOne returns the only one of the entries that share the identifier; unknown is
// the violation where there is none.
func (c *validation) onlyOne(n int32, id string, sharing []menu.Index, unknown violation.Code) menu.Index {
	switch len(sharing) {
	case 1:
		return sharing[0]
	case 0:
		c.violations.Add(c.order.lines[n].pos, c.path(n), unknown, violation.Params{"id": strings.Clone(id)}, "")
	default:
		ids := make([]string, len(sharing))
		for k, shared := range sharing {
			ids[k] = c.entry(n, shared).ID()
		}
		c.violations.Add(c.order.lines[n].pos, c.path(n), violation.ExternalIDAmbiguous, violation.Params{"externalId": strings.Clone(id), "ids": ids}, "")
	}
	return menu.None
}

// entry returns the dish, or the ingredient, that the line n may be.
func (c *validation) entry(n int32, i menu.Index) menu.Entry {
	if c.order.lines[n].parent == none {
		return c.Catalogue.Product(i)
	}
	return c.Catalogue.Ingredient(i)
}

// identifierOf returns what the line is named by: its ID, or where that is null its
// externalId (policy W12).
func (c *validation) identifierOf(n int32, field string) (id string, external, ok bool) {
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
	c.violations.Add(l.id.posOr(l.end), member(c.path(n), l.id.nameOr("ID")), violation.FieldRequired, violation.Params{"field": field}, "")
	return "", false, false
}

// number returns a number as a param, with its exact digits.
func number(n jsontext.Number) json.Number { return json.Number(n.Append(nil)) }
