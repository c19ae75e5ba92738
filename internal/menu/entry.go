package menu

import (
	"math/big"

	"github.com/shopspring/decimal"

	"larder/internal/jsontext"
)

// Entry is one dish or ingredient of a Content: its values stand packed in the
// text that the content has of all of them, and each method reads its own there.
// Those that return a text of the menu or a yes or no allocate nothing, but for
// ExternalID. The texts are parts of the content's and keep it from being
// collected.
type Entry struct{ packed string }

// What an entry has, in its first byte.
const (
	entryPriceInvalid byte = 1 << iota
	entryExternalID        // an externalId
	entryMeasure
	entryDetailed // a description, pictures or nutrition
	entryGUID     // the externalId is packed as one
)

// ID is the menu's id, of which the content has no second one in the same table.
func (e Entry) ID() string {
	r := e.read()
	return r.text()
}

// ExternalID is the id that the kitchen knows it by; empty where there is none.
// It allocates one that is a GUID.
func (e Entry) ExternalID() string { return e.external().text() }

func (e Entry) external() code {
	r := e.read()
	r.text()
	return e.code(&r)
}

// code reads the externalId.
func (e Entry) code(r *entryReader) code {
	if e.packed[0]&entryGUID == 0 {
		return code{packed: r.text()}
	}
	r.at += guidPacked
	return code{packed: r.packed[r.at-guidPacked : r.at], guid: true}
}

// Name is what guests know it by.
func (e Entry) Name() string {
	r := e.read()
	r.text()
	e.code(&r)
	return r.text()
}

// PriceInvalid reports whether there is no price that can be charged.
func (e Entry) PriceInvalid() bool { return e.packed[0]&entryPriceInvalid != 0 }

// hasExternalID reports whether there is an externalId.
func (e Entry) hasExternalID() bool { return e.packed[0]&entryExternalID != 0 }

// HasMeasure reports whether there is a Measure.
func (e Entry) HasMeasure() bool { return e.packed[0]&entryMeasure != 0 }

// Price is exact, in the restaurant's currency; 0 where PriceInvalid.
func (e Entry) Price() decimal.Decimal { return e.price().Decimal() }

func (e Entry) price() jsontext.Number {
	r := e.read()
	r.text()
	e.code(&r)
	r.text()
	price, _ := r.number()
	return price
}

// Measure is its serving; nil where there is none.
func (e Entry) Measure() *Measure {
	if !e.HasMeasure() {
		return nil
	}
	v := e.values()
	return &Measure{Value: v.measure.Decimal(), Unit: v.unit}
}

// values are all values of an entry.
type values struct {
	id, name     string
	externalID   code
	priceInvalid bool
	price        jsontext.Number
	hasMeasure   bool
	measure      jsontext.Number
	unit         string

	description string
	images      entryReader // before the first of them
	imageCount  int
	nutritious  bool
	nutrition   entryReader // before the first of five numbers, where it is nutritious
}

func (e Entry) values() values {
	r := e.read()
	v := values{hasMeasure: e.HasMeasure(), priceInvalid: e.PriceInvalid()}
	v.id = r.text()
	v.externalID = e.code(&r)
	v.name = r.text()
	v.price, _ = r.number()
	if v.hasMeasure {
		v.measure, _ = r.number()
		v.unit = r.text()
	}
	if e.packed[0]&entryDetailed != 0 {
		v.description = r.text()
		v.imageCount = int(r.count()) //nolint:gosec // the length of a list
		v.images = r
		for range v.imageCount {
			r.text()
		}
		v.nutrition, v.nutritious = r, r.at < len(r.packed)
	}
	return v
}

func (e Entry) read() entryReader { return entryReader{packed: e.packed, at: 1} }

// entryReader reads the values of an entry one after the other, in the order in
// which entrySource.appendTo writes them.
type entryReader struct {
	packed string
	at     int
}

func (r *entryReader) count() uint64 {
	for n, shift := uint64(0), 0; ; shift += 7 {
		c := r.packed[r.at]
		r.at++
		n |= uint64(c&0x7f) << shift
		if c < 0x80 {
			return n
		}
	}
}

func (r *entryReader) text() string {
	size := int(r.count()) //nolint:gosec // the length of a text
	r.at += size
	return r.packed[r.at-size : r.at]
}

// The forms of a number beside its places, which are 0 to jsontext.MaxPlaces.
const (
	numberAbsent byte = jsontext.MaxPlaces + 1 + iota
	numberWide
)

// number reads a number; false where there is none.
func (r *entryReader) number() (jsontext.Number, bool) {
	form := r.packed[r.at]
	r.at++
	switch form {
	case numberAbsent:
		return jsontext.Number{}, false
	case numberWide:
		exponent := unfold(r.count())
		units, ok := new(big.Int).SetString(r.text(), 10)
		if !ok {
			return jsontext.Number{}, false
		}
		wide := decimal.NewFromBigInt(units, int32(exponent)) //nolint:gosec // it was one
		return jsontext.NumberOf(wide), true
	default:
		return jsontext.FromUnits(unfold(r.count()), int32(form)), true
	}
}
