package menu

import (
	"fmt"
	"slices"

	"github.com/shopspring/decimal"

	"larder.local/internal/jsontext"
)

// The fields of the objects of a menu view (docs/ordering-service.md, section 2.4).
//
//nolint:gochecknoglobals // constants
var (
	viewFields = fieldsOf(map[string]readFunc[View]{
		"name":             func(d *decoder, v *View) { v.Name = d.readText() },
		"isPossibleDelete": func(d *decoder, v *View) { v.IsPossibleDelete = d.flag() },
		"haveChanges":      func(d *decoder, v *View) { v.HaveChanges = d.flag() },
		"categories": func(d *decoder, v *View) {
			readElements(d, &v.Categories, "category", categoryFields,
				func(d *decoder, c *Category) string { return d.named(c.Name, c.ID) })
		},
		"products": func(d *decoder, v *View) { readElements(d, &v.Products, "product", productFields, finishProduct) },
		"ingredientsSchemes": func(d *decoder, v *View) {
			readElements(d, &v.Schemes, "scheme", schemeFields, func(_ *decoder, s *Scheme) string { return s.ID })
		},
		"ingredientsGroups": func(d *decoder, v *View) {
			readElements(d, &v.Groups, "group", groupFields, func(d *decoder, g *Group) string { return d.named(g.Name, g.ID) })
		},
		"ingredients": func(d *decoder, v *View) {
			readElements(d, &v.Ingredients, "ingredient", ingredientFields,
				func(d *decoder, in *Ingredient) string { return d.named(in.Name, in.ID) })
		},
	})
	categoryFields = fieldsOf(map[string]readFunc[Category]{
		"id":       func(d *decoder, c *Category) { c.ID = d.identifier() },
		"name":     func(d *decoder, c *Category) { c.Name = d.readText() },
		"parentId": func(d *decoder, c *Category) { c.ParentID = d.identifier() },
	})
	itemFields = map[string]readFunc[Product]{ // of dishes and ingredients
		"id":          func(d *decoder, p *Product) { p.ID = d.identifier() },
		"externalId":  func(d *decoder, p *Product) { p.ExternalID = d.identifier() },
		"name":        func(d *decoder, p *Product) { p.Name = d.readText() },
		"schemeId":    func(d *decoder, p *Product) { p.SchemeID = d.identifier() },
		"description": func(d *decoder, p *Product) { p.Description = d.readText() },
		"imageUrls":   func(d *decoder, p *Product) { p.ImageURLs = d.images() },
		"measure":     func(d *decoder, p *Product) { p.Measure = d.measure() },
		// The fields that stop a dish or ingredient (policy W7).
		"isContainInStopList": func(d *decoder, p *Product) { d.stopList(&p.Stop) },
		"isListStoped":        func(d *decoder, p *Product) { p.Stop.All = d.flag() || p.Stop.All },
		"disabled":            func(d *decoder, p *Product) { p.Stop.All = d.flag() || p.Stop.All },
	}
	productFields = fieldsOf(itemFields, map[string]readFunc[Product]{
		"categoryId":    func(d *decoder, p *Product) { p.CategoryID = d.identifier() },
		"price":         readDishPrice,
		"calories":      nutrient(func(n *Nutrition) *decimal.NullDecimal { return &n.Calories }),
		"energyValue":   nutrient(func(n *Nutrition) *decimal.NullDecimal { return &n.EnergyValue }),
		"proteins":      nutrient(func(n *Nutrition) *decimal.NullDecimal { return &n.Proteins }),
		"fats":          nutrient(func(n *Nutrition) *decimal.NullDecimal { return &n.Fats }),
		"carbohydrates": nutrient(func(n *Nutrition) *decimal.NullDecimal { return &n.Carbohydrates }),
	})
	ingredientFields = fieldsOf(itemFields, map[string]readFunc[Ingredient]{
		// The price may be missing or negative (policies W9a, W9b).
		"price": func(d *decoder, in *Ingredient) { in.Price, in.PriceInvalid = d.price() },
	})
	schemeFields = fieldsOf(map[string]readFunc[Scheme]{
		"id":                func(d *decoder, s *Scheme) { s.ID = d.identifier() },
		"ingredientsGroups": readLimits,
	})
	limitFields = fieldsOf(map[string]readFunc[GroupLimit]{
		"id":       func(d *decoder, limit *GroupLimit) { limit.GroupID = d.identifier() },
		"minCount": func(d *decoder, limit *GroupLimit) { limit.Min = d.count(0, 0) },
		"maxCount": func(d *decoder, limit *GroupLimit) { limit.Max = d.count(Unlimited, unreadable) },
	})
	groupFields = fieldsOf(map[string]readFunc[Group]{
		"id":          func(d *decoder, g *Group) { g.ID = d.identifier() },
		"name":        func(d *decoder, g *Group) { g.Name = d.readText() },
		"ingredients": readMembers,
	})
)

func readDishPrice(d *decoder, p *Product) {
	d.priced = true
	if p.Price, p.PriceInvalid = d.price(); p.Price.IsNegative() {
		d.report(IssuePriceNegative, p.Price.String())
		p.Price, p.PriceInvalid = decimal.Decimal{}, true
	}
}

// nutrient returns what decodes one nutritional value.
func nutrient(of func(*Nutrition) *decimal.NullDecimal) readFunc[Product] {
	return func(d *decoder, p *Product) {
		if p.Nutrition == nil {
			p.Nutrition = &Nutrition{}
		}
		value, state := d.number(IssueNutritionInvalid, IssueNutritionInvalid)
		*of(p.Nutrition) = decimal.NullDecimal{Decimal: value, Valid: state == jsontext.NumberOK}
	}
}

func finishProduct(d *decoder, p *Product) (id string) {
	if !d.priced {
		p.PriceInvalid = true
		d.field = "price"
		d.report(IssuePriceMissing, "")
	}
	if p.Nutrition != nil && *p.Nutrition == (Nutrition{}) { // all values are null
		p.Nutrition = nil
	}
	return d.named(p.Name, p.ID)
}

// unreadable is the Max of a limit whose maxCount cannot be read, until the limit is complete.
const unreadable = Unlimited - 1

// readLimits decodes the groups of a scheme.
func readLimits(d *decoder, s *Scheme) {
	d.list(func() {
		if d.Kind() != jsontext.KindObject {
			d.report(IssueTypeMismatch, d.Raw())
			return
		}
		list, first := d.path, s.Groups
		s.Groups = append(s.Groups, GroupLimit{Max: Unlimited})
		limit := &s.Groups[len(first)]
		d.path = path{where: "ingredientsSchemes[].ingredientsGroups[]."}
		readObject(d, limitFields, limit)
		d.path = list
		if limit.Max != unreadable {
			return
		}
		if !slices.ContainsFunc(first, func(one GroupLimit) bool { return one.GroupID == limit.GroupID }) {
			d.tail = fmt.Sprintf("[%q].maxCount", limit.GroupID)
			d.report(IssueMaximumInvalid, "")
			d.tail = list.tail
		}
		limit.Max = Unlimited
	})
}

// readMembers decodes the ids of the ingredients of a group.
func readMembers(d *decoder, g *Group) {
	g.Ingredients = nil
	d.list(func() {
		if id := d.identifier(); id != "" {
			g.Ingredients = append(g.Ingredients, id)
		}
	})
}
