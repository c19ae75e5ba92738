package menu

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Severity is the severity of a finding.
type Severity string

// An error takes something from the guest: a dish cannot be ordered, or a choice is missing. A
// warning is a defect that larder can handle.
const (
	SeverityError   Severity = "error"
	SeverityWarning Severity = "warning"
)

// The codes of lint findings other than issues (policies W9, W10, M9).
const (
	LintIDMissing             = "id_missing"
	LintDuplicateID           = "duplicate_id"
	LintDuplicateIDDiffers    = "duplicate_id_differs"
	LintIDSimilar             = "id_similar"
	LintOptionByWeight        = "option_by_weight"
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
	LintExternalIDTaken       = "external_id_taken"
	LintGroupUnsatisfiable    = "group_unsatisfiable"
	LintCategoryMissing       = "category_missing"
	LintCategoryEmpty         = "category_empty"
	LintUnitMissing           = "unit_missing"
	LintGroupUnavailable      = "group_unavailable"
	LintFindingsOmitted       = "findings_omitted"
)

// severityOf returns the severity of a finding with the code.
func severityOf(code string) Severity {
	switch code {
	case IssueDecimalComma, IssueNumberInvalid, IssuePriceMissing, IssuePriceNegative, IssueMaximumInvalid, LintIDMissing,
		LintDuplicateIDDiffers, LintSchemeUnknown, LintSchemeTooDeep, LintLimitsInverted, LintExternalIDTaken, LintGroupUnsatisfiable:
		return SeverityError
	default:
		return SeverityWarning
	}
}

// issueTexts has the message of each code of an Issue: {quoted} is the quoted value, {times} the number of
// occurrences if there are several. Lost issues are separate findings, because their value is lost.
var issueTexts = map[string]struct { //nolint:gochecknoglobals // constant
	text string
	lost bool
}{
	IssueByteOrderMark:    {"the menu view starts with a byte order mark, which was stripped", false},
	IssueNameSpelling:     {"{field} is spelled {quoted}{times}", false},
	IssueUnknownField:     {"{field} is not a field of the interface; it is stored and returned{times}", false},
	IssueTypeMismatch:     {"{field} has the wrong type: {value}{times}", true},
	IssueIDNotText:        {"{field} is a number: {value}; its digits are kept{times}", false},
	IssueNumberAsText:     {"{field} is a number in quotes: {value}{times}", false},
	IssueDecimalComma:     {"{field} has a decimal comma: {value}; it is ignored", true},
	IssueNumberInvalid:    {"{field} is not a valid number: {value}; it is ignored", true},
	IssueNutritionInvalid: {"{field} is invalid: {value}; it is ignored", true},
	IssuePriceMissing:     {"{field} is missing, null or empty; it cannot be ordered", true},
	IssuePriceNegative:    {"{field} is negative: {value}; it cannot be ordered", true},
	IssueCountNegative:    {"{field} is negative: {value}; it is read as no limit", true},
	IssueCountFraction:    {"{field} is not whole: {value}; it is rounded down, but not below 1", true},
	IssueMaximumInvalid:   {"{field} cannot be read; this group has no maximum now", true},
	IssueNameEmpty:        {"{field} is empty", true},
	IssueReplacement:      {"{field} has characters that were lost (U+FFFD): {quoted}", true},
	IssueControlCharacter: {"{field} has a control or direction character: {value}", true},
	IssueTextTooLong:      {"{field} has {value} bytes; the end is left out", true},
	IssueImageAddress:     {"{field} is not an http(s) address that a browser can load: {quoted}{times}", false},
	IssueControlRaw:       {"{field} has a control character without an escape in a text; it is read{times}", false},
	IssueNestedTooDeep:    {"{field} is nested deeper than 500 levels; null is stored for what is deeper{times}", false},
	IssueNull:             {"{field} is null; it is read as empty{times}", false},
	IssueMeasureEmpty:     {"{field} has no value; it is treated as missing", true},
	IssueStopListForm:     {"{field} is not a list of restaurant ids: {quoted}{times}", false},
}

// Finding is one defect of a menu view: a stable code, a sentence for a person, the related ids by kind ("scheme",
// "group", …), and the ids of the affected dishes. Truncated means that there were too many to list.
type Finding struct {
	Code     string            `json:"code"`
	Severity Severity          `json:"severity"`
	Msg      string            `json:"msg"`
	IDs      map[string]string `json:"ids"`
	Products []string          `json:"products"`

	Truncated bool `json:"truncated,omitempty"`
}

// The limits of one Lint. Only menus with very many defects reach them.
const (
	maxFindings = 10_000
	// maxTouched limits the dishes listed by all findings together, and maxWalk the steps from a
	// defect to the affected dishes.
	maxTouched = 500_000
	maxWalk    = 20_000_000
)

// Lint returns all defects of a view for one restaurant: the issues of Decode, duplicates, dangling references, cycles,
// limits, prices, external ids, and groups that cannot be satisfied. The result is deterministic. It takes O(size of
// the view), and for each finding O(affected dishes and schemes) up to a limit; findings report what is left out.
func Lint(v *View, restaurant RestaurantID, s Settings) []Finding {
	return LintCompiled(v, CompileContent(v, s).WithStops(v.Stops(restaurant, s)))
}

// LintCompiled is Lint for a view that has been compiled to cat.
func LintCompiled(v *View, cat *Catalogue) []Finding {
	l := &linter{view: v, cat: cat, list: maxTouched, walk: maxWalk, items: [...]itemKind{
		{"product", "dish", "modifiers", v.Products, &cat.products, cat.productScheme},
		{"ingredient", "ingredient", "parts", v.Ingredients, &cat.ingredients, cat.ingredientScheme},
	}}
	l.findParents()
	l.issues()
	l.duplicates()
	l.categories()
	l.references()
	l.nesting()
	l.limits()
	l.offers()
	l.dishesWithoutCategory()
	l.categoriesWithoutDishes()
	l.servingsWithoutUnit()
	l.groupsWithoutChoice()
	l.optionsByWeight()
	if l.omitted += v.IssuesOmitted; l.omitted > 0 {
		l.findings = append(l.findings, Finding{
			Code: LintFindingsOmitted, Severity: SeverityWarning, IDs: map[string]string{},
			Products: []string{}, Msg: fmt.Sprintf("too many findings: %d more are not listed", l.omitted),
		})
	}
	return l.findings
}

// itemKind is what the checks of dishes and of ingredients differ in.
type itemKind struct {
	kind, noun string
	nested     string // what its scheme offers
	all        []Product
	table      *ItemTable
	schemes    []Index
}

type linter struct {
	view     *View
	cat      *Catalogue
	items    [2]itemKind
	above    [][]Index // by scheme: the schemes one level above
	dishes   [][]Index // by scheme: its dishes
	offering [][]Index // by group: the schemes that offer it
	inside   [][]Index // by category: its dishes
	findings []Finding
	omitted  int // findings beyond maxFindings

	list, walk int   // remaining of maxTouched and maxWalk
	cut        bool  // the last list is incomplete
	seen       []int // by scheme: the last walk that visited it
	walks      int
}

// full reports whether further findings are only counted. Their dishes are not searched for.
func (l *linter) full() bool { return len(l.findings) >= maxFindings }

// maxMessage limits the message of a finding, in bytes: a menu of long names may have 10,000 findings.
const maxMessage = 1_000

// add adds a finding; ids are pairs of a kind and an id.
func (l *linter) add(code string, products, ids []string, format string, args ...any) {
	if l.full() {
		l.omitted++
		return
	}
	if products == nil {
		products = []string{}
	}
	byKind := make(map[string]string, len(ids)/2)
	for pair := range slices.Chunk(ids, 2) {
		byKind[pair[0]] = pair[1]
	}
	msg := fmt.Sprintf(format, args...)
	if len(msg) > maxMessage {
		msg = strings.ToValidUTF8(msg[:maxMessage], "") + "…"
	}
	l.findings = append(l.findings, Finding{
		Code: code, Severity: severityOf(code), Msg: msg,
		IDs: byKind, Products: products, Truncated: l.cut,
	})
	l.cut = false
}

// findParents builds the tables from schemes up to dishes.
func (l *linter) findParents() {
	c := l.cat
	l.above = make([][]Index, len(c.schemes))
	l.dishes = make([][]Index, len(c.schemes))
	l.offering = make([][]Index, len(c.groups))
	l.inside = make([][]Index, len(c.categories))
	l.seen = make([]int, len(c.schemes))
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
		for _, in := range c.CategoriesOf(Index(p)) {
			l.inside[in] = append(l.inside[in], Index(p))
		}
	}
}

// touched returns the dishes that reach any of the schemes, in menu order.
func (l *linter) touched(schemes ...Index) []string {
	l.walks++
	queue := slices.Clone(schemes)
	var found []Index
	for head := 0; head < len(queue); head++ {
		s := queue[head]
		if l.seen[s] == l.walks {
			continue
		}
		l.seen[s] = l.walks
		l.walk -= 1 + len(l.above[s]) + len(l.dishes[s])
		if l.full() || l.walk < 0 {
			l.cut = true
			return nil
		}
		found = append(found, l.dishes[s]...)
		queue = append(queue, l.above[s]...)
	}
	slices.Sort(found)
	return l.listed(found)
}

// listed returns the ids of dishes; none if there are too many to list.
func (l *linter) listed(dishes []Index) []string {
	if l.full() || len(dishes) > l.list {
		l.cut = true
		return nil
	}
	l.list -= len(dishes)
	ids := make([]string, len(dishes))
	for i, p := range dishes {
		ids[i] = l.cat.products.At(p).ID()
	}
	return ids
}

func (l *linter) schemesWith(groups ...Index) (schemes []Index) {
	for _, g := range groups {
		schemes = append(schemes, l.offering[g]...)
		l.walk -= len(l.offering[g])
	}
	return schemes
}

// dishesOf returns the dishes that are affected by a defect of the given element.
func (l *linter) dishesOf(kind, id string) []string {
	switch kind {
	case "product":
		return optional(id)
	case "scheme":
		if s, ok := l.cat.schemeByID(id); ok {
			return l.touched(s)
		}
	case "group":
		if g, ok := l.cat.GroupByID(id); ok {
			return l.touched(l.schemesWith(g)...)
		}
	case "ingredient":
		if i, ok := l.cat.ingredients.ByID(id); ok {
			return l.touched(l.schemesWith(l.cat.GroupsOf(i)...)...)
		}
	case "category":
		if in, ok := l.cat.categoryByID(id); ok {
			return l.listed(l.inside[in])
		}
	}
	return nil
}

// issues groups the issues of Decode: one finding for each code and field, or for each value if the value was lost.
func (l *linter) issues() {
	type group struct {
		Issue

		count    int
		products []string
	}
	var groups []*group
	known := map[Issue]*group{}
	for _, issue := range l.view.Issues {
		key := Issue{Code: issue.Code, Field: issue.Field, Kind: issue.Kind}
		if issueTexts[issue.Code].lost {
			key.ID = issue.ID
		}
		g := known[key]
		if g == nil {
			if len(groups) >= maxFindings {
				l.omitted++
				continue
			}
			g = &group{Issue: key}
			g.Value = issue.Value
			groups, known[key] = append(groups, g), g
		}
		g.count++
		if last := len(g.products) - 1; issue.Kind == "product" && issue.ID != key.ID && (last < 0 || g.products[last] != issue.ID) {
			g.products = append(g.products, issue.ID)
		}
	}
	for _, g := range groups {
		var ids []string
		if g.Field != "" {
			ids = append(ids, "field", g.Field)
		}
		if g.ID != "" {
			ids = append(ids, g.Kind, g.ID)
			g.products = l.dishesOf(g.Kind, g.ID)
		}
		l.add(g.Code, g.products, ids, "%s%s", l.owner(g.Kind, g.ID, g.products), issueText(g.Code, g.Field, g.Value, g.count))
	}
}

// owner describes the owner of a value in a message: the element itself if the value was lost,
// otherwise the first affected dish.
func (l *linter) owner(kind, id string, products []string) string {
	switch {
	case id == "" && len(products) == 0:
		return ""
	case id == "" && len(products) > 1:
		return fmt.Sprintf("dish %q and %d more: ", products[0], len(products)-1)
	case id == "":
		kind, id = "product", products[0]
	}
	name := ""
	for _, k := range l.items {
		if at, ok := k.table.ByID(id); ok && kind == k.kind {
			kind, name = k.noun, k.table.At(at).Name()
			break
		}
	}
	if name == "" {
		return fmt.Sprintf("%s %q: ", kind, id)
	}
	return fmt.Sprintf("%s %q (%s): ", kind, id, name)
}

func issueText(code, field, value string, count int) string {
	times := ""
	if count > 1 {
		times = fmt.Sprintf(" (%d times)", count)
	}
	values := strings.NewReplacer("{times}", times, "{field}", field, "{value}", value, "{quoted}", strconv.Quote(value))
	return values.Replace(issueTexts[code].text)
}
