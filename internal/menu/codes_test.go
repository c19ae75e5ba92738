package menu_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"larder/internal/menu"
)

var update = flag.Bool("update", false, "write docs/lint.md anew")

// lintCode is one row of docs/lint.md.
type lintCode struct {
	code     string
	severity menu.Severity
	meaning  string // what the menu says, and what larder does with it
}

// lintCodes has every code of a Finding, in the order of docs/lint.md.
var lintCodes = []lintCode{
	{menu.IssueByteOrderMark, menu.SeverityWarning, "The body starts with a byte order mark; it is stripped."},
	{menu.IssueNameSpelling, menu.SeverityWarning, "A field has another spelling than in [the interface](ordering-service.md#24-menu-view) (`ID`, `Id`); it is " +
		"read."},
	{menu.IssueUnknownField, menu.SeverityWarning, "A field that the interface does not have; it is kept and passed on."},
	{menu.IssueTypeMismatch, menu.SeverityWarning, "A value has another type than in the interface; it is read as text if possible, otherwise left out."},
	{menu.IssueIDNotText, menu.SeverityWarning, "An identifier is a number; its digits are kept as they stand."},
	{menu.IssueNumberAsText, menu.SeverityWarning, "A number stands in quotes; it is read."},
	{menu.IssueDecimalComma, menu.SeverityError, "A number has a decimal comma; it is not used. A dish or ingredient with such a price cannot be ordered."},
	{menu.IssueNumberInvalid, menu.SeverityError, "A number that cannot be read, or is beyond all bounds; it is not used."},
	{menu.IssueNutritionInvalid, menu.SeverityWarning, "A nutritional value (calories, proteins, …) cannot be read; it is left out."},
	{menu.IssuePriceMissing, menu.SeverityError, "A dish has no price, or the price of a dish or ingredient is null or empty; it is listed without a price and " +
		"cannot be ordered."},
	{menu.IssuePriceNegative, menu.SeverityError, "A price is negative; the dish or ingredient cannot be ordered."},
	{menu.IssueCountNegative, menu.SeverityWarning, "A minimum or maximum is negative; it is read as no limit."},
	{menu.IssueNull, menu.SeverityWarning, "A list is null; it is read as empty."},
	{menu.IssueMeasureEmpty, menu.SeverityWarning, "A serving has no value; it is read as none."},
	{menu.IssueStopListForm, menu.SeverityWarning, "A stop list is no list of restaurant ids; `true` stops the dish everywhere."},
	{menu.LintIDMissing, menu.SeverityError, "An element has no id; it is left out."},
	{menu.LintDuplicateID, menu.SeverityWarning, "An id is defined more than once; the first definition counts, memberships are united."},
	{menu.LintDuplicateLimit, menu.SeverityWarning, "A scheme lists a group more than once; the first limits count."},
	{menu.LintCategoryUnknown, menu.SeverityWarning, "A dish is in a category that does not exist; it is listed in its other categories, or outside all of them."},
	{menu.LintCategoryParentUnknown, menu.SeverityWarning, "A category's parent does not exist; the category is at the root. In a later definition of " +
		"the category the reference is dropped."},
	{menu.LintCategoryCycle, menu.SeverityWarning, "Categories contain each other; the first of them stands at the root."},
	{menu.LintSchemeUnknown, menu.SeverityError, "A dish or ingredient has a scheme that does not exist; it is offered without modifiers. " +
		"In a later definition the reference is dropped."},
	{menu.LintGroupUnknown, menu.SeverityWarning, "A scheme refers to a group that is not there; the reference is dropped."},
	{menu.LintIngredientUnknown, menu.SeverityWarning, "A group refers to an ingredient that is not there; the reference is dropped."},
	{menu.LintSchemeCycle, menu.SeverityWarning, "A scheme contains itself by an ingredient; it is cut there."},
	{menu.LintSchemeTooDeep, menu.SeverityError, "Schemes nest deeper than can be ordered."},
	{menu.LintLimitsInverted, menu.SeverityError, "A group's minimum is above its maximum; its dishes cannot be ordered."},
	{menu.LintPriceZero, menu.SeverityWarning, "A dish costs nothing."},
	{menu.LintExternalIDMissing, menu.SeverityWarning, "A dish or ingredient has no externalId; orders name it by its id."},
	{menu.LintExternalIDTaken, menu.SeverityError, "A dish or ingredient has no externalId and its id is another's; an order would name the " +
		"other one, so it cannot be ordered."},
	{menu.LintExternalIDShared, menu.SeverityWarning, "Several dishes or ingredients share an externalId; an order that names it must use the id."},
	{menu.LintGroupUnsatisfiable, menu.SeverityError, "A group needs a choice and none is available; its dishes cannot be ordered."},
	{menu.LintCategoryMissing, menu.SeverityWarning, "A dish has no category; it is listed outside all categories."},
	{menu.LintCategoryEmpty, menu.SeverityWarning, "A category has no dishes, neither itself nor in the categories below it."},
	{menu.LintUnitMissing, menu.SeverityWarning, "The serving of a dish or ingredient has a value and no unit."},
	{menu.LintGroupUnavailable, menu.SeverityWarning, "Every option of a group is stopped or cannot be ordered for another reason; nothing can be chosen of it."},
	{menu.LintFindingsOmitted, menu.SeverityWarning, "There are more findings than are listed: the first 100,000, of the values read otherwise " +
		"the first 200,000. A finding whose dishes were too many to list says `truncated`."},
}

// TestLintDocument holds docs/lint.md equal to the table above.
func TestLintDocument(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString("# What `larder menu lint` finds\n\n" +
		"Each finding has a stable code, a sentence that names the ids, and the dishes it touches. An *error* takes something\n" +
		"from the guest: a dish that cannot be ordered, a choice that is lost. A *warning* is what larder could read all the\n" +
		"same. No finding stops a menu from being published; the guard against empty and shrunken menus is apart from lint.\n\n" +
		"This page is written from the table in `internal/menu/codes_test.go` by `go test ./internal/menu -run TestLintDocument -update`.\n\n" +
		"| code | severity | meaning |\n|---|---|---|\n")
	for _, row := range lintCodes {
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", row.code, row.severity, row.meaning)
	}
	path := filepath.Join("..", "..", "docs", "lint.md")
	if *update {
		if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(b.String(), string(got)); diff != "" {
		t.Errorf("docs/lint.md is not what the table says; run this test with -update (-table +page):\n%s", diff)
	}
}

// TestEveryFindingHasItsCodeInTheTable uses the oddest menus of these tests.
func TestEveryFindingHasItsCodeInTheTable(t *testing.T) {
	t.Parallel()
	known := map[string]menu.Severity{}
	for _, row := range lintCodes {
		known[row.code] = row.severity
		if s := menu.SeverityOf(row.code); s != row.severity {
			t.Errorf("%s is of severity %s, the table has %s", row.code, s, row.severity)
		}
	}
	for _, body := range []string{nestedMenu, menuWithIssues(60)} {
		for _, f := range menu.Lint(decode(t, body), "r1", menu.DefaultSettings()) {
			if s, ok := known[f.Code]; !ok || s != f.Severity {
				t.Errorf("finding %+v is not in the table as such", f)
			}
		}
	}
}
