package menu

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"unicode"

	"github.com/shopspring/decimal"

	"larder.local/internal/jsontext"
)

// The codes of issues. They are also codes of lint findings.
const (
	IssueByteOrderMark    = "byte_order_mark"
	IssueNameSpelling     = "name_spelling"
	IssueUnknownField     = "unknown_field"
	IssueTypeMismatch     = "type_mismatch"
	IssueIDNotText        = "id_not_text"
	IssueNumberAsText     = "number_as_text"
	IssueDecimalComma     = "decimal_comma"
	IssueNumberInvalid    = "number_invalid"
	IssueNutritionInvalid = "nutrition_invalid"
	IssuePriceMissing     = "price_missing"
	IssuePriceNegative    = "price_negative"
	IssueCountNegative    = "count_negative"
	IssueCountFraction    = "count_fraction"
	IssueMaximumInvalid   = "maximum_invalid"
	IssueNameEmpty        = "name_empty"
	IssueReplacement      = "replacement_character"
	IssueControlCharacter = "control_character"
	IssueTextTooLong      = "text_too_long"
	IssueControlRaw       = "control_character_raw"
	IssueImageAddress     = "image_address"
	IssueNestedTooDeep    = "nested_too_deep"
	IssueNull             = "null_value"
	IssueMeasureEmpty     = "measure_empty"
	IssueStopListForm     = "stop_list_form"
)

// interfaceName returns the interface's spelling of a folded field name, or the name itself if it is unknown.
func interfaceName(folded string) string {
	for _, name := range [...]string{
		"isPossibleDelete", "haveChanges", "ingredientsSchemes", "ingredientsGroups", "parentId", "externalId", "categoryId", "schemeId",
		"imageUrls", "isContainInStopList", "isListStoped", "energyValue", "minCount", "maxCount",
	} {
		if strings.EqualFold(name, folded) {
			return name
		}
	}
	return folded
}

// null consumes a null that replaces another value, and records an issue.
func (d *decoder) null(field string) bool {
	if d.Kind() != jsontext.KindNull {
		return false
	}
	d.Skip()
	d.report(IssueNull, field, "")
	return true
}

func (d *decoder) identifier(field string) string {
	kind := d.Kind()
	start := d.Offset()
	id, ok := d.ID()
	switch {
	case !ok:
		d.report(IssueTypeMismatch, field, d.Source()[start:d.Offset()])
	case kind == jsontext.KindNumber:
		d.report(IssueIDNotText, field, id)
	}
	return d.checkText(field, id)
}

func (d *decoder) identifierList(field string) (ids []string) {
	d.list(field, func() {
		d.tail = "[]"
		if id := d.identifier(field); id != "" {
			ids = append(ids, id)
		}
		d.tail = ""
	})
	return ids
}

func (d *decoder) readText(field string) string {
	switch d.Kind() {
	case jsontext.KindString:
		s, _ := d.Text()
		return d.checkText(field, d.cutText(field, s))
	case jsontext.KindNull:
		d.Skip()
		return ""
	case jsontext.KindNumber, jsontext.KindBool:
		raw := d.Raw()
		d.report(IssueTypeMismatch, field, raw)
		return raw
	default:
		d.report(IssueTypeMismatch, field, d.Raw())
		return ""
	}
}

// The longest texts of a menu in bytes (policy W15). Messages, orders and pages repeat them.
const (
	maxNameBytes        = 2_000
	maxDescriptionBytes = 20_000
)

// cutText returns the beginning of a text that is too long, and reports it.
func (d *decoder) cutText(field, text string) string {
	most := maxNameBytes
	if strings.HasSuffix(field, ".description") {
		most = maxDescriptionBytes
	}
	if len(text) <= most || strings.HasSuffix(field, ".imageUrls") { // half an address is of no use
		return text
	}
	d.report(IssueTextTooLong, field, strconv.Itoa(len(text)))
	return strings.ToValidUTF8(text[:most], "") + "…"
}

// checkText reports characters that are lost or invisible, or that change the direction of what follows. It returns text.
func (d *decoder) checkText(field, text string) string {
	if isUsual(text) {
		return text
	}
	if strings.ContainsRune(text, unicode.ReplacementChar) {
		d.report(IssueReplacement, field, text)
	}
	for _, r := range text {
		if r >= ' ' && r < 0x7f || !unicode.IsControl(r) && !unicode.Is(unicode.Bidi_Control, r) ||
			strings.ContainsRune("\t\r\n", r) && strings.HasSuffix(field, ".description") {
			continue
		}
		d.report(IssueControlCharacter, field, fmt.Sprintf("%U in %q", r, text[:min(len(text), maxIssueValue)]))
		break
	}
	return text
}

// isUsual reports whether no character of a valid text can be one that checkText reports, from the first bytes of these.
func isUsual(text string) bool {
	for i := range len(text) {
		switch c := text[i]; {
		case c >= ' ' && c < 0x7f:
		case c < ' ', c == 0x7f, c == 0xc2, c == 0xd8, c == 0xe2, c == 0xef: // also U+0080 to U+009F, U+061C, U+200E to U+2069, U+FFFD
			return false
		}
	}
	return true
}

// name reports a name without a visible character.
func (d *decoder) name(field, name string) {
	if !strings.ContainsFunc(name, func(r rune) bool { return unicode.IsGraphic(r) && !unicode.IsSpace(r) }) {
		d.report(IssueNameEmpty, field, "")
	}
}

// readImages is readTexts for image addresses.
func (d *decoder) readImages(field string) []string {
	images := d.readTexts(field)
	for _, image := range images {
		if u, err := url.Parse(image); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.User != nil ||
			strings.Contains(image, `\`) {
			d.report(IssueImageAddress, field+"[]", image)
		}
	}
	return images
}

func (d *decoder) readTexts(field string) (texts []string) {
	switch d.Kind() {
	case jsontext.KindNull:
		d.null(field)
		return nil
	case jsontext.KindArray:
		d.tail = "[]"
		for range d.Elements() {
			if s := d.readText(field); s != "" {
				texts = append(texts, s)
			}
		}
		d.tail = ""
		return texts
	case jsontext.KindString: // one URL instead of a list
		s, _ := d.Text()
		d.report(IssueTypeMismatch, field, s)
		if s != "" {
			texts = append(texts, s)
		}
		return texts
	default:
		d.report(IssueTypeMismatch, field, d.Raw())
		return nil
	}
}

func (d *decoder) flag(field string) bool {
	switch d.Kind() {
	case jsontext.KindBool:
		value, _ := d.Bool()
		return value
	case jsontext.KindNull:
		d.Skip()
		return false
	default:
		raw := d.Raw()
		d.report(IssueTypeMismatch, field, raw)
		return strings.EqualFold(raw, `"true"`) || raw == "1" || raw == `"1"`
	}
}

// number decodes a decimal and records an issue for every form but a JSON number.
func (d *decoder) number(field string) (decimal.Decimal, jsontext.NumberState) {
	return d.numberAs(field, IssueDecimalComma, IssueNumberInvalid)
}

// numberAs is number with the codes for a decimal comma and for an invalid number.
func (d *decoder) numberAs(field, comma, invalid string) (decimal.Decimal, jsontext.NumberState) {
	kind, start := d.Kind(), d.Offset()
	number, state := d.Number()
	raw := d.Source()[start:d.Offset()]
	switch {
	case state == jsontext.NumberComma:
		d.report(comma, field, raw)
	case state == jsontext.NumberInvalid && kind != jsontext.KindString && kind != jsontext.KindNumber:
		d.report(IssueTypeMismatch, field, raw)
	case state == jsontext.NumberInvalid:
		d.report(invalid, field, raw)
	case kind == jsontext.KindString:
		d.report(IssueNumberAsText, field, raw)
	}
	if state != jsontext.NumberOK {
		return decimal.Decimal{}, state
	}
	value, known := d.decimals[number]
	if !known {
		value = number.Decimal()
		d.decimals[number] = value
	}
	return value, state
}

// price decodes the price of a dish or ingredient. bad is true if the price is null, empty or not a number, because orders
// need a valid price (policy W9a).
func (d *decoder) price(field string) (price decimal.Decimal, bad bool) {
	value, state := d.number(field)
	switch {
	case state == jsontext.NumberNull:
		d.report(IssuePriceMissing, field, "")
		return decimal.Decimal{}, true
	case state != jsontext.NumberOK:
		return decimal.Decimal{}, true
	}
	return value, false
}

// count decodes minCount or maxCount; none means no limit. A missing or negative one is no limit, whatever a maximum of 0
// means (policy M2). A maximum with a fraction is rounded down, but not below 1 (policy W17). ok is false if the value
// is invalid or implausible.
func (d *decoder) count(field string, none int) (n int, ok bool) {
	value, state := d.number(field)
	whole := value.IsInteger()
	switch {
	case state != jsontext.NumberOK:
		return none, state == jsontext.NumberNull
	case value.IsNegative():
		d.report(IssueCountNegative, field, value.String())
		return none, true
	case value.GreaterThan(maxCount), !whole && none != Unlimited:
		d.report(IssueNumberInvalid, field, value.String())
		return none, false
	case !whole:
		d.report(IssueCountFraction, field, value.String())
		return max(int(value.IntPart()), 1), true
	}
	return int(value.IntPart()), true
}

// maxCount is the largest plausible limit.
var maxCount = decimal.NewFromInt(1_000_000) //nolint:gochecknoglobals // constant

// measure decodes a serving; null and a serving without a value are nil (policy W6).
func (d *decoder) measure(field string) *Measure {
	if d.Kind() == jsontext.KindNull {
		d.Skip()
		return nil
	}
	if d.Kind() != jsontext.KindObject {
		d.report(IssueTypeMismatch, field, d.Raw())
		return nil
	}
	var m Measure
	state := jsontext.NumberNull
	for name := range d.Members() {
		switch d.fieldName(name).folded {
		case "value":
			d.tail = ".value"
			m.Value, state = d.number(field)
		case "unit":
			d.tail = ".unit"
			m.Unit = d.readText(field)
		default:
			d.report(IssueUnknownField, field+"."+name, "")
		}
		d.tail = ""
	}
	if state != jsontext.NumberOK {
		d.report(IssueMeasureEmpty, field, m.Unit)
		return nil
	}
	return &m
}

// nutrition decodes one nutritional value.
func (d *decoder) nutrition(folded string, n *Nutrition) bool {
	var into *decimal.NullDecimal
	var field string
	switch folded {
	case "calories":
		into, field = &n.Calories, "products[].calories"
	case "energyvalue":
		into, field = &n.EnergyValue, "products[].energyValue"
	case "proteins":
		into, field = &n.Proteins, "products[].proteins"
	case "fats":
		into, field = &n.Fats, "products[].fats"
	case "carbohydrates":
		into, field = &n.Carbohydrates, "products[].carbohydrates"
	default:
		return false
	}
	value, state := d.numberAs(field, IssueNutritionInvalid, IssueNutritionInvalid)
	*into = decimal.NullDecimal{Decimal: value, Valid: state == jsontext.NumberOK}
	return true
}
