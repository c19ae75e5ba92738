package menu

import (
	"encoding/binary"
	"regexp"
	"strconv"

	"github.com/shopspring/decimal"

	"larder.local/internal/jsontext"
)

// Entry is one dish or ingredient of a Content. It is a part of a packed string; each method
// decodes its value. Methods that return a text of the menu or a boolean do not allocate. The texts
// are parts of the content's string and keep it in memory.
type Entry struct{ packed string }

// ID is the menu's id; it is unique in its table.
func (e Entry) ID() string { return e.text(0) }

// ExternalID is the id of the POS; it may be empty.
func (e Entry) ExternalID() string { return e.text(1) }

// Name is the name for guests.
func (e Entry) Name() string { return e.text(2) }

func (e Entry) text(at int) string {
	r := e.read()
	for range at {
		r.text()
	}
	return r.text()
}

// PriceInvalid reports whether there is no valid price.
func (e Entry) PriceInvalid() bool { return e.packed[0] != 0 }

// Price is the exact price in the restaurant's currency; it is 0 if PriceInvalid.
func (e Entry) Price() decimal.Decimal { return e.values().price.Decimal() }

// Measure is the serving; it may be nil.
func (e Entry) Measure() *Measure {
	v := e.values()
	if !v.hasMeasure {
		return nil
	}
	return &Measure{Value: v.measure.Decimal(), Unit: v.unit}
}

// Details returns the description for guests and the address of the first picture (see SafePicture); each may be empty.
func (e Entry) Details() (description, picture string) {
	v := e.values()
	if v.imageCount > 0 {
		picture = SafePicture(v.images.text())
	}
	return v.description, picture
}

// values are all values of an entry.
type values struct {
	Entry

	id, externalID, name string
	price, measure       jsontext.Number
	hasMeasure           bool
	unit                 string

	description string
	images      entryReader // at the first image
	imageCount  int
	nutritious  bool
	nutrition   entryReader // at the first of five numbers, if there are any
}

func (e Entry) values() values {
	r := e.read()
	v := values{Entry: e}
	v.id = r.text()
	v.externalID = r.text()
	v.name = r.text()
	v.price, _ = r.number()
	if v.measure, v.hasMeasure = r.number(); v.hasMeasure {
		v.unit = r.text()
	}
	v.description = r.text()
	v.imageCount = int(r.count())
	v.images = r
	for range v.imageCount {
		r.text()
	}
	v.nutrition, v.nutritious = r, r.at < len(r.packed)
	return v
}

func (e Entry) read() entryReader { return entryReader{packed: e.packed, at: 1} }

// entryReader decodes the values of an entry in the order in which Product.appendPacked encodes them.
type entryReader struct {
	packed string
	at     int
}

func (r *entryReader) count() uint64 {
	n, size := binary.Uvarint([]byte(r.packed[r.at:])) // without a copy
	r.at += size
	return n
}

func (r *entryReader) text() string {
	size := int(r.count())
	r.at += size
	return r.packed[r.at-size : r.at]
}

// numberText is the first byte of a number that follows as a text, which is empty for a missing number. Other values
// are the number's places, 0 to jsontext.MaxPlaces, and a varint follows.
const numberText byte = jsontext.MaxPlaces + 1

// number decodes a number; ok is false if it is missing.
func (r *entryReader) number() (n jsontext.Number, ok bool) {
	form := r.packed[r.at]
	r.at++
	if form == numberText {
		text := r.text()
		if text == "" {
			return jsontext.Number{}, false
		}
		return jsontext.NumberOf(decimal.RequireFromString(text)), true
	}
	units, size := binary.Varint([]byte(r.packed[r.at:]))
	r.at += size
	return jsontext.FromUnits(units, int32(form)), true
}

// appendPacked encodes the dish or ingredient as an Entry. The values that orders need come first.
func (p *Product) appendPacked(to []byte) []byte {
	invalid := byte(0)
	if p.PriceInvalid {
		invalid = 1
	}
	to = appendText(appendText(append(to, invalid), p.ID), p.ExternalID)
	to = appendNumber(appendText(to, p.Name), decimal.NewNullDecimal(p.Price))
	if p.Measure != nil {
		to = appendText(appendNumber(to, decimal.NewNullDecimal(p.Measure.Value)), p.Measure.Unit)
	} else {
		to = appendNumber(to, decimal.NullDecimal{})
	}
	to = binary.AppendUvarint(appendText(to, p.Description), uint64(len(p.ImageURLs)))
	for _, image := range p.ImageURLs {
		to = appendText(to, image)
	}
	if n := p.Nutrition; n != nil {
		for _, value := range [...]decimal.NullDecimal{n.Calories, n.EnergyValue, n.Proteins, n.Fats, n.Carbohydrates} {
			to = appendNumber(to, value)
		}
	}
	return to
}

func appendText(to []byte, text string) []byte {
	return append(binary.AppendUvarint(to, uint64(len(text))), text...)
}

func appendNumber(to []byte, d decimal.NullDecimal) []byte {
	if !d.Valid {
		return appendText(append(to, numberText), "")
	}
	if units, places, ok := jsontext.NumberOf(d.Decimal).Units(); ok {
		return binary.AppendVarint(append(to, byte(places)), units)
	}
	return appendText(append(to, numberText), d.Decimal.Coefficient().String()+"e"+strconv.Itoa(int(d.Decimal.Exponent())))
}

var (
	// foreignPicture matches http(s) addresses with a host and without a user.
	foreignPicture = regexp.MustCompile(`^(?i:https?)://[\w.-]+(:\d+)?([/?#][^\p{Cc}\p{Cf}\\]*)?$`)
	// ownPicture matches paths on the page's own origin.
	ownPicture = regexp.MustCompile(`^(/[^/\p{Cc}\p{Cf}\\]+)+$`)
	dotSegment = regexp.MustCompile(`(?i)/(\.|%2e)`)
)

// SafePicture returns the address of a picture, or "" if a page must not contain it (policy H13). picture.ts has the same
// rule for browsers.
func SafePicture(address string) string {
	if foreignPicture.MatchString(address) || ownPicture.MatchString(address) && !dotSegment.MatchString(address) {
		return address
	}
	return ""
}
