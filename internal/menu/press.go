package menu

import "github.com/shopspring/decimal"

// press packs dishes or ingredients one behind the other, each as an Entry
// reads it, and what is told of them beside it. It keeps nothing of the view.
type press struct {
	packed []byte
	told   []byte
}

// packable is a dish or an ingredient.
type packable[T any] interface {
	*T
	names() (id, externalID string)
	size() int // in bytes, about
	pack(p *press)
}

func (p *Product) names() (id, externalID string)     { return p.ID, p.ExternalID }
func (in *Ingredient) names() (id, externalID string) { return in.ID, in.ExternalID }

func (p *Product) size() int {
	return textSize(p.ImageURLs, p.ID, p.ExternalID, p.Name, p.Description)
}

func (in *Ingredient) size() int {
	return textSize(in.ImageURLs, in.ID, in.ExternalID, in.Name, in.Description)
}

func textSize(images []string, texts ...string) int {
	const beside = 48 // lengths, numbers and the unit
	size := beside
	for _, text := range texts {
		size += len(text)
	}
	for _, image := range images {
		size += len(image) + 1
	}
	return size
}

func (p *Product) pack(to *press) {
	to.begin(p.PriceBad, p.Measure != nil, p.Description != "" || len(p.ImageURLs) > 0 || p.Nutrition != nil)
	to.name(p.ID, p.ExternalID, p.Name)
	to.offer(p.Price, p.Measure)
	to.tell(p.Description, p.ImageURLs, p.Nutrition)
}

func (in *Ingredient) pack(to *press) {
	to.begin(in.PriceBad, in.Measure != nil, in.Description != "" || len(in.ImageURLs) > 0)
	to.name(in.ID, in.ExternalID, in.Name)
	to.offer(in.Price, in.Measure)
	to.tell(in.Description, in.ImageURLs, nil)
}

func (p *press) begin(priceBad, measured, told bool) {
	var has byte
	for _, fact := range [...]struct {
		so   bool
		flag byte
	}{{priceBad, entryPriceBad}, {measured, entryMeasured}, {told, entryTold}} {
		if fact.so {
			has |= fact.flag
		}
	}
	p.packed = append(p.packed, has)
}

// name follows begin, and says in the first byte what externalId there is.
func (p *press) name(id, external, name string) {
	first := len(p.packed) - 1
	p.packed = appendText(p.packed, id)
	if external != "" {
		p.packed[first] |= entryNamed
	}
	if guid, ok := packGUID(external); ok {
		p.packed[first] |= entryGUID
		p.packed = append(p.packed, guid[:]...)
	} else {
		p.packed = appendText(p.packed, external)
	}
	p.packed = appendText(p.packed, name)
}

func (p *press) offer(price decimal.Decimal, m *Measure) {
	p.packed = appendNumber(p.packed, price)
	if m != nil {
		p.packed = appendNumber(p.packed, m.Value)
		p.packed = appendText(p.packed, m.Unit)
	}
}

// tell writes what readTold reads: nothing, where there is nothing to tell.
func (p *press) tell(description string, images []string, n *Nutrition) {
	if description == "" && len(images) == 0 && n == nil {
		return
	}
	p.told = appendText(p.told, description)
	p.told = appendCount(p.told, uint64(len(images)))
	for _, image := range images {
		p.told = appendText(p.told, image)
	}
	if n == nil {
		return
	}
	for _, value := range [...]*decimal.NullDecimal{&n.Calories, &n.EnergyValue, &n.Proteins, &n.Fats, &n.Carbohydrates} {
		if value.Valid {
			p.told = appendNumber(p.told, value.Decimal)
		} else {
			p.told = append(p.told, numberAbsent)
		}
	}
}

func appendText(to []byte, text string) []byte {
	return append(appendCount(to, uint64(len(text))), text...)
}

// appendCount writes seven bits a byte, the low ones first.
func appendCount(to []byte, n uint64) []byte {
	for ; n >= 0x80; n >>= 7 {
		to = append(to, byte(n)|0x80)
	}
	return append(to, byte(n))
}

func appendNumber(to []byte, d decimal.Decimal) []byte {
	n := NumberOf(d)
	if n.wide == nil {
		to = append(to, byte(n.places)) //nolint:gosec // 0 to plainDigits
		return appendCount(to, fold(n.units))
	}
	to = appendCount(append(to, numberWide), fold(int64(d.Exponent())))
	return appendText(to, d.Coefficient().String())
}

// fold lays signed numbers out so that small ones of either sign are short;
// unfold is its inverse.
func fold(n int64) uint64 { return uint64(n)<<1 ^ uint64(n>>63) } //nolint:gosec // all bits are meant

func unfold(n uint64) int64 { return int64(n>>1) ^ -int64(n&1) }
