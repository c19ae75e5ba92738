package viewtest

import (
	"github.com/shopspring/decimal"

	"larder.local/internal/jsontext"
	"larder.local/internal/menu"
)

// Encode returns a view as the ordering service would publish it: the interface's
// names and order, strict types, exact decimals, no white space. Decode returns the
// view again.
func Encode(v *menu.View) []byte {
	e := encoder{}
	e.Open('{')
	e.text("name", v.Name)
	e.flag("isPossibleDelete", v.IsPossibleDelete)
	e.flag("haveChanges", v.HaveChanges)
	encodeAll(&e, "categories", v.Categories, (*encoder).category)
	encodeAll(&e, "products", v.Products, (*encoder).product)
	encodeAll(&e, "ingredientsSchemes", v.Schemes, (*encoder).scheme)
	encodeAll(&e, "ingredientsGroups", v.Groups, (*encoder).group)
	encodeAll(&e, "ingredients", v.Ingredients, (*encoder).ingredient)
	e.Close('}')
	return e.Buf
}

// encoder writes the members of a view in the order of the calls.
type encoder struct{ jsontext.Writer }

func encodeAll[T any](e *encoder, name string, all []T, one func(*encoder, *T)) {
	e.Name(name)
	e.Open('[')
	for i := range all {
		e.Next()
		e.Open('{')
		one(e, &all[i])
		e.Close('}')
	}
	e.Close(']')
}

func (e *encoder) text(name, value string) {
	e.Name(name)
	e.Text(value)
}

// optional writes a text, null for an empty one.
func (e *encoder) optional(name, value string) {
	e.Name(name)
	if value == "" {
		e.Raw("null")
		return
	}
	e.Text(value)
}

func (e *encoder) flag(name string, value bool) {
	e.Name(name)
	e.Bool(value)
}

func (e *encoder) texts(name string, values []string) {
	e.Name(name)
	e.Open('[')
	for _, value := range values {
		e.Next()
		e.Text(value)
	}
	e.Close(']')
}

func (e *encoder) price(value decimal.Decimal, bad bool) {
	e.Name("price")
	if bad {
		e.Raw(`"?"`) // a value that is not a valid price
		return
	}
	e.Number(jsontext.NumberOf(value))
}

func (e *encoder) measure(m *menu.Measure) {
	e.Name("measure")
	if m == nil {
		e.Raw("null")
		return
	}
	e.Open('{')
	e.Name("value")
	e.Number(jsontext.NumberOf(m.Value))
	e.optional("unit", m.Unit)
	e.Close('}')
}

func (e *encoder) stop(list menu.StopList) {
	if list.All {
		e.flag("isContainInStopList", true)
		return
	}
	e.texts("isContainInStopList", list.IDs)
}

func (e *encoder) category(c *menu.Category) {
	e.text("id", c.ID)
	e.text("name", c.Name)
	e.optional("parentId", c.ParentID)
}

func (e *encoder) product(p *menu.Product) {
	e.text("id", p.ID)
	e.optional("externalId", p.ExternalID)
	e.optional("categoryId", p.CategoryID)
	e.text("name", p.Name)
	e.price(p.Price, p.PriceInvalid)
	e.optional("schemeId", p.SchemeID)
	e.text("description", p.Description)
	e.texts("imageUrls", p.ImageURLs)
	e.measure(p.Measure)
	e.stop(p.Stop)
	if n := p.Nutrition; n != nil {
		e.nutrition("calories", n.Calories)
		e.nutrition("energyValue", n.EnergyValue)
		e.nutrition("proteins", n.Proteins)
		e.nutrition("fats", n.Fats)
		e.nutrition("carbohydrates", n.Carbohydrates)
	}
}

func (e *encoder) nutrition(name string, value decimal.NullDecimal) {
	e.Name(name)
	if !value.Valid {
		e.Raw("null")
		return
	}
	e.Number(jsontext.NumberOf(value.Decimal))
}

func (e *encoder) scheme(s *menu.Scheme) {
	e.text("id", s.ID)
	encodeAll(e, "ingredientsGroups", s.Groups, func(e *encoder, limit *menu.GroupLimit) {
		e.text("id", limit.GroupID)
		e.Name("minCount")
		e.Int(int64(limit.Min))
		e.Name("maxCount")
		if limit.Max < 0 {
			e.Raw("null")
			return
		}
		e.Int(int64(limit.Max))
	})
}

func (e *encoder) group(g *menu.Group) {
	e.text("id", g.ID)
	e.text("name", g.Name)
	e.texts("ingredients", g.Ingredients)
}

func (e *encoder) ingredient(in *menu.Ingredient) {
	e.text("id", in.ID)
	e.optional("externalId", in.ExternalID)
	e.text("name", in.Name)
	e.price(in.Price, in.PriceInvalid)
	e.optional("schemeId", in.SchemeID)
	e.text("description", in.Description)
	e.texts("imageUrls", in.ImageURLs)
	e.measure(in.Measure)
	e.stop(in.Stop)
}
