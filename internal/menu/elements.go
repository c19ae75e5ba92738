package menu

import (
	"fmt"
	"slices"

	"github.com/shopspring/decimal"

	"larder.local/internal/jsontext"
)

func (d *decoder) category() (c Category) {
	d.fields("categories[].", func(folded string) bool {
		switch folded {
		case "id":
			c.ID = d.identifier("categories[].id")
		case "name":
			c.Name = d.readText("categories[].name")
		case "parentid":
			c.ParentID = d.identifier("categories[].parentId")
		default:
			return false
		}
		return true
	})
	d.name("categories[].name", c.Name)
	d.setOwner(c.ID)
	return c
}

func (d *decoder) product() (p Product) {
	priced := false
	var nutrition Nutrition
	d.fields("products[].", func(folded string) bool {
		switch folded {
		case "id":
			p.ID = d.identifier("products[].id")
		case "externalid":
			p.ExternalID = d.identifier("products[].externalId")
		case "categoryid":
			p.CategoryID = d.identifier("products[].categoryId")
		case "name":
			p.Name = d.readText("products[].name")
		case "price":
			p.Price, p.PriceInvalid = d.price("products[].price")
			if priced = true; p.Price.IsNegative() {
				d.report(IssuePriceNegative, "products[].price", p.Price.String())
				p.Price, p.PriceInvalid = decimal.Decimal{}, true
			}
		case "schemeid":
			p.SchemeID = d.identifier("products[].schemeId")
		case "description":
			p.Description = d.readText("products[].description")
		case "imageurls":
			p.ImageURLs = d.readImages("products[].imageUrls")
		case "measure":
			p.Measure = d.measure("products[].measure")
		default:
			return d.stop(&productStops, folded, &p.Stop) || d.nutrition(folded, &nutrition)
		}
		return true
	})
	if !priced {
		p.PriceInvalid = true
		d.report(IssuePriceMissing, "products[].price", "")
	}
	if nutrition != (Nutrition{}) { // nil if all values are null
		p.Nutrition = new(nutrition)
	}
	d.name("products[].name", p.Name)
	d.setOwner(p.ID)
	return p
}

func (d *decoder) ingredient() (in Ingredient) {
	d.fields("ingredients[].", func(folded string) bool {
		switch folded {
		case "id":
			in.ID = d.identifier("ingredients[].id")
		case "externalid":
			in.ExternalID = d.identifier("ingredients[].externalId")
		case "name":
			in.Name = d.readText("ingredients[].name")
		case "price":
			in.Price, in.PriceInvalid = d.price("ingredients[].price") // may be missing or negative (policies W9a, W9b)
		case "schemeid":
			in.SchemeID = d.identifier("ingredients[].schemeId")
		case "description":
			in.Description = d.readText("ingredients[].description")
		case "imageurls":
			in.ImageURLs = d.readImages("ingredients[].imageUrls")
		case "measure":
			in.Measure = d.measure("ingredients[].measure")
		default:
			return d.stop(&ingredientStops, folded, &in.Stop)
		}
		return true
	})
	d.name("ingredients[].name", in.Name)
	d.setOwner(in.ID)
	return in
}

func (d *decoder) scheme() (s Scheme) {
	d.fields("ingredientsSchemes[].", func(folded string) bool {
		switch folded {
		case "id":
			s.ID = d.identifier("ingredientsSchemes[].id")
		case "ingredientsgroups":
			d.limits(&s)
		default:
			return false
		}
		return true
	})
	d.setOwner(s.ID)
	return s
}

func (d *decoder) limits(s *Scheme) {
	const list, where = "ingredientsSchemes[].ingredientsGroups", "ingredientsSchemes[].ingredientsGroups[]."
	d.list(list, func() {
		if d.Kind() != jsontext.KindObject {
			d.report(IssueTypeMismatch, list+"[]", d.Raw())
			return
		}
		limit, readable := GroupLimit{Max: Unlimited}, true
		d.fields(where, func(folded string) bool {
			switch folded {
			case "id":
				limit.GroupID = d.identifier(where + "id")
			case "mincount":
				limit.Min, _ = d.count(where+"minCount", 0)
			case "maxcount":
				limit.Max, readable = d.count(where+"maxCount", Unlimited)
			default:
				return false
			}
			return true
		})
		if !readable && !slices.ContainsFunc(s.Groups, func(first GroupLimit) bool { return first.GroupID == limit.GroupID }) {
			d.report(IssueMaximumInvalid, fmt.Sprintf("%s[%q].maxCount", list, limit.GroupID), "")
		}
		s.Groups = append(s.Groups, limit)
	})
}

func (d *decoder) group() (g Group) {
	d.fields("ingredientsGroups[].", func(folded string) bool {
		switch folded {
		case "id":
			g.ID = d.identifier("ingredientsGroups[].id")
		case "name":
			g.Name = d.readText("ingredientsGroups[].name")
		case "ingredients":
			g.Ingredients = d.identifierList("ingredientsGroups[].ingredients")
		default:
			return false
		}
		return true
	})
	d.name("ingredientsGroups[].name", g.Name)
	d.setOwner(g.ID)
	return g
}
