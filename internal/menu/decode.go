package menu

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
)

// maxViewDepth bounds the nesting of a menu view's JSON.
const maxViewDepth = 64

// ShapeError says that well-formed JSON is no menu view at all.
type ShapeError struct{ Got string }

// Error names what came instead.
func (e *ShapeError) Error() string {
	return "this is no menu view: want an object with categories, products, ingredientsSchemes, ingredientsGroups and ingredients, got " + e.Got
}

// Decode reads a menu view, enveloped in {"result": …} or bare, whatever the
// spelling of its names and the form of its values (policies W3 to W8, W11).
// A value that cannot be read costs itself alone and is noted in Oddities.
// Errors: *SyntaxError where the body is no JSON, *ShapeError where the JSON
// is no menu view, *LimitError where it holds more than larder takes.
func Decode(raw []byte) (*View, error) {
	view, _, err := decodeAnswer(raw)
	return view, err
}

// decodeAnswer gives the view that an answer holds, decoded and as it stands.
func decodeAnswer(raw []byte) (view *View, inner []byte, err error) {
	body, err := Check(raw, maxViewDepth)
	if err != nil {
		return nil, nil, err
	}
	if kind := NewReader(body).Kind(); kind != KindObject {
		return nil, nil, &ShapeError{Got: "JSON " + kind.String()}
	}
	inner, ok := envelope(body)
	if !ok {
		inner = bytes.Trim(body, " \t\r\n")
	} else if kind := NewReader(inner).Kind(); kind != KindObject {
		return nil, nil, &ShapeError{Got: "a result that is JSON " + kind.String()}
	}
	view, err = decodeView(inner, len(body) != len(raw))
	return view, inner, err
}

// decodeView reads a bare view.
func decodeView(body []byte, marked bool) (*View, error) {
	d := &decoder{Reader: NewReader(body), view: &View{}}
	if marked {
		d.odd(OddByteOrderMark, "", "")
	}
	if known := d.readView(); !known {
		return nil, &ShapeError{Got: "an object with none of them"}
	}
	if err := d.checkLimits(); err != nil {
		return nil, err
	}
	return d.view, nil
}

// envelope finds the value of "result" where the object is not itself a view.
func envelope(body []byte) ([]byte, bool) {
	r := NewReader(body)
	var inner []byte
	bare := false
	r.Fields(func(_, folded string) {
		switch folded {
		case "result":
			inner = r.Raw()
		case "products", "categories":
			bare = true
		}
	})
	return inner, inner != nil && !bare
}

// decoder is the state of one Decode: the reader, and whose fields are read.
type decoder struct {
	*Reader

	view *View
	kind string // "product", …; empty for the view itself
	id   string
	pend int // oddities of the current element, whose id is not known yet

	elementCount int
}

// odd notes a value that is not as the document has it.
func (d *decoder) odd(code, field, value string) {
	if len(d.view.Oddities) >= maxOddities {
		d.view.OdditiesOmitted++
		return
	}
	if len(value) > maxOddValue {
		value = strings.ToValidUTF8(value[:maxOddValue], "") + "…"
	}
	d.view.Oddities = append(d.view.Oddities, Oddity{Code: code, Field: field, Kind: d.kind, ID: d.id, Value: value})
}

const maxOddValue = 60

// own gives the oddities of the current element their owner's id.
func (d *decoder) own(id string) {
	for i := d.pend; i < len(d.view.Oddities); i++ {
		d.view.Oddities[i].ID = id
	}
	d.pend = len(d.view.Oddities)
	d.kind = ""
}

func (d *decoder) readView() (known bool) {
	v := d.view
	d.fields("", func(folded string) bool {
		switch folded {
		case "name":
			v.Name = d.text("name")
			return true
		case "ispossibledelete":
			v.IsPossibleDelete = d.flag("isPossibleDelete")
			return true
		case "havechanges":
			v.HaveChanges = d.flag("haveChanges")
			return true
		case "categories":
			d.elements("categories", "category", func() { v.Categories = append(v.Categories, d.category()) })
		case "products":
			d.elements("products", "product", func() { v.Products = append(v.Products, d.product()) })
		case "ingredientsschemes":
			d.elements("ingredientsSchemes", "scheme", func() { v.Schemes = append(v.Schemes, d.scheme()) })
		case "ingredientsgroups":
			d.elements("ingredientsGroups", "group", func() { v.Groups = append(v.Groups, d.group()) })
		case "ingredients":
			d.elements("ingredients", "ingredient", func() { v.Ingredients = append(v.Ingredients, d.ingredient()) })
		default:
			return false
		}
		known = true
		return true
	}, &v.Extra)
	return known
}

// fields reads an object whose known members read consumes; the others are
// kept in extra. where is the path of the object, ending in a full stop.
func (d *decoder) fields(where string, read func(folded string) bool, extra *Extra) {
	d.Fields(func(name, folded string) {
		if read(folded) {
			if canonical := documentName(folded); canonical != name && canonical != "" {
				d.odd(OddNameSpelling, where+canonical, name)
			}
			return
		}
		d.odd(OddUnknownField, where+name, "")
		*extra = append(*extra, ExtraField{Name: name, Value: compact(d.Raw())})
	})
	*extra = sortExtra(*extra)
}

// sortExtra sorts by name; of a repeated name the last value counts.
func sortExtra(all Extra) Extra {
	slices.SortStableFunc(all, func(a, b ExtraField) int { return strings.Compare(a.Name, b.Name) })
	kept := all[:0]
	for i := range all {
		if i+1 == len(all) || all[i+1].Name != all[i].Name {
			kept = append(kept, all[i])
		}
	}
	return kept
}

func compact(raw []byte) []byte {
	var b bytes.Buffer
	if err := json.Compact(&b, raw); err != nil {
		return []byte("null") // cannot be: raw is part of a checked body
	}
	return b.Bytes()
}

// elements reads an array of objects, or null for none (policy W6).
func (d *decoder) elements(field, kind string, read func()) {
	if d.null(field) {
		return
	}
	if d.Kind() != KindArray {
		d.odd(OddTypeMismatch, field, string(d.Raw()))
		return
	}
	d.Array(func(int) {
		if !d.room() {
			return
		}
		d.kind, d.id, d.pend = kind, "", len(d.view.Oddities)
		if d.Kind() != KindObject {
			d.odd(OddTypeMismatch, field+"[]", string(d.Raw()))
			d.own("")
			return
		}
		read()
	})
}

func (d *decoder) category() (c Category) {
	d.fields("categories[].", func(folded string) bool {
		switch folded {
		case "id":
			c.ID = d.identifier("categories[].id")
		case "name":
			c.Name = d.text("categories[].name")
		case "parentid":
			c.ParentID = d.identifier("categories[].parentId")
		default:
			return false
		}
		return true
	}, &c.Extra)
	d.own(c.ID)
	return c
}

func (d *decoder) product() (p Product) {
	priced := false
	d.fields("products[].", func(folded string) bool {
		switch folded {
		case "id":
			p.ID = d.identifier("products[].id")
		case "externalid":
			p.ExternalID = d.identifier("products[].externalId")
		case "categoryid":
			p.CategoryID = d.identifier("products[].categoryId")
		case "name":
			p.Name = d.text("products[].name")
		case "price":
			p.Price, p.PriceBad = d.price("products[].price")
			priced = true
		case "schemeid":
			p.SchemeID = d.identifier("products[].schemeId")
		case "description":
			p.Description = d.text("products[].description")
		case "imageurls":
			p.ImageURLs = d.texts("products[].imageUrls")
		case "measure":
			p.Measure = d.measure("products[].measure")
		default:
			return d.stop("products[].", folded, &p.Stop) || d.nutrition(folded, &p)
		}
		return true
	}, &p.Extra)
	if !priced {
		p.PriceBad = true
		d.odd(OddPriceMissing, "products[].price", "")
	}
	d.own(p.ID)
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
			in.Name = d.text("ingredients[].name")
		case "price":
			in.Price, in.PriceBad = d.ingredientPrice()
		case "schemeid":
			in.SchemeID = d.identifier("ingredients[].schemeId")
		case "description":
			in.Description = d.text("ingredients[].description")
		case "imageurls":
			in.ImageURLs = d.texts("ingredients[].imageUrls")
		case "measure":
			in.Measure = d.measure("ingredients[].measure")
		default:
			return d.stop("ingredients[].", folded, &in.Stop)
		}
		return true
	}, &in.Extra)
	d.own(in.ID)
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
	}, &s.Extra)
	d.own(s.ID)
	return s
}

func (d *decoder) limits(s *Scheme) {
	const where = "ingredientsSchemes[].ingredientsGroups[]."
	if d.null("ingredientsSchemes[].ingredientsGroups") {
		return
	}
	if d.Kind() != KindArray {
		d.odd(OddTypeMismatch, "ingredientsSchemes[].ingredientsGroups", string(d.Raw()))
		return
	}
	d.Array(func(int) {
		if !d.room() {
			return
		}
		if d.Kind() != KindObject {
			d.odd(OddTypeMismatch, "ingredientsSchemes[].ingredientsGroups[]", string(d.Raw()))
			return
		}
		limit := GroupLimit{Max: Unlimited}
		d.fields(where, func(folded string) bool {
			switch folded {
			case "id":
				limit.GroupID = d.identifier(where + "id")
			case "mincount":
				limit.Min, _ = d.count(where + "minCount")
			case "maxcount":
				limit.Max = d.maximum(where + "maxCount")
			default:
				return false
			}
			return true
		}, &limit.Extra)
		s.Groups = append(s.Groups, limit)
	})
}

func (d *decoder) group() (g Group) {
	d.fields("ingredientsGroups[].", func(folded string) bool {
		switch folded {
		case "id":
			g.ID = d.identifier("ingredientsGroups[].id")
		case "name":
			g.Name = d.text("ingredientsGroups[].name")
		case "ingredients":
			g.Ingredients = d.identifiers("ingredientsGroups[].ingredients")
		default:
			return false
		}
		return true
	}, &g.Extra)
	d.own(g.ID)
	return g
}
