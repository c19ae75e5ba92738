package menu

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"unicode/utf8"

	"github.com/shopspring/decimal"
)

// formatNumber changes when the form of a Published's Content or what is
// compiled from it changes, so that no replica reads a content it would
// understand otherwise (policy S3).
const formatNumber = 4

// ContentHash names a content: the hex SHA-256 over the format number, the
// settings that compile and lint read, and the bytes of a Published's Content.
func ContentHash(content []byte, s Settings) string {
	h := sha256.New()
	head := strconv.AppendInt(nil, formatNumber, 10)
	for _, on := range []bool{s.MaxZeroNone, s.StopListAnyValue, s.RefuseMissingExternalID} {
		head = strconv.AppendBool(append(head, ' '), on)
	}
	head = strconv.AppendInt(append(head, ' '), int64(s.depth()), 10)
	h.Write(append(head, '\n'))
	h.Write(content)
	return hex.EncodeToString(h.Sum(nil))
}

// EncodeView gives the canonical form of a view: the interface's names in the
// interface's order, strict types, exact decimals, no white space, unknown
// members last and sorted. Decode of it gives the view again.
func EncodeView(v *View) []byte {
	e := encoder{dst: make([]byte, 0, 256+len(v.Products)*640+len(v.Ingredients)*320)}
	e.open()
	e.text("name", v.Name)
	e.flag("isPossibleDelete", v.IsPossibleDelete)
	e.flag("haveChanges", v.HaveChanges)
	encodeAll(&e, "categories", v.Categories, (*encoder).category)
	encodeAll(&e, "products", v.Products, (*encoder).product)
	encodeAll(&e, "ingredientsSchemes", v.Schemes, (*encoder).scheme)
	encodeAll(&e, "ingredientsGroups", v.Groups, (*encoder).group)
	encodeAll(&e, "ingredients", v.Ingredients, (*encoder).ingredient)
	e.extra(v.Extra)
	e.close()
	return e.dst
}

// encoder appends canonical JSON: members in the order of the calls.
type encoder struct {
	dst  []byte
	more bool // a member stands before the next one
}

func (e *encoder) open()  { e.dst, e.more = append(e.dst, '{'), false }
func (e *encoder) close() { e.dst, e.more = append(e.dst, '}'), true }

func (e *encoder) key(name string) {
	if e.more {
		e.dst = append(e.dst, ',')
	}
	e.more = true
	e.dst = append(AppendString(e.dst, name), ':')
}

func (e *encoder) text(name, value string) {
	e.key(name)
	e.dst = AppendString(e.dst, value)
}

// optional is text with null for the empty one.
func (e *encoder) optional(name, value string) {
	e.key(name)
	e.dst = appendOptional(e.dst, value)
}

func (e *encoder) flag(name string, value bool) {
	e.key(name)
	e.dst = strconv.AppendBool(e.dst, value)
}

func (e *encoder) count(name string, value int) {
	e.key(name)
	e.dst = strconv.AppendInt(e.dst, int64(value), 10)
}

func (e *encoder) maximum(name string, value int) {
	if value < 0 {
		e.key(name)
		e.dst = append(e.dst, "null"...)
		return
	}
	e.count(name, value)
}

func (e *encoder) texts(name string, values []string) {
	e.key(name)
	e.dst = appendStrings(e.dst, values)
}

func (e *encoder) price(value decimal.Decimal, bad bool) {
	e.key("price")
	if bad {
		e.dst = append(e.dst, `"?"`...) // a number that none can take for a price
		return
	}
	e.dst = AppendDecimal(e.dst, value)
}

func (e *encoder) stop(list StopList) {
	if list.All {
		e.flag("isContainInStopList", true)
		return
	}
	e.texts("isContainInStopList", list.IDs)
}

func (e *encoder) extra(extra Extra) {
	for _, field := range extra {
		e.key(field.Name)
		e.dst = append(e.dst, field.Value...)
	}
}

func encodeAll[T any](e *encoder, name string, all []T, one func(*encoder, *T)) {
	e.key(name)
	e.dst = append(e.dst, '[')
	for i := range all {
		if i > 0 {
			e.dst = append(e.dst, ',')
		}
		e.open()
		one(e, &all[i])
		e.close()
	}
	e.dst = append(e.dst, ']')
	e.more = true
}

func (e *encoder) category(c *Category) {
	e.text("id", c.ID)
	e.text("name", c.Name)
	e.optional("parentId", c.ParentID)
	e.extra(c.Extra)
}

func (e *encoder) product(p *Product) {
	e.text("id", p.ID)
	e.optional("externalId", p.ExternalID)
	e.optional("categoryId", p.CategoryID)
	e.text("name", p.Name)
	e.price(p.Price, p.PriceBad)
	e.optional("schemeId", p.SchemeID)
	e.text("description", p.Description)
	e.texts("imageUrls", p.ImageURLs)
	e.key("measure")
	e.dst = appendMeasure(e.dst, p.Measure)
	e.stop(p.Stop)
	if n := p.Nutrition; n != nil {
		e.nutrition("calories", n.Calories)
		e.nutrition("energyValue", n.EnergyValue)
		e.nutrition("proteins", n.Proteins)
		e.nutrition("fats", n.Fats)
		e.nutrition("carbohydrates", n.Carbohydrates)
	}
	e.extra(p.Extra)
}

func (e *encoder) nutrition(name string, value decimal.NullDecimal) {
	e.key(name)
	e.dst = appendNullDecimal(e.dst, value)
}

func (e *encoder) scheme(s *Scheme) {
	e.text("id", s.ID)
	encodeAll(e, "ingredientsGroups", s.Groups, func(e *encoder, limit *GroupLimit) {
		e.text("id", limit.GroupID)
		e.count("minCount", limit.Min)
		e.maximum("maxCount", limit.Max)
		e.extra(limit.Extra)
	})
	e.extra(s.Extra)
}

func (e *encoder) group(g *Group) {
	e.text("id", g.ID)
	e.text("name", g.Name)
	e.texts("ingredients", g.Ingredients)
	e.extra(g.Extra)
}

func (e *encoder) ingredient(in *Ingredient) {
	e.text("id", in.ID)
	e.optional("externalId", in.ExternalID)
	e.text("name", in.Name)
	e.price(in.Price, in.PriceBad)
	e.optional("schemeId", in.SchemeID)
	e.text("description", in.Description)
	e.texts("imageUrls", in.ImageURLs)
	e.key("measure")
	e.dst = appendMeasure(e.dst, in.Measure)
	e.stop(in.Stop)
	e.extra(in.Extra)
}

// AppendString appends s as a JSON string, escaping no more than JSON asks for;
// bytes that are no UTF-8 become U+FFFD.
func AppendString(dst []byte, s string) []byte {
	const hexDigits = "0123456789abcdef"
	dst = append(dst, '"')
	start := 0
	for i := pastASCII(s, 0); i < len(s); {
		c := s[i]
		if c < utf8.RuneSelf {
			if c >= ' ' && c != '"' && c != '\\' {
				i++
				continue
			}
			dst = append(dst, s[start:i]...)
			switch c {
			case '"', '\\':
				dst = append(dst, '\\', c)
			case '\n':
				dst = append(dst, '\\', 'n')
			case '\r':
				dst = append(dst, '\\', 'r')
			case '\t':
				dst = append(dst, '\\', 't')
			default:
				dst = append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
			}
			i++
			start = i
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && size == 1 {
			dst = append(append(dst, s[start:i]...), "\ufffd"...)
			i++
			start = i
			continue
		}
		i += size
	}
	return append(append(dst, s[start:]...), '"')
}

func appendOptional(dst []byte, s string) []byte {
	if s == "" {
		return append(dst, "null"...)
	}
	return AppendString(dst, s)
}

func appendStrings(dst []byte, all []string) []byte {
	dst = append(dst, '[')
	for i, s := range all {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = AppendString(dst, s)
	}
	return append(dst, ']')
}

func appendMeasure(dst []byte, m *Measure) []byte {
	if m == nil {
		return append(dst, "null"...)
	}
	dst = AppendDecimal(append(dst, `{"value":`...), m.Value)
	return append(appendOptional(append(dst, `,"unit":`...), m.Unit), '}')
}

func appendNullDecimal(dst []byte, d decimal.NullDecimal) []byte {
	if !d.Valid {
		return append(dst, "null"...)
	}
	return AppendDecimal(dst, d.Decimal)
}
