package menu

import (
	"math/big"

	"github.com/shopspring/decimal"

	"larder.local/internal/jsontext"
)

// Entry is one dish or ingredient of a Content. It is a part of a packed string; each method
// decodes its value. Methods that return a text of the menu or a boolean do not allocate. The texts
// are parts of the content's string and keep it in memory.
type Entry struct{ packed string }

// Bits of the first byte of an entry.
const (
	entryPriceInvalid byte = 1 << iota
	entryExternalID        // an externalId
	entryMeasure
	entryDetailed // a description, pictures or nutrition
)

// ID is the menu's id; it is unique in its table.
func (e Entry) ID() string {
	r := e.read()
	return r.text()
}

// ExternalID is the id of the POS; it may be empty.
func (e Entry) ExternalID() string {
	r := e.read()
	r.text()
	return r.text()
}

// Name is the name for guests.
func (e Entry) Name() string {
	r := e.read()
	r.text()
	r.text()
	return r.text()
}

// PriceInvalid reports whether there is no valid price.
func (e Entry) PriceInvalid() bool { return e.packed[0]&entryPriceInvalid != 0 }

func (e Entry) hasExternalID() bool { return e.packed[0]&entryExternalID != 0 }

// hasMeasure reports whether Measure is not nil.
func (e Entry) hasMeasure() bool { return e.packed[0]&entryMeasure != 0 }

// Price is the exact price in the restaurant's currency; it is 0 if PriceInvalid.
func (e Entry) Price() decimal.Decimal { return e.priceNumber().Decimal() }

func (e Entry) priceNumber() jsontext.Number {
	r := e.read()
	for range 3 { // id, external id, name
		r.text()
	}
	price, _ := r.number()
	return price
}

// Measure is the serving; it may be nil.
func (e Entry) Measure() *Measure {
	if !e.hasMeasure() {
		return nil
	}
	v := e.values()
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
	id, externalID, name string
	priceInvalid         bool
	price                jsontext.Number
	hasMeasure           bool
	measure              jsontext.Number
	unit                 string

	description string
	images      entryReader // at the first image
	imageCount  int
	nutritious  bool
	nutrition   entryReader // at the first of five numbers, if there are any
}

func (e Entry) values() values {
	r := e.read()
	v := values{hasMeasure: e.hasMeasure(), priceInvalid: e.PriceInvalid()}
	v.id = r.text()
	v.externalID = r.text()
	v.name = r.text()
	v.price, _ = r.number()
	if v.hasMeasure {
		v.measure, _ = r.number()
		v.unit = r.text()
	}
	if e.packed[0]&entryDetailed != 0 {
		v.description = r.text()
		v.imageCount = int(r.count())
		v.images = r
		for range v.imageCount {
			r.text()
		}
		v.nutrition, v.nutritious = r, r.at < len(r.packed)
	}
	return v
}

func (e Entry) read() entryReader { return entryReader{packed: e.packed, at: 1} }

// entryReader decodes the values of an entry in the order in which entrySource.appendTo encodes them.
type entryReader struct {
	packed string
	at     int
}

// count is binary.Uvarint for a string.
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
	size := int(r.count())
	r.at += size
	return r.packed[r.at-size : r.at]
}

// The special values of the first byte of a number; other values are its places, 0 to jsontext.MaxPlaces.
const (
	numberAbsent byte = jsontext.MaxPlaces + 1 + iota
	numberWide
)

// integer decodes an integer that binary.AppendVarint has encoded.
func (r *entryReader) integer() int64 {
	n := r.count()
	return int64(n>>1) ^ -int64(n&1)
}

// number decodes a number; ok is false if it is missing.
func (r *entryReader) number() (jsontext.Number, bool) {
	form := r.packed[r.at]
	r.at++
	switch form {
	case numberAbsent:
		return jsontext.Number{}, false
	case numberWide:
		exponent := r.integer()
		units, ok := new(big.Int).SetString(r.text(), 10)
		if !ok {
			return jsontext.Number{}, false
		}
		wide := decimal.NewFromBigInt(units, int32(exponent))
		return jsontext.NumberOf(wide), true
	default:
		return jsontext.FromUnits(r.integer(), int32(form)), true
	}
}
