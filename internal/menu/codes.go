package menu

// LintCode is one code of a Finding as users read it in docs/lint.md.
type LintCode struct {
	Code     string
	Severity Severity
	Meaning  string // what the menu says, and what larder does with it
}

// LintCodes gives every code that Lint can use: what it means and how much it
// matters. It is the one table of them.
func LintCodes() []LintCode {
	const warn, fail = SeverityWarning, SeverityError
	return []LintCode{
		{IssueByteOrderMark, warn, "The body starts with a byte order mark; it is stripped."},
		{IssueNameSpelling, warn, "A field has another spelling than in [the interface](ordering-service.md#24-menu-view) (`ID`, `Id`); it is " +
			"read."},
		{IssueUnknownField, warn, "A field that the interface does not have; it is kept and passed on."},
		{IssueTypeMismatch, warn, "A value has another type than in the interface; it is read as text if possible, otherwise left out."},
		{IssueIDNotText, warn, "An identifier is a number; its digits are kept as they stand."},
		{IssueNumberAsText, warn, "A number stands in quotes; it is read."},
		{IssueDecimalComma, fail, "A number has a decimal comma; it is not used. A dish or ingredient with such a price cannot be ordered."},
		{IssueNumberInvalid, fail, "A number that cannot be read, or is beyond all bounds; it is not used."},
		{IssueNutritionInvalid, warn, "A nutritional value (calories, proteins, …) cannot be read; it is left out."},
		{IssuePriceMissing, fail, "A dish has no price, or the price of a dish or ingredient is null or empty; it is listed without a price and " +
			"cannot be ordered."},
		{IssuePriceNegative, fail, "A price is negative; the dish or ingredient cannot be ordered."},
		{IssueCountNegative, warn, "A minimum or maximum is negative; it is read as no limit."},
		{IssueNull, warn, "A list is null; it is read as empty."},
		{IssueMeasureEmpty, warn, "A serving has no value; it is read as none."},
		{IssueStopListForm, warn, "A stop list is no list of restaurant ids; `true` stops the dish everywhere."},
		{LintIDMissing, fail, "An element has no id; it is left out."},
		{LintDuplicateID, warn, "An id is defined more than once; the first definition counts, memberships are united."},
		{LintDuplicateLimit, warn, "A scheme lists a group more than once; the first limits count."},
		{LintCategoryUnknown, warn, "A dish is in a category that does not exist; it is listed in its other categories, or outside all of them."},
		{LintCategoryParentUnknown, warn, "A category's parent does not exist; the category is at the root. In a later definition of " +
			"the category the reference is dropped."},
		{LintCategoryCycle, warn, "Categories contain each other; the first of them stands at the root."},
		{LintSchemeUnknown, fail, "A dish or ingredient has a scheme that does not exist; it is offered without modifiers. " +
			"In a later definition the reference is dropped."},
		{LintGroupUnknown, warn, "A scheme refers to a group that is not there; the reference is dropped."},
		{LintIngredientUnknown, warn, "A group refers to an ingredient that is not there; the reference is dropped."},
		{LintSchemeCycle, warn, "A scheme contains itself by an ingredient; it is cut there."},
		{LintSchemeTooDeep, fail, "Schemes nest deeper than can be ordered."},
		{LintLimitsInverted, fail, "A group's minimum is above its maximum; its dishes cannot be ordered."},
		{LintPriceZero, warn, "A dish costs nothing."},
		{LintExternalIDMissing, warn, "A dish or ingredient has no externalId; orders name it by its id."},
		{LintExternalIDTaken, fail, "A dish or ingredient has no externalId and its id is another's; an order would name the " +
			"other one, so it cannot be ordered."},
		{LintExternalIDShared, warn, "Several dishes or ingredients share an externalId; an order that names it must use the id."},
		{LintGroupUnsatisfiable, fail, "A group needs a choice and none is available; its dishes cannot be ordered."},
		{LintCategoryMissing, warn, "A dish has no category; it is listed outside all categories."},
		{LintCategoryEmpty, warn, "A category has no dishes, neither itself nor in the categories below it."},
		{LintUnitMissing, warn, "The serving of a dish or ingredient has a value and no unit."},
		{LintGroupUnavailable, warn, "Every option of a group is stopped or cannot be ordered for another reason; nothing can be chosen of it."},
		{LintFindingsOmitted, warn, "There are more findings than are listed: the first 100,000, of the values read otherwise " +
			"the first 200,000. A finding whose dishes were too many to list says `truncated`."},
	}
}
