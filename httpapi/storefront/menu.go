package storefront

import (
	"net/url"
	"strings"

	"github.com/shopspring/decimal"

	"larder/internal/menu"
	"larder/ordering/violation"
)

// maxDishes limits the dishes of one page, because phones take long to lay out thousands. The page links to
// the next one.
const maxDishes = 300

// section is one category with its dishes on this page.
type section struct {
	Name   string
	Inner  bool // below another category
	Dishes []dish
}

// dish is one dish, under its first category.
type dish struct {
	Name, Description, Picture string
	Measure                    string
	Price                      string // exact digits; empty without a valid price
	Sold                       bool   // sold out, or not orderable for another reason
}

// sectionsOf returns the dishes of a page, from 1, in the order of the menu, and whether more pages follow.
func sectionsOf(catalogue *menu.Catalogue, page int, lang string) (sections []section, more bool) {
	categories := catalogue.Categories()
	byCategory := make([][]menu.Index, len(categories)+1) // the last: without category
	for p := range menu.Index(catalogue.Products().Len()) {
		at := int(catalogue.ProductCategory(p))
		if at == int(menu.None) {
			at = len(categories)
		}
		byCategory[at] = append(byCategory[at], p)
	}
	skip, left := (page-1)*maxDishes, maxDishes
	for at, dishes := range byCategory {
		skipped := min(skip, len(dishes))
		skip -= skipped
		taken := min(left, len(dishes)-skipped)
		left -= taken
		if more = more || skipped+taken < len(dishes); taken == 0 {
			continue
		}
		var one section
		if at < len(categories) {
			one.Name, one.Inner = categories[at].Name, categories[at].ParentID != ""
		}
		for _, p := range dishes[skipped : skipped+taken] {
			one.Dishes = append(one.Dishes, dishOf(catalogue, p, lang))
		}
		sections = append(sections, one)
	}
	return sections, more
}

func dishOf(catalogue *menu.Catalogue, p menu.Index, lang string) dish {
	entry := catalogue.Products().At(p)
	one := dish{Name: entry.Name(), Sold: !catalogue.Orderable(p), Measure: measureText(entry.Measure(), lang)}
	one.Description, one.Picture = entry.Details()
	if address, err := url.Parse(one.Picture); err != nil || address.Scheme != "" && address.Scheme != "https" && address.Scheme != "http" {
		one.Picture = ""
	}
	if !entry.PriceInvalid() {
		one.Price = entry.Price().String()
	}
	return one
}

// measureText returns a serving as guests read it, such as 150 g.
func measureText(m *menu.Measure, lang string) string {
	if m == nil {
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

// hasCents reports whether a price of the menu is not a whole number. All its prices then have two decimals.
func hasCents(catalogue *menu.Catalogue) bool {
	for _, entries := range []*menu.ItemTable{catalogue.Products(), catalogue.Ingredients()} {
		for i := range menu.Index(entries.Len()) {
			if entry := entries.At(i); !entry.PriceInvalid() && strings.Contains(entry.Price().String(), ".") {
				return true
			}
		}
	}
	return false
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
