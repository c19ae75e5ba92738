package validate

import (
	"encoding/json"
	"strings"

	"larder/internal/jsontext"
	"larder/internal/menu"
	"larder/ordering/violation"
)

// findDish finds the dish that the line n names; menu.None with a violation
// noted when it cannot.
func (c *validation) findDish(n int32) menu.Index {
	m := c.Catalogue
	return c.find(n, "dishList[].ID", violation.DishNotInMenu, m.ProductNamed, m.ProductsByExternalID, m.Product)
}

// findIngredient is findDish for an ingredient.
func (c *validation) findIngredient(n int32) menu.Index {
	m := c.Catalogue
	return c.find(n, "dishList[].ingredients[].ID", violation.IngredientNotInMenu,
		m.IngredientNamed, m.IngredientsByExternalID, m.Ingredient)
}

// find finds what the line n names: by the menu's id first, then by externalId
// (policy O3). field is what is missing where the line names nothing; unknown is
// the violation of a name that the menu does not have.
func (c *validation) find(
	n int32, field string, unknown violation.Code, named func(string) (menu.Index, []menu.Index),
	byExternalID func(string) []menu.Index, entry func(menu.Index) menu.Entry,
) menu.Index {
	id, external, ok := c.identifierOf(n, field)
	if !ok {
		return menu.None
	}
	i, sharing := named(id)
	if external {
		sharing = byExternalID(id)
	} else if i != menu.None {
		return i
	}
	switch len(sharing) {
	case 1:
		return sharing[0]
	case 0:
		c.violations.Add(c.order.lines[n].pos, c.path(n), unknown, violation.Params{"id": strings.Clone(id)}, "")
	default:
		ids := make([]string, len(sharing))
		for k, shared := range sharing {
			ids[k] = entry(shared).ID()
		}
		c.violations.Add(c.order.lines[n].pos, c.path(n), violation.ExternalIDAmbiguous, violation.Params{"externalId": strings.Clone(id), "ids": ids}, "")
	}
	return menu.None
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
