package menu

import (
	"encoding/binary"

	"github.com/shopspring/decimal"

	"larder.local/internal/jsontext"
)

// entrySource is the source of an Entry: a dish or an ingredient of a view.
type entrySource struct {
	id, externalID, name string
	price                decimal.Decimal
	priceInvalid         bool
	measure              *Measure
	description          string
	imageURLs            []string
	nutrition            *Nutrition
}

func (p *Product) source() entrySource {
	return entrySource{p.ID, p.ExternalID, p.Name, p.Price, p.PriceInvalid, p.Measure, p.Description, p.ImageURLs, p.Nutrition}
}

// appendTo encodes the entry for an entryReader. The values that orders need come first.
func (s *entrySource) appendTo(to []byte) []byte {
	detailed := s.description != "" || len(s.imageURLs) > 0 || s.nutrition != nil
	has := flag(s.priceInvalid, entryPriceInvalid) | flag(s.externalID != "", entryExternalID) |
		flag(s.measure != nil, entryMeasure) | flag(detailed, entryDetailed)
	to = appendText(appendText(append(to, has), s.id), s.externalID)
	to = appendNumber(appendText(to, s.name), s.price)
	if s.measure != nil {
		to = appendText(appendNumber(to, s.measure.Value), s.measure.Unit)
	}
	if detailed {
		to = s.appendDetails(to)
	}
	return to
}

func flag(on bool, bit byte) byte {
	if on {
		return bit
	}
	return 0
}

func (s *entrySource) appendDetails(to []byte) []byte {
	to = binary.AppendUvarint(appendText(to, s.description), uint64(len(s.imageURLs)))
	for _, image := range s.imageURLs {
		to = appendText(to, image)
	}
	n := s.nutrition
	if n == nil {
		return to
	}
	for _, value := range [...]*decimal.NullDecimal{&n.Calories, &n.EnergyValue, &n.Proteins, &n.Fats, &n.Carbohydrates} {
		if value.Valid {
			to = appendNumber(to, value.Decimal)
		} else {
			to = append(to, numberAbsent)
		}
	}
	return to
}

func appendText(to []byte, text string) []byte {
	return append(binary.AppendUvarint(to, uint64(len(text))), text...)
}

func appendNumber(to []byte, d decimal.Decimal) []byte {
	if units, places, ok := jsontext.NumberOf(d).Units(); ok {
		to = append(to, byte(places))
		return binary.AppendVarint(to, units)
	}
	to = binary.AppendVarint(append(to, numberWide), int64(d.Exponent()))
	return appendText(to, d.Coefficient().String())
}
