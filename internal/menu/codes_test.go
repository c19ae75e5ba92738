package menu_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"larder.local/internal/menu"
)

var update = flag.Bool("update", false, "write docs/lint.md")

// lintCode is one row of docs/lint.md.
type lintCode struct {
	code     string
	severity menu.Severity
	meaning  string // what the menu contains, and what larder does
}

// lintCodes contains every code of a Finding, in the order of docs/lint.md.
var lintCodes = []lintCode{
	{menu.IssueByteOrderMark, menu.SeverityWarning, "The body starts with a byte order mark; it is stripped."},
	{menu.IssueNameSpelling, menu.SeverityWarning, "A field is spelled differently from [the interface](ordering-service.md#24-menu-view) (`ID`, `Id`); it is " +
		"read."},
	{menu.IssueUnknownField, menu.SeverityWarning, "A field is not in the interface; it is stored and returned."},
	{menu.IssueTypeMismatch, menu.SeverityWarning, "A value has the wrong type; it is read as text if possible, otherwise ignored."},
	{menu.IssueIDNotText, menu.SeverityWarning, "An identifier is a number; its digits are kept unchanged."},
	{menu.IssueNumberAsText, menu.SeverityWarning, "A number is in quotes; it is read."},
	{menu.IssueDecimalComma, menu.SeverityError, "A number has a decimal comma; it is ignored. A dish or ingredient with such a price cannot be ordered."},
	{menu.IssueNumberInvalid, menu.SeverityError, "A number is invalid or too large; it is ignored."},
	{menu.IssueNutritionInvalid, menu.SeverityWarning, "A nutritional value (calories, proteins, …) is invalid; it is ignored."},
	{menu.IssuePriceMissing, menu.SeverityError, "A dish has no price, or the price of a dish or ingredient is null or empty; it is listed without a price and " +
		"cannot be ordered."},
	{menu.IssuePriceNegative, menu.SeverityError, "The price of a dish is negative; the dish cannot be ordered. The price of an ingredient may be negative."},
	{menu.IssueCountNegative, menu.SeverityWarning, "A minimum or maximum is negative; it is read as no limit."},
	{menu.IssueCountFraction, menu.SeverityWarning, "A maximum has a fraction; it is rounded down, but not below 1."},
	{menu.IssueMaximumInvalid, menu.SeverityError, "The maximum of a group cannot be read: this group has no maximum now, so guests can choose too many options."},
	{menu.IssueNameEmpty, menu.SeverityWarning, "The name of a category, dish, group or ingredient is missing, null or empty, or has only invisible characters."},
	{menu.IssueReplacement, menu.SeverityWarning, "A text contains U+FFFD, the sign for characters that were lost when an encoding was converted. Bytes that are not " +
		"UTF-8 are read as this sign."},
	{menu.IssueControlCharacter, menu.SeverityWarning, "A text contains a control character (NUL, tab, line break, …), or a character that changes the direction " +
		"of the text. Tabs and line breaks of a description are not reported."},
	{menu.IssueImageAddress, menu.SeverityWarning, "An image address is relative, is not an http(s) address, or has a backslash or a user name. One finding is about all of them."},
	{menu.IssueControlRaw, menu.SeverityWarning, "A text has a control character without an escape, such as a tab or a line break; it is read."},
	{menu.IssueTextTooLong, menu.SeverityWarning, "A name has more than 2,000 bytes, or a description more than 20,000: larder leaves out the end."},
	{menu.IssueNestedTooDeep, menu.SeverityWarning, "A field is nested deeper than 500 levels. What is deeper is stored and returned as null."},
	{menu.IssueNull, menu.SeverityWarning, "A list is null; it is read as empty."},
	{menu.IssueMeasureEmpty, menu.SeverityWarning, "A serving has no value; it is treated as missing."},
	{menu.IssueStopListForm, menu.SeverityWarning, "A stop list is not a list of restaurant ids; `true` stops the dish in all restaurants."},
	{menu.LintIDMissing, menu.SeverityError, "An element has no id; it is ignored."},
	{menu.LintDuplicateID, menu.SeverityWarning, "An id is defined more than once; the first definition is used, with the memberships of all. The message has the " +
		"number of definitions and says whether they differ."},
	{menu.LintDuplicateIDDiffers, menu.SeverityError, "An id has several dishes or ingredients, which differ in more than their category, for example in name, price, measure, " +
		"description, images or stop list; only the first is in the menu. The message has their number and names."},
	{menu.LintIDSimilar, menu.SeverityWarning, "Two ids of the same kind differ only by case or spaces; larder keeps them apart."},
	{menu.LintDuplicateLimit, menu.SeverityWarning, "A scheme lists a group more than once; the first limits are used."},
	{menu.LintCategoryUnknown, menu.SeverityWarning, "A dish is in a category that does not exist; it is listed in its other categories, or outside all of them."},
	{menu.LintCategoryParentUnknown, menu.SeverityWarning, "A category's parent does not exist; the category is at the root. In a repeated definition of " +
		"the category, the reference is ignored."},
	{menu.LintCategoryCycle, menu.SeverityWarning, "Categories contain each other; the first of them is at the root."},
	{menu.LintSchemeUnknown, menu.SeverityError, "A dish or ingredient has a scheme that does not exist; it is offered without modifiers. " +
		"In a repeated definition, the reference is ignored."},
	{menu.LintGroupUnknown, menu.SeverityWarning, "A scheme refers to a group that does not exist; the reference is ignored."},
	{menu.LintIngredientUnknown, menu.SeverityWarning, "A group refers to an ingredient that does not exist; the reference is ignored."},
	{menu.LintSchemeCycle, menu.SeverityWarning, "A scheme contains itself through an ingredient; the nested scheme is ignored."},
	{menu.LintSchemeTooDeep, menu.SeverityError, "Schemes are nested too deep to be ordered."},
	{menu.LintLimitsInverted, menu.SeverityError, "A group's minimum is above its maximum; its dishes cannot be ordered."},
	{menu.LintPriceZero, menu.SeverityWarning, "A dish costs nothing."},
	{menu.LintExternalIDMissing, menu.SeverityWarning, "A dish or ingredient has no externalId; orders use its id."},
	{menu.LintExternalIDTaken, menu.SeverityError, "The id of a dish or ingredient is the externalId of another one. Without an externalId of its own, it cannot " +
		"be ordered, because an order would select the other one. With one, the finding is a warning: an order that names it by its id " +
		"means the other one on the compatible API, and this one on `/v1`."},
	{menu.LintExternalIDShared, menu.SeverityWarning, "Several dishes or ingredients share an externalId; orders must use the id."},
	{menu.LintGroupUnsatisfiable, menu.SeverityError, "A required group has no available ingredients; its dishes cannot be ordered."},
	{menu.LintCategoryMissing, menu.SeverityWarning, "A dish has no category; it is listed outside all categories."},
	{menu.LintCategoryEmpty, menu.SeverityWarning, "A category and its subcategories have no dishes."},
	{menu.LintUnitMissing, menu.SeverityWarning, "The serving of a dish or ingredient has a value but no unit."},
	{menu.LintGroupUnavailable, menu.SeverityWarning, "Every ingredient of a group is stopped or cannot be ordered for another reason."},
	{menu.LintOptionByWeight, menu.SeverityWarning, "A dish whose measure is 1 `kg` or 1 `liter` has an option that costs something. Its price is " +
		"multiplied by the quantity, and the ordering service gets the option once ([why](decisions/0074-options-of-dishes-sold-by-weight.md))."},
	{menu.LintFindingsOmitted, menu.SeverityWarning, "There are more findings than listed: at most 10,000, and they consider at most 50,000 values " +
		"that were read differently. A finding with too many dishes to list has `truncated`."},
}

// TestLintDocument compares docs/lint.md with the table above.
func TestLintDocument(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString("# Lint findings\n\n" +
		"Each finding has a stable code, a message with the ids, and the affected dishes.\n\n" +
		"- An *error* removes something for guests: a dish that cannot be ordered, or a choice.\n" +
		"- A *warning* is a problem that larder could correct.\n\n" +
		"Findings do not stop a menu from being published. The guard, which quarantines menus that are probably a mistake, is independent of lint.\n\n" +
		"`go test ./internal/menu -run TestLintDocument -update` writes this page from the table in `internal/menu/codes_test.go`.\n\n" +
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
		t.Errorf("docs/lint.md differs from the table; run this test with -update (-table +page):\n%s", diff)
	}
}

// TestEveryFindingHasItsCodeInTheTable uses the menus of these tests with the most defects.
func TestEveryFindingHasItsCodeInTheTable(t *testing.T) {
	t.Parallel()
	known := map[string]menu.Severity{}
	for _, row := range lintCodes {
		known[row.code] = row.severity
		if s := menu.SeverityOf(row.code); s != row.severity {
			t.Errorf("%s has the severity %s, the table has %s", row.code, s, row.severity)
		}
	}
	for _, body := range []string{nestedMenu, menuWithIssues(60)} {
		for _, f := range menu.Lint(decode(t, body), "r1", menu.DefaultSettings()) {
			if s, ok := known[f.Code]; !ok || s != f.Severity {
				t.Errorf("finding %+v does not match the table", f)
			}
		}
	}
}
