package ordering

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
)

// Description is one row of the table of violation codes: what the code means,
// what its params hold, how it reads to a person.
type Description struct {
	Code Code
	// Meaning is one sentence for the reader of the documentation.
	Meaning string
	// Params says what each param holds, in their order in the policies.
	Params []Param
	// Path is an example of where it points.
	Path string
	// Example are the params of an example.
	Example Params

	// english makes the sentence for a person. subject is the name of the dish
	// or ingredient it is about, or "".
	english func(p Params, subject string) string
}

// Param is one param of a violation code.
type Param struct{ Name, Meaning string }

// say gives the sentence for a person. Every language other than English is
// read as English as long as it has no texts of its own.
func (d Description) say(_ string, p Params, subject string) string { return d.english(p, subject) }

// ExampleMsg is the sentence of the example, in English.
func (d Description) ExampleMsg() string { return d.say("en", d.Example, "") }

// Codes gives all violation codes in the order of the documentation.
func Codes() []Code {
	return []Code{
		DishNotInMenu, DishUnavailable, DishNotOrderable, ExternalIDAmbiguous,
		QuantityNotPositive, QuantityNotWhole, PriceChanged,
		DishTakesNoIngredients, IngredientNotInMenu, IngredientNotAllowed, IngredientUnavailable,
		GroupMin, GroupMax, GroupPinInvalid, TooDeep,
		FieldRequired, ValueNotAllowed, TypeMismatch, DecimalComma,
		TimeZoneMissing, TimeInPast, TimeTooFar, ChangeFrom, AmountInsufficient, LimitExceeded,
	}
}

// Describe is the one table of violation codes (policies, section V): every
// text, the documentation and the OpenAPI document are made from it.
func Describe(code Code) Description {
	switch code {
	case DishNotInMenu, DishUnavailable, DishNotOrderable, ExternalIDAmbiguous,
		QuantityNotPositive, QuantityNotWhole, PriceChanged:
		return describeDish(code)
	case DishTakesNoIngredients, IngredientNotInMenu, IngredientNotAllowed, IngredientUnavailable,
		GroupMin, GroupMax, GroupPinInvalid, TooDeep:
		return describeIngredient(code)
	default:
		return describeOrder(code)
	}
}

func describeDish(code Code) Description {
	switch code {
	case DishNotInMenu:
		return Description{
			Code: code, Meaning: "The menu has no dish with this id, nor with this externalId.",
			Params: []Param{{"id", "the id as sent"}},
			Path:   "/dishList/0", Example: Params{"id": "d-404"},
			english: func(p Params, _ string) string { return fmt.Sprintf("The menu has no dish %v", p["id"]) },
		}
	case DishUnavailable:
		return Description{
			Code: code, Meaning: "The dish is on the restaurant's stop list.",
			Params: []Param{{"id", "the menu's id of the dish"}, {"name", "its name"}},
			Path:   "/dishList/0", Example: Params{"id": "d-7", "name": "Borscht"},
			english: func(p Params, _ string) string { return fmt.Sprintf("%v is not available now", p["name"]) },
		}
	case DishNotOrderable:
		return Description{
			Code: code, Meaning: "The dish cannot be ordered as the menu stands: for one, a group it must be chosen from has nothing left.",
			Params: []Param{{"id", "the menu's id of the dish"}, {"reasons", "array of {code, group}, as in the menu"}},
			Path:   "/dishList/0", Example: Params{"id": "d-8", "reasons": []map[string]string{{"code": "group_unsatisfiable", "group": "g-2"}}},
			english: func(p Params, subject string) string {
				return either(subject, fmt.Sprintf("Dish %v", p["id"])) + " cannot be ordered at the moment"
			},
		}
	case ExternalIDAmbiguous:
		return Description{
			Code: code, Meaning: "Several dishes or ingredients share this externalId; order by the menu's id.",
			Params: []Param{{"externalId", "the externalId as sent"}, {"ids", "the menu's ids that share it"}},
			Path:   "/dishList/0", Example: Params{"externalId": "1001", "ids": []string{"d-1", "d-2"}},
			english: func(p Params, _ string) string {
				return fmt.Sprintf("The identifier %v stands for several items: order by the menu's id", p["externalId"])
			},
		}
	case QuantityNotPositive:
		return Description{
			Code: code, Meaning: "The quantity of a dish or ingredient is zero or less.",
			Params: []Param{{"quantity", "the quantity as sent"}},
			Path:   "/dishList/0/quantity", Example: Params{"quantity": json.Number("0")},
			english: func(p Params, subject string) string {
				return about(subject, fmt.Sprintf("the quantity must be more than 0, not %v", p["quantity"]))
			},
		}
	case QuantityNotWhole:
		return Description{
			Code: code, Meaning: "The quantity is fractional, but the dish or ingredient is sold by the piece.",
			Params: []Param{{"quantity", "the quantity as sent"}},
			Path:   "/dishList/0/quantity", Example: Params{"quantity": json.Number("1.5")},
			english: func(p Params, subject string) string {
				return about(subject, fmt.Sprintf("the quantity must be a whole number, not %v", p["quantity"]))
			},
		}
	default: // PriceChanged
		return Description{
			Code: code, Meaning: "The price sent with a dish or ingredient is not the menu's; without a price none is compared.",
			Params: []Param{{"sent", "the price as sent"}, {"current", "the menu's price"}},
			Path:   "/dishList/0/price", Example: Params{"sent": json.Number("199"), "current": json.Number("219.9")},
			english: func(p Params, subject string) string {
				return about(subject, fmt.Sprintf("the price is now %v, not %v", p["current"], p["sent"]))
			},
		}
	}
}

func describeIngredient(code Code) Description {
	switch code {
	case DishTakesNoIngredients:
		return Description{
			Code: code, Meaning: "The dish (or, where the path says so, the ingredient) has no modifiers.",
			Path: "/dishList/0/ingredients", Example: Params{},
			english: func(_ Params, subject string) string { return either(subject, "This dish") + " takes no ingredients" },
		}
	case IngredientNotInMenu:
		return Description{
			Code: code, Meaning: "The menu has no ingredient with this id, nor with this externalId.",
			Params: []Param{{"id", "the id as sent"}},
			Path:   "/dishList/0/ingredients/1", Example: Params{"id": "i-404"},
			english: func(p Params, _ string) string { return fmt.Sprintf("The menu has no ingredient %v", p["id"]) },
		}
	case IngredientNotAllowed:
		return Description{
			Code: code, Meaning: "The ingredient stands in no group that the dish, as it was composed, offers.",
			Params: []Param{{"id", "the menu's id of the ingredient"}, {"dish", "the menu's id of the dish"}},
			Path:   "/dishList/0/ingredients/1", Example: Params{"id": "i-3", "dish": "d-7"},
			english: func(p Params, subject string) string {
				return either(subject, fmt.Sprintf("Ingredient %v", p["id"])) + " cannot be chosen for this dish"
			},
		}
	case IngredientUnavailable:
		return Description{
			Code: code, Meaning: "The ingredient is on the restaurant's stop list, or cannot be ordered as the menu has it.",
			Params: []Param{{"id", "the menu's id of the ingredient"}},
			Path:   "/dishList/0/ingredients/1", Example: Params{"id": "i-5"},
			english: func(p Params, subject string) string {
				return either(subject, fmt.Sprintf("Ingredient %v", p["id"])) + " is not available now"
			},
		}
	case GroupMin, GroupMax:
		return describeGroup(code)
	case GroupPinInvalid:
		return Description{
			Code: code, Meaning: "The groupId of an ingredient is no group of the dish that holds the ingredient.",
			Params: []Param{{"groupId", "the groupId as sent"}},
			Path:   "/dishList/0/ingredients/1/groupId", Example: Params{"groupId": "g-9"},
			english: func(p Params, subject string) string {
				return fmt.Sprintf("%s does not belong to the group %v of this dish", either(subject, "The ingredient"), p["groupId"])
			},
		}
	default: // TooDeep
		return Description{
			Code: code, Meaning: "Ingredients within ingredients go deeper than larder follows (ordering.max_depth).",
			Path: "/dishList/0/ingredients/0/ingredients", Example: Params{},
			english: func(_ Params, subject string) string { return about(subject, "the ingredients are nested too deep") },
		}
	}
}

func describeGroup(code Code) Description {
	params := []Param{
		{"group", "the group's id"},
		{"name", "its name"},
		{"min", "how many one unit of the dish needs at least"},
		{"max", "how many it takes at most; null = no limit"},
		{"count", "how many were counted"},
	}
	if code == GroupMin {
		return Description{
			Code: code, Meaning: "Too few ingredients of a group are chosen for one unit of the dish.",
			Params: params, Path: "/dishList/0/ingredients",
			Example: Params{"group": "g-1", "name": "Sauce", "min": int64(1), "max": int64(2), "count": int64(0)},
			english: func(p Params, _ string) string {
				return fmt.Sprintf("%v: choose %d more (%s)", p["name"], whole(p["min"])-whole(p["count"]), limits(p))
			},
		}
	}
	return Description{
		Code: code, Meaning: "Too many ingredients of a group are chosen for one unit of the dish.",
		Params: params, Path: "/dishList/0/ingredients",
		Example: Params{"group": "g-1", "name": "Sauce", "min": int64(1), "max": int64(2), "count": int64(3)},
		english: func(p Params, _ string) string {
			return fmt.Sprintf("%v: choose %d fewer (%s)", p["name"], whole(p["count"])-whole(p["max"]), limits(p))
		},
	}
}

func describeOrder(code Code) Description {
	switch code {
	case FieldRequired:
		return Description{
			Code: code, Meaning: "A mandatory field is missing, null or empty (ordering.required).",
			Params: []Param{{"field", "the field's name in the interface document"}},
			Path:   "/guest/phone", Example: Params{"field": "guest.phone"},
			english: func(p Params, _ string) string {
				if p["field"] == "expectedAt" {
					return "expectedAt is missing; soonest: true asks for the earliest time"
				}
				return fmt.Sprintf("%v is missing", p["field"])
			},
		}
	case ValueNotAllowed:
		return Description{
			Code: code, Meaning: "The field takes only the listed values.",
			Params: []Param{{"allowed", "array of the values it takes"}},
			Path:   "/paymentTypeID", Example: Params{"allowed": []string{"cash", "card", "online"}},
			english: func(p Params, _ string) string { return "The value must be " + oneOf(p["allowed"]) },
		}
	case TypeMismatch:
		return Description{
			Code: code, Meaning: "The value is of another kind than the field takes.",
			Params: []Param{
				{"want", "string, identifier, integer, number, date-time, boolean, array or object"},
				{"got", "the kind of the value as sent"},
			},
			Path: "/dishList/0/quantity", Example: Params{"want": "number", "got": "boolean"},
			english: func(p Params, _ string) string {
				if p["want"] == string(wantTime) {
					return "A date and time with its offset is expected here, such as 2030-12-31T19:30:00+01:00"
				}
				return fmt.Sprintf("A value of kind %v is expected here, not what was sent (%v)", p["want"], p["got"])
			},
		}
	case DecimalComma:
		return Description{
			Code: code, Meaning: "The number is written with a decimal comma.",
			Path: "/dishList/0/price", Example: Params{},
			english: func(Params, string) string { return "Write the number with a full stop, not with a comma" },
		}
	case LimitExceeded:
		return Description{
			Code: code, Meaning: "The order is larger than larder takes: 200 dishes, 100 ingredients a dish, 1,000,000 of an ingredient, numbers of 40 digits, whole numbers of 2,147,483,647, or too much work to assign its ingredients to groups.",
			Params: []Param{{"limit", "the number that was exceeded"}},
			Path:   "/dishList", Example: Params{"limit": 200},
			english: func(p Params, subject string) string {
				return fmt.Sprintf("%s: at most %v", cmp.Or(subject, "Dishes of an order"), p["limit"])
			},
		}
	case ChangeFrom:
		return Description{
			Code: code, Meaning: "changeFrom is less than the order's total, or is given without payment in cash.",
			Params: []Param{{"total", "the order's total; null where it cannot be computed"}},
			Path:   "/changeFrom", Example: Params{"total": json.Number("640")},
			english: func(p Params, _ string) string {
				if p["total"] == nil {
					return "Change is given only for cash"
				}
				return fmt.Sprintf("Change is given only for cash, from a sum of at least %v", p["total"])
			},
		}
	case AmountInsufficient:
		return Description{
			Code: code, Meaning: "The payments do not cover the order's total.",
			Params: []Param{{"total", "the order's total"}},
			Path:   "/0/amount", Example: Params{"total": json.Number("640")},
			english: func(p Params, _ string) string { return fmt.Sprintf("The payment must cover %v", p["total"]) },
		}
	default:
		return describeTime(code)
	}
}

func describeTime(code Code) Description {
	switch code {
	case TimeZoneMissing:
		return Description{
			Code: code, Meaning: "The time has no time zone offset.",
			Path: "/expectedAt", Example: Params{},
			english: func(Params, string) string { return "Give the time with its offset, such as 2026-05-01T18:30:00+03:00" },
		}
	case TimeInPast:
		return Description{
			Code: code, Meaning: "expectedAt lies in the past.",
			Params: []Param{{"earliest", "the earliest time that is accepted"}},
			Path:   "/expectedAt", Example: Params{"earliest": "2026-05-01T15:30:00.000Z"},
			english: func(p Params, _ string) string {
				return fmt.Sprintf("The time has passed; the earliest is %v", p["earliest"])
			},
		}
	case TimeTooFar:
		return Description{
			Code: code, Meaning: "expectedAt lies further ahead than orders are taken (ordering.time_ahead).",
			Params: []Param{{"latest", "the latest time that is accepted"}},
			Path:   "/expectedAt", Example: Params{"latest": "2026-05-31T15:30:00.000Z"},
			english: func(p Params, _ string) string {
				return fmt.Sprintf("The time is too far ahead; the latest is %v", p["latest"])
			},
		}
	default:
		return Description{
			Code: code, Example: Params{},
			english: func(Params, string) string { return string(code) },
		}
	}
}

// limits tells a group's limits: "1 to 2", "exactly 1", "at least 1", "at most 2".
func limits(p Params) string {
	lower, upper := whole(p["min"]), whole(p["max"])
	switch {
	case p["max"] == nil:
		return fmt.Sprintf("at least %d", lower)
	case lower == upper:
		return fmt.Sprintf("exactly %d", lower)
	case lower == 0:
		return fmt.Sprintf("at most %d", upper)
	default:
		return fmt.Sprintf("%d to %d", lower, upper)
	}
}

// whole reads a whole number of the params.
func whole(v any) int64 {
	n, _ := v.(int64)
	return n
}

func either(subject, otherwise string) string {
	if subject != "" {
		return subject
	}
	return otherwise
}

// about says something about a dish or ingredient, by its name where it is
// known.
func about(subject, sentence string) string {
	if subject == "" {
		return strings.ToUpper(sentence[:1]) + sentence[1:]
	}
	return subject + ": " + sentence
}

// oneOf lists values: "cash, card or online".
func oneOf(allowed any) string {
	values, _ := allowed.([]string)
	if len(values) < 2 {
		return strings.Join(values, "")
	}
	last := len(values) - 1
	return strings.Join(values[:last], ", ") + " or " + values[last]
}
