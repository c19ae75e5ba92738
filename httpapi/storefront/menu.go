package storefront

import (
	"strings"

	"github.com/shopspring/decimal"

	"larder.local/internal/menu"
	"larder.local/ordering/violation"
)

// maxDishes limits the dishes of one page, because phones take long to read thousands. The page links to the next one.
const maxDishes = 100

// section is one category with its dishes on this page.
type section struct {
	Name   string
	Dishes []dish
}

// dish is one dish of a section.
type dish struct {
	ID, Name, Description, Picture, Measure string
	Price                                   string // exact digits with what must be chosen; empty without a valid price
	From                                    bool   // some choices cost more
	First                                   bool   // the first entry of this dish on the page
	Weighed                                 string // the unit of the price, if the quantity is a weight or volume
	Sold                                    bool   // sold out, or not orderable for another reason
}

// pagesOf returns the number of pages of a menu, at least 1.
func pagesOf(catalogue *menu.Catalogue) int {
	if catalogue == nil {
		return 1
	}
	return max(1, (len(catalogue.Listing().Entries)+maxDishes-1)/maxDishes)
}

// sectionsOf returns the dishes of a page, from 1, in the order of the menu: each under all its categories.
func sectionsOf(catalogue *menu.Catalogue, page int, lang string) (sections []section) {
	categories, all, start := catalogue.Categories(), catalogue.Listing(), 0
	extra, seen := catalogue.LeastExtra(), map[menu.Index]bool{}
	first, last := (page-1)*maxDishes, page*maxDishes
	for at, end := range all.Ends {
		from, to := max(start, first), min(end, last)
		if start = end; from >= to {
			continue
		}
		var one section
		if at < len(categories) {
			one.Name = categories[at].Name
		}
		for _, p := range all.Entries[from:to] {
			d := dishOf(catalogue, p, extra(catalogue.ProductScheme(p)).Decimal(), lang)
			d.First, seen[p] = !seen[p], true
			one.Dishes = append(one.Dishes, d)
		}
		sections = append(sections, one)
	}
	return sections
}

// dishOf returns a dish whose options that must be chosen cost extra at least.
func dishOf(catalogue *menu.Catalogue, p menu.Index, extra decimal.Decimal, lang string) dish {
	entry := catalogue.Products().At(p)
	one := dish{
		ID:      entry.ID(),
		Name:    entry.Name(),
		Sold:    !catalogue.Orderable(p),
		From:    extra.IsPositive(),
		Measure: measureText(entry.Measure(), lang),
	}
	if size := entry.Measure(); size != nil && (size.Unit == "kg" || size.Unit == "liter") && size.Value.Equal(decimal.NewFromInt(1)) {
		one.Weighed, one.Measure = strings.ToLower(strings.TrimPrefix(one.Measure, "1\u00a0")), ""
	}
	one.Description, one.Picture = entry.Details()
	if !entry.PriceInvalid() {
		one.Price = entry.Price().Add(extra).String()
	}
	return one
}

// measureText returns a serving as guests read it, such as 150 g.
func measureText(m *menu.Measure, lang string) string {
	if m == nil || m.Unit == "pcs" && m.Value.Equal(decimal.NewFromInt(1)) { // one piece is what guests expect
		return ""
	}
	value, unit := m.Value, m.Unit
	if small := map[string]string{"kg": "g", "liter": "mL"}[unit]; small != "" && value.LessThan(decimal.NewFromInt(1)) {
		value, unit = value.Shift(3), small
	}
	if lang == violation.Russian {
		units := map[string]string{"g": "г", "kg": "кг", "mL": "мл", "liter": "л"}
		if own := units[unit]; own != "" {
			unit = own
		}
		return strings.Replace(value.String(), ".", ",", 1) + "\u00a0" + unit
	}
	return strings.TrimSpace(value.String() + "\u00a0" + strings.Replace(unit, "liter", "L", 1))
}

// symbols are the signs of frequent currencies; others are written as their codes.
var symbols = map[string]string{ //nolint:gochecknoglobals // constant
	"EUR": "€", "GBP": "£", "INR": "₹", "JPY": "¥", "KZT": "₸", "RUB": "₽", "TRY": "₺", "UAH": "₴", "USD": "$",
}

// moneyText returns an amount with its currency as guests read it, such as €1,004.50.
func moneyText(digits, currency, lang string, cents bool) string {
	if amount, err := decimal.NewFromString(digits); err == nil && (cents || !amount.IsInteger()) {
		digits = amount.StringFixed(max(2, -amount.Exponent()))
	}
	russian := lang == violation.Russian
	whole, fraction, _ := strings.Cut(digits, ".")
	for at := len(whole) - 3; at > 0; at -= 3 {
		whole = whole[:at] + map[bool]string{false: ",", true: "\u00a0"}[russian] + whole[at:]
	}
	digits = whole
	if fraction != "" {
		digits += map[bool]string{false: ".", true: ","}[russian] + fraction
	}
	sign, known := symbols[currency]
	switch {
	case russian:
		return strings.TrimSpace(digits + "\u00a0" + sign + map[bool]string{false: currency}[known])
	case known:
		return sign + digits
	default:
		return strings.TrimSpace(currency + "\u00a0" + digits)
	}
}
