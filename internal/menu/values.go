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

// null consumes a null that replaces another value, and records an issue.
func (d *decoder) null() bool {
	if d.Kind() != jsontext.KindNull {
		return false
	}
	d.Skip()
	d.report(IssueNull, "")
	return true
}

func (d *decoder) identifier() string {
	kind, start := d.Kind(), d.Offset()
	id, ok := d.ID()
	switch {
	case !ok:
		d.report(IssueTypeMismatch, d.Source()[start:d.Offset()])
	case kind == jsontext.KindNumber:
		d.report(IssueIDNotText, id)
	}
	return d.checkText(id)
}

func (d *decoder) readText() string {
	switch d.Kind() {
	case jsontext.KindString:
		s, _ := d.Text()
		return d.checkText(d.cutText(s))
	case jsontext.KindNull:
		d.Skip()
		return ""
	case jsontext.KindNumber, jsontext.KindBool:
		raw := d.Raw()
		d.report(IssueTypeMismatch, raw)
		return raw
	default:
		d.report(IssueTypeMismatch, d.Raw())
		return ""
	}
}

// The longest texts of a menu in bytes (policy W15). Messages, orders and pages repeat them.
const (
	maxNameBytes        = 2_000
	maxDescriptionBytes = 20_000
)

// cutText returns the beginning of a text that is too long, and reports it.
func (d *decoder) cutText(text string) string {
	most := maxNameBytes
	if d.field == "description" {
		most = maxDescriptionBytes
	}
	if len(text) <= most || d.field == "imageUrls" { // half an address is of no use
		return text
	}
	d.report(IssueTextTooLong, strconv.Itoa(len(text)))
	return strings.ToValidUTF8(text[:most], "") + "…"
}

// checkText reports characters that are lost or invisible, or that change the direction of what follows. It returns text.
func (d *decoder) checkText(text string) string {
	if isUsual(text) {
		return text
	}
	if strings.ContainsRune(text, unicode.ReplacementChar) {
		d.report(IssueReplacement, text)
	}
	for _, r := range text {
		if r >= ' ' && r < 0x7f || !unicode.IsControl(r) && !unicode.Is(unicode.Bidi_Control, r) ||
			strings.ContainsRune("\t\r\n", r) && d.field == "description" {
			continue
		}
		d.report(IssueControlCharacter, fmt.Sprintf("%U in %q", r, text[:min(len(text), maxIssueValue)]))
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

// named reports a name without a visible character. It returns the id of the element with the name.
func (d *decoder) named(name, id string) string {
	if !strings.ContainsFunc(name, func(r rune) bool { return unicode.IsGraphic(r) && !unicode.IsSpace(r) }) {
		d.field = "name"
		d.report(IssueNameEmpty, "")
	}
	return id
}

// images decodes image addresses.
func (d *decoder) images() (images []string) {
	add := func(image string) {
		if image != "" {
			images = append(images, image)
		}
	}
	switch d.Kind() {
	case jsontext.KindNull:
		d.null()
	case jsontext.KindArray:
		d.each(func() { add(d.readText()) })
	case jsontext.KindString: // one URL instead of a list
		s, _ := d.Text()
		d.report(IssueTypeMismatch, s)
		add(s)
	default:
		d.report(IssueTypeMismatch, d.Raw())
	}
	d.tail = "[]"
	for _, image := range images {
		if u, err := url.Parse(image); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.User != nil ||
			strings.Contains(image, `\`) {
			d.report(IssueImageAddress, image)
		}
	}
	d.tail = ""
	return images
}

func (d *decoder) flag() bool {
	switch d.Kind() {
	case jsontext.KindBool:
		value, _ := d.Bool()
		return value
	case jsontext.KindNull:
		d.Skip()
		return false
	default:
		raw := d.Raw()
		d.report(IssueTypeMismatch, raw)
		return strings.EqualFold(raw, `"true"`) || raw == "1" || raw == `"1"`
	}
}

// number decodes a decimal and records an issue for every form but a JSON number. comma and invalid are the codes for a
// decimal comma and for an invalid number.
func (d *decoder) number(comma, invalid string) (decimal.Decimal, jsontext.NumberState) {
	kind, start := d.Kind(), d.Offset()
	number, state := d.Number()
	raw := d.Source()[start:d.Offset()]
	switch {
	case state == jsontext.NumberComma:
		d.report(comma, raw)
	case state == jsontext.NumberInvalid && kind != jsontext.KindString && kind != jsontext.KindNumber:
		d.report(IssueTypeMismatch, raw)
	case state == jsontext.NumberInvalid:
		d.report(invalid, raw)
	case kind == jsontext.KindString:
		d.report(IssueNumberAsText, raw)
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
func (d *decoder) price() (price decimal.Decimal, bad bool) {
	value, state := d.number(IssueDecimalComma, IssueNumberInvalid)
	if state == jsontext.NumberNull {
		d.report(IssuePriceMissing, "")
	}
	return value, state != jsontext.NumberOK
}

// count decodes minCount or maxCount; none means no limit. A missing or negative one is no limit, whatever a maximum of 0
// means (policy M2). A maximum with a fraction is rounded down, but not below 1 (policy W17). It returns invalid if the
// value is invalid or implausible.
func (d *decoder) count(none, invalid int) int {
	value, state := d.number(IssueDecimalComma, IssueNumberInvalid)
	whole := value.IsInteger()
	switch {
	case state == jsontext.NumberNull:
		return none
	case state != jsontext.NumberOK:
		return invalid
	case value.IsNegative():
		d.report(IssueCountNegative, value.String())
		return none
	case value.GreaterThan(maxCount), !whole && none != Unlimited:
		d.report(IssueNumberInvalid, value.String())
		return invalid
	case !whole:
		d.report(IssueCountFraction, value.String())
		return max(int(value.IntPart()), 1)
	}
	return int(value.IntPart())
}

// maxCount is the largest plausible limit.
var maxCount = decimal.NewFromInt(1_000_000) //nolint:gochecknoglobals // constant

// measure decodes a serving; null and a serving without a value are nil (policy W6).
func (d *decoder) measure() *Measure {
	switch d.Kind() {
	case jsontext.KindObject:
	case jsontext.KindNull:
		d.Skip()
		return nil
	default:
		d.report(IssueTypeMismatch, d.Raw())
		return nil
	}
	var m Measure
	state := jsontext.NumberNull
	for name := range d.Members() {
		switch jsontext.FoldName(name) {
		case "value":
			d.tail = ".value"
			m.Value, state = d.number(IssueDecimalComma, IssueNumberInvalid)
		case "unit":
			d.tail = ".unit"
			m.Unit = d.readText()
		default:
			d.tail = "." + name
			d.report(IssueUnknownField, "")
		}
		d.tail = ""
	}
	if state != jsontext.NumberOK {
		d.report(IssueMeasureEmpty, m.Unit)
		return nil
	}
	return &m
}

// stopList decodes a stop list, which may also be a boolean or one restaurant id (policy W7).
func (d *decoder) stopList(list *StopList) {
	switch d.Kind() {
	case jsontext.KindArray:
		d.each(func() { d.stopEntry(list) })
	case jsontext.KindNull:
		d.Skip()
	case jsontext.KindBool:
		value, _ := d.Bool()
		list.All = list.All || value
		d.report(IssueStopListForm, "")
	case jsontext.KindString:
		s, _ := d.Text()
		d.report(IssueStopListForm, s)
		switch strings.ToLower(s) {
		case "true":
			list.All = true
		case "", "false":
		default:
			list.IDs = append(list.IDs, s)
		}
	default:
		d.report(IssueStopListForm, d.Raw())
	}
}

// stopEntry decodes an element of a stop list. An invalid one is kept as its JSON text: it names no restaurant, but
// makes the list non-empty (setting stop_list_any_value).
func (d *decoder) stopEntry(list *StopList) {
	var id string
	switch d.Kind() {
	case jsontext.KindString, jsontext.KindNumber, jsontext.KindNull:
		id = d.identifier()
	default:
		id = string(jsontext.AppendCompact(nil, d.Raw(), nil))
		d.report(IssueStopListForm, id)
	}
	if id != "" {
		list.IDs = append(list.IDs, id)
	}
}
