package violation_test

import (
	"encoding/json"

	"larder.local/internal/menu"
	"larder.local/ordering/violation"
)

// description is one row of docs/violations.md.
type description struct {
	code    violation.Code
	path    string // an example
	meaning string
	params  []param
}

// param is one param of a violation code.
type param struct {
	name, meaning string
	example       any
}

// example returns the params of an example.
func (d *description) example() violation.Params {
	params := violation.Params{}
	for _, p := range d.params {
		params[p.name] = p.example
	}
	return params
}

// message returns the example's message in a language.
func (d *description) message(language string) string {
	return violation.New(d.path, d.code, d.example(), language).Msg
}

// documented contains every violation code, in the order of docs/violations.md.
var documented = []description{
	{
		code: violation.DishNotInMenu, path: "/dishList/0",
		meaning: "The menu has no dish with this id or externalId.",
		params:  []param{{"id", "the id as sent", "d-404"}},
	},
	{
		code: violation.DishUnavailable, path: "/dishList/0",
		meaning: "The dish is on the restaurant's stop list, or an operator has taken it off the menu.",
		params: []param{
			{"id", "the menu's id of the dish", "d-7"},
			{"name", "its name", "Borscht"},
			{"until", "when it returns; absent if that is not known", "2026-05-01T19:00:00+03:00"},
		},
	},
	{
		code: violation.DishNotOrderable, path: "/dishList/0",
		meaning: "The dish cannot be ordered with the current menu. For example, a required group has no available ingredients.",
		params: []param{
			{"id", "the menu's id of the dish", "d-8"},
			{"reasons", "array of {code, group}, as in the menu", []map[string]string{{"code": "group_unsatisfiable", "group": "g-2"}}},
		},
	},
	{
		code: violation.IDConflict, path: "/dishList/0",
		meaning: "The identifiers of a line, or its name or price, do not name the same dish or ingredient. Send the id and the externalId of one item, or only its id.",
		params: []param{
			{"id", "the ID as sent", "1"},
			{"externalId", "the other identifier as sent, or the ID", "2"},
			{"ids", "the menu's ids of the items", []string{"1", "3"}},
			{"names", "their names", []string{"Soup", "Lobster"}},
		},
	},
	{
		code: violation.ExternalIDAmbiguous, path: "/dishList/0",
		meaning: "Several dishes or ingredients share this externalId. Use the id of the menu.",
		params: []param{
			{"externalId", "the externalId as sent", "1001"}, {"ids", "at most 20 of the menu's ids that share it", []string{"d-1", "d-2"}},
		},
	},
	{
		code: violation.QuantityNotPositive, path: "/dishList/0/quantity",
		meaning: "The quantity of a dish or ingredient is zero or less.",
		params:  []param{{"quantity", "the quantity as sent", json.Number("0")}},
	},
	{
		code: violation.QuantityNotWhole, path: "/dishList/0/quantity",
		meaning: "The quantity is fractional, but the dish or ingredient is sold by the piece.",
		params:  []param{{"quantity", "the quantity as sent", json.Number("1.5")}},
	},
	{
		code: violation.QuantityTooSmall, path: "/dishList/0/quantity",
		meaning: "The line has a price, but with this quantity it costs less than the smallest unit of ordering.price_digits.",
		params:  []param{{"minimum", "the smallest quantity that is accepted, rounded up", json.Number("0.0008")}},
	},
	{
		code: violation.PriceChanged, path: "/dishList/0/price",
		meaning: "The price sent with a dish or ingredient differs from the menu's price. If no price is sent, nothing is compared.",
		params:  []param{{"sent", "the price as sent", json.Number("199")}, {"current", "the menu's price", json.Number("219.9")}},
	},
	{
		code: violation.TotalNegative, path: "/dishList/0",
		meaning: "One unit of the dish with its ingredients costs less than 0, because an ingredient has a negative price.",
	},
	{
		code: violation.DishTakesNoIngredients, path: "/dishList/0/ingredients",
		meaning: "The dish or ingredient at the path has no modifiers.",
	},
	{
		code: violation.IngredientNotInMenu, path: "/dishList/0/ingredients/1",
		meaning: "The menu has no ingredient with this id or externalId.",
		params:  []param{{"id", "the id as sent", "i-404"}},
	},
	{
		code: violation.IngredientNotAllowed, path: "/dishList/0/ingredients/1",
		meaning: "The ingredient is in no group that the dish offers with the chosen ingredients.",
		params:  []param{{"id", "the menu's id of the ingredient", "i-3"}, {"dish", "the menu's id of the dish", "d-7"}},
	},
	{
		code: violation.IngredientUnavailable, path: "/dishList/0/ingredients/1",
		meaning: "The ingredient is on the restaurant's stop list, or cannot be ordered with the current menu.",
		params: []param{
			{"id", "the menu's id of the ingredient", "i-5"},
			{"reason", "stopped, price_invalid or no_external_id, as in the menu", menu.ReasonStopped},
			{"until", "when it returns, if an operator has taken it off the menu; absent if that is not known", "2026-05-01T19:00:00+03:00"},
		},
	},
	{
		code: violation.GroupMin, path: "/dishList/0/ingredients/1/ingredients",
		meaning: "Too few ingredients of a group are chosen for one unit of the dish, or of the part that has the group.",
		params:  groupParams(0),
	},
	{
		code: violation.GroupMax, path: "/dishList/0/ingredients/1/ingredients",
		meaning: "Too many ingredients of a group are chosen for one unit of the dish, or of the part that has the group.",
		params:  groupParams(3),
	},
	{
		code: violation.GroupPinInvalid, path: "/dishList/0/ingredients/1/groupId",
		meaning: "The groupId of an ingredient is not a group of the dish that contains the ingredient.",
		params:  []param{{"groupId", "the groupId as sent", "g-9"}},
	},
	{
		code: violation.TooDeep, path: "/dishList/0/ingredients/0/ingredients",
		meaning: "Ingredients are nested deeper than ordering.max_depth.",
	},
	{
		code: violation.FieldRequired, path: "/guest/phone",
		meaning: "A required field is missing, null or empty (ordering.required).",
		params:  []param{{"field", "the field's name in the ordering service's interface", "guest.phone"}},
	},
	{
		code: violation.ValueNotAllowed, path: "/paymentTypeID",
		meaning: "The field accepts only the listed values.",
		params:  []param{{"allowed", "array of accepted values", []string{"cash", "card", "online"}}},
	},
	{
		code: violation.TypeMismatch, path: "/dishList/0/quantity",
		meaning: "The value has the wrong type.",
		params: []param{
			{"want", "string, identifier, integer, number, date-time, boolean, array or object", "number"},
			{"got", "the type of the value as sent", "boolean"},
		},
	},
	{
		code: violation.DecimalComma, path: "/dishList/0/price",
		meaning: "The number is written with a decimal comma.",
	},
	{
		code: violation.PhoneInvalid, path: "/guest/phone",
		meaning: "The guest's phone number has too few digits. For orders without a token: or too many, or all of them are the same.",
		params: []param{
			{"digits", "the minimum number of digits", 5},
			{"maximum", "the maximum for orders without a token; otherwise null", 15},
		},
	},
	{
		code: violation.TextInvalid, path: "/comment",
		meaning: "The text contains a control character other than tab, carriage return and line feed.",
		params:  []param{{"character", "the first such character, in the form U+001B", "U+001B"}},
	},
	{
		code: violation.TimeZoneMissing, path: "/expectedAt",
		meaning: "The time has no time zone offset.",
	},
	{
		code: violation.TimeInPast, path: "/expectedAt",
		meaning: "expectedAt is in the past.",
		params:  []param{{"earliest", "the earliest time that is accepted", "2026-05-01T15:30:00.000Z"}},
	},
	{
		code: violation.TimeTooFar, path: "/expectedAt",
		meaning: "expectedAt is further in the future than ordering.max_lead.",
		params:  []param{{"latest", "the latest time that is accepted", "2026-05-31T15:30:00.000Z"}},
	},
	{
		code: violation.TooSoon, path: "/expectedAt",
		meaning: "expectedAt is earlier than the lead time allows.",
		params:  []param{{"earliest", "the earliest time that is accepted", "2026-05-01T19:30:00+03:00"}},
	},
	{
		code: violation.RestaurantClosed, path: "/expectedAt",
		meaning: "The restaurant is closed at the expected time. For `soonest`, this is the current time plus the lead time.",
		params: []param{
			{"opensAt", "the next time at which an order may be ready, or null", "2026-05-02T10:00:00+03:00"},
			{
				"intervals", "array of {from, to}: the hours of the day of the expected time",
				[]map[string]string{{"from": "2026-05-01T10:00:00+03:00", "to": "2026-05-01T22:00:00+03:00"}},
			},
		},
	},
	{
		code: violation.RestaurantPaused, path: "/expectedAt",
		meaning: "An operator has paused orders of this type, and the expected time is in the pause.",
		params:  []param{{"until", "the next time at which an order may be ready, or null if it is not known", "2026-05-01T19:00:00+03:00"}},
	},
	{
		code: violation.MinimumOrder, path: "/dishList",
		meaning: "The total is lower than the restaurant's minimum for this type of order.",
		params:  []param{{"minimum", "the lowest total", 15}, {"missing", "the minimum less the total", 2.5}},
	},
	{
		code: violation.ChangeNotCash, path: "/changeFrom",
		meaning: "changeFrom is only allowed if the payment is in cash.",
	},
	{
		code: violation.ChangeTooSmall, path: "/changeFrom",
		meaning: "changeFrom is less than the order's total.",
		params:  []param{{"minimum", "the order's total", json.Number("640")}},
	},
	{
		code: violation.AmountInsufficient, path: "/0/amount",
		meaning: "The payments do not cover the order's total.",
		params:  []param{{"total", "the order's total", json.Number("640")}},
	},
	{
		code: violation.LimitExceeded, path: "/dishList",
		meaning: "The order exceeds a limit. Dishes: 200, each with a quantity of at most 999 (ordering.max_quantity). " +
			"Ingredients: 100 per dish, 1,000,000 of one ingredient. Payments: 100. " +
			"Texts: 200 characters for a name, 1,000 for a comment or an address field. " +
			"Numbers: 40 digits. changeFrom: the decimals of ordering.price_digits, 100 times the total plus 1,000,000. " +
			"A field in several spellings: 1 value. The work to find items that share identifiers, and to assign ingredients to groups, is limited too.",
		params: []param{{"limit", "the limit", 200}},
	},
}

// groupParams returns the params of a group with count chosen ingredients.
func groupParams(count int64) []param {
	return []param{
		{"group", "the group's id", "g-1"},
		{"name", "its name", "Sauce"},
		{"min", "minimum for one unit, or for all parts of a flat order", int64(1)},
		{"max", "maximum for one unit; null: no limit", int64(2)},
		{"count", "number of chosen ingredients", count},
		{"parent", "the menu's {id, name} of the part that has the group; missing for a group of the dish", violation.Params{"id": "i-1", "name": "Burger"}},
	}
}
