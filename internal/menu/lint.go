package menu

import (
	"fmt"
	"slices"
	"strings"
)

// Severity says how much a finding matters.
type Severity string

// An error takes something from the guest: a dish that cannot be ordered, a
// choice that is lost. A warning is what larder could read all the same.
const (
	SeverityError   Severity = "error"
	SeverityWarning Severity = "warning"
)

// Codes of lint findings beside those of Oddity (policies W9, W10, M9).
const (
	LintIDMissing             = "id_missing"
	LintDuplicateID           = "duplicate_id"
	LintDuplicateLimit        = "duplicate_limit"
	LintCategoryUnknown       = "category_unknown"
	LintCategoryParentUnknown = "category_parent_unknown"
	LintCategoryCycle         = "category_cycle"
	LintSchemeUnknown         = "scheme_unknown"
	LintGroupUnknown          = "group_unknown"
	LintIngredientUnknown     = "ingredient_unknown"
	LintSchemeCycle           = "scheme_cycle"
	LintSchemeTooDeep         = "scheme_too_deep"
	LintLimitsInverted        = "limits_inverted"
	LintPriceZero             = "price_zero"
	LintExternalIDMissing     = "external_id_missing"
	LintExternalIDShared      = "external_id_shared"
	LintGroupUnsatisfiable    = "group_unsatisfiable"
)

// Finding is one defect of a menu view: a stable code, a sentence for a
// person, the ids that take part by what they are ("scheme", "group", …), and
// the ids of the dishes that it touches.
type Finding struct {
	Code     string            `json:"code"`
	Severity Severity          `json:"severity"`
	Msg      string            `json:"msg"`
	IDs      map[string]string `json:"ids"`
	Products []string          `json:"products"`
}

// Lint names every defect of a view at once, as it is for one restaurant: what
// Decode had to read otherwise, then duplicates, dangling references, cycles,
// limits, prices, external ids, and groups that nobody can satisfy. The same
// view gives the same findings in the same order. O(size of the view), and
// O(dishes) more for each finding.
func Lint(v *View, restaurant RestaurantID, s Settings) []Finding {
	l := &linter{view: v, cat: Compile(v, restaurant, s), severity: map[string]Severity{}}
	for _, known := range LintCodes() {
		l.severity[known.Code] = known.Severity
	}
	l.parents()
	l.oddities()
	l.duplicates()
	l.categories()
	l.references()
	l.nesting()
	l.limits()
	l.offers()
	return l.findings
}

type linter struct {
	view     *View
	cat      *Catalogue
	above    [][]Index // by scheme: the schemes that contain it one level up
	dishes   [][]Index // by scheme: the dishes that have it
	offering [][]Index // by group: the schemes that offer it
	findings []Finding
	severity map[string]Severity
}

func (l *linter) add(code string, products []string, ids map[string]string, format string, args ...any) {
	if products == nil {
		products = []string{}
	}
	l.findings = append(l.findings, Finding{
		Code: code, Severity: l.severity[code], Msg: fmt.Sprintf(format, args...), IDs: ids, Products: products,
	})
}

// parents lays out which dishes and schemes reach a scheme.
func (l *linter) parents() {
	c := l.cat
	l.above = make([][]Index, len(c.schemes))
	l.dishes = make([][]Index, len(c.schemes))
	l.offering = make([][]Index, len(c.groups))
	for s := range c.schemes {
		for _, limit := range c.Limits(Index(s)) {
			l.offering[limit.Group] = append(l.offering[limit.Group], Index(s))
			for _, member := range c.Members(limit.Group) {
				if inner := c.ingredientScheme[member]; inner != None {
					l.above[inner] = append(l.above[inner], Index(s))
				}
			}
		}
	}
	for p, s := range c.productScheme {
		if s != None {
			l.dishes[s] = append(l.dishes[s], Index(p))
		}
	}
}

// touched gives the dishes that reach any of the schemes, in menu order.
func (l *linter) touched(schemes ...Index) []string {
	seen := map[Index]bool{}
	queue := slices.Clone(schemes)
	var found []Index
	for len(queue) > 0 {
		s := queue[0]
		queue = queue[1:]
		if s == None || seen[s] {
			continue
		}
		seen[s] = true
		found = append(found, l.dishes[s]...)
		queue = append(queue, l.above[s]...)
	}
	slices.Sort(found)
	ids := make([]string, 0, len(found))
	for _, p := range found {
		ids = append(ids, l.cat.products[p].ID)
	}
	return ids
}

// schemesWith gives the schemes that offer any of the groups.
func (l *linter) schemesWith(groups ...Index) (schemes []Index) {
	for _, g := range groups {
		schemes = append(schemes, l.offering[g]...)
	}
	return schemes
}

// dishesOf gives the dishes that a defect of the named thing touches.
func (l *linter) dishesOf(kind, id string) []string {
	switch kind {
	case "product":
		if id != "" {
			return []string{id}
		}
	case "scheme":
		if s, ok := l.cat.SchemeByID(id); ok {
			return l.touched(s)
		}
	case "group":
		if g, ok := l.cat.GroupByID(id); ok {
			return l.touched(l.schemesWith(g)...)
		}
	case "ingredient":
		if i, ok := l.cat.IngredientByID(id); ok {
			return l.touched(l.schemesWith(l.cat.GroupsOf(i)...)...)
		}
	case "category":
		var ids []string
		for i := range l.cat.products {
			if l.cat.products[i].CategoryID == id {
				ids = append(ids, l.cat.products[i].ID)
			}
		}
		return ids
	}
	return nil
}

// oddities gathers what Decode noted: one finding for each code and field,
// and for each value where the value itself was lost.
func (l *linter) oddities() {
	type place struct{ code, field, kind, id string }
	var order []place
	counts := map[place]int{}
	sample := map[place]string{}
	products := map[place][]string{}
	for _, odd := range l.view.Oddities {
		key := place{code: odd.Code, field: odd.Field, kind: odd.Kind}
		if lost(odd.Code) {
			key.id = odd.ID
		}
		if counts[key] == 0 {
			order = append(order, key)
			sample[key] = odd.Value
		}
		counts[key]++
		if odd.Kind == "product" && odd.ID != "" {
			if had := products[key]; len(had) == 0 || had[len(had)-1] != odd.ID {
				products[key] = append(had, odd.ID)
			}
		}
	}
	for _, key := range order {
		ids := map[string]string{}
		if key.field != "" {
			ids["field"] = key.field
		}
		touched := products[key]
		if key.id != "" {
			ids[key.kind] = key.id
			touched = l.dishesOf(key.kind, key.id)
		}
		l.add(key.code, touched, ids, "%s", oddityText(key.code, key.field, sample[key], counts[key]))
	}
}

// lost tells whether the value of such an oddity could not be used, so that
// each is a defect by itself.
func lost(code string) bool {
	switch code {
	case OddDecimalComma, OddNumberInvalid, OddTypeMismatch, OddPriceMissing, OddPriceNegative, OddCountNegative, OddMeasureEmpty:
		return true
	default:
		return false
	}
}

func oddityText(code, field, value string, count int) string {
	times := ""
	if count > 1 {
		times = fmt.Sprintf(" (%d times)", count)
	}
	switch code {
	case OddByteOrderMark:
		return "the menu view starts with a byte order mark, which was stripped"
	case OddNameSpelling:
		return fmt.Sprintf("%s is spelled %q%s", field, value, times)
	case OddUnknownField:
		return fmt.Sprintf("%s is no field of the document; kept and passed on%s", field, times)
	case OddTypeMismatch:
		return fmt.Sprintf("%s is of another type than the document has it: %s%s", field, value, times)
	case OddIDNotText:
		return fmt.Sprintf("%s is a number, as %s; its digits are kept%s", field, value, times)
	case OddNumberAsText:
		return fmt.Sprintf("%s is a number in a text, as %s%s", field, value, times)
	case OddDecimalComma:
		return fmt.Sprintf("%s has a decimal comma: %s; the value is not used", field, value)
	case OddNumberInvalid:
		return fmt.Sprintf("%s is no number that can be used: %s", field, value)
	case OddPriceMissing:
		return field + " is missing; the dish cannot be ordered"
	case OddPriceNegative:
		return fmt.Sprintf("%s is negative: %s; it cannot be ordered", field, value)
	case OddCountNegative:
		return fmt.Sprintf("%s is negative: %s; read as no limit", field, value)
	case OddNull:
		return fmt.Sprintf("%s is null, read as empty%s", field, times)
	case OddMeasureEmpty:
		return field + " has no value; read as none"
	case OddStopListForm:
		return fmt.Sprintf("%s is no list of restaurant ids, as %q%s", field, value, times)
	default:
		return strings.TrimSpace(code + " " + field)
	}
}
