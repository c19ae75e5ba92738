package menu

import "github.com/shopspring/decimal"

// press packs dishes or ingredients one behind the other, each as an Entry
// reads it. It keeps nothing of the view.
type press struct {
	packed  []byte
	numbers map[decimal.Decimal]Number // Decode gives most equal numbers as one
}

// mostNumbersKnown bounds the table of numbers: most prices come early and often.
const mostNumbersKnown = 224

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
	to.begin(p.PriceBad, p.ExternalID != "", p.Measure != nil, p.Nutrition != nil)
	to.texts(p.ID, p.ExternalID, p.Name)
	to.offer(p.Price, p.Description, p.Measure, p.ImageURLs)
	if n := p.Nutrition; n != nil {
		for _, value := range [...]*decimal.NullDecimal{&n.Calories, &n.EnergyValue, &n.Proteins, &n.Fats, &n.Carbohydrates} {
			if value.Valid {
				to.number(value.Decimal)
			} else {
				to.packed = append(to.packed, numberAbsent)
			}
		}
	}
}

func (in *Ingredient) pack(to *press) {
	to.begin(in.PriceBad, in.ExternalID != "", in.Measure != nil, false)
	to.texts(in.ID, in.ExternalID, in.Name)
	to.offer(in.Price, in.Description, in.Measure, in.ImageURLs)
}

func (p *press) begin(priceBad, named, measured, nutritious bool) {
	var has byte
	for _, fact := range [...]struct {
		so   bool
		flag byte
	}{{priceBad, entryPriceBad}, {named, entryNamed}, {measured, entryMeasured}, {nutritious, entryNutritious}} {
		if fact.so {
			has |= fact.flag
		}
	}
	p.packed = append(p.packed, has)
}

func (p *press) offer(price decimal.Decimal, description string, m *Measure, images []string) {
	p.number(price)
	p.texts(description)
	if m != nil {
		p.number(m.Value)
		p.texts(m.Unit)
	}
	p.count(uint64(len(images)))
	p.texts(images...)
}

func (p *press) texts(all ...string) {
	for _, text := range all {
		p.count(uint64(len(text)))
		p.packed = append(p.packed, text...)
	}
}

// count writes seven bits a byte, the low ones first.
func (p *press) count(n uint64) {
	for ; n >= 0x80; n >>= 7 {
		p.packed = append(p.packed, byte(n)|0x80)
	}
	p.packed = append(p.packed, byte(n))
}

func (p *press) number(d decimal.Decimal) {
	n, again := p.numbers[d]
	if !again {
		if n = NumberOf(d); len(p.numbers) < mostNumbersKnown {
			p.numbers[d] = n
		}
	}
	if n.wide == nil {
		p.packed = append(p.packed, byte(n.places)) //nolint:gosec // 0 to plainDigits
		p.count(fold(n.units))
		return
	}
	p.packed = append(p.packed, numberWide)
	p.count(fold(int64(d.Exponent())))
	p.texts(d.Coefficient().String())
}

// fold lays signed numbers out so that small ones of either sign are short;
// unfold is its inverse.
func fold(n int64) uint64 { return uint64(n)<<1 ^ uint64(n>>63) } //nolint:gosec // all bits are meant

func unfold(n uint64) int64 { return int64(n>>1) ^ -int64(n&1) }
