package ordering

import (
	"encoding/json"
	"fmt"
)

// describeField has the codes of any field, by its presence, kind or size. A
// code that the table has not reads as itself.
func describeField(code Code) Description {
	switch code {
	case FieldRequired:
		return Description{
			Code: code, Meaning: "A mandatory field is missing, null or empty (ordering.required).",
			Params: []Param{{"field", "the field's name in the ordering service's interface"}},
			Path:   "/guest/phone", Example: Params{"field": "guest.phone"},
			english: func(p Params, _ string) string {
				if p["field"] == "expectedAt" {
					return "expectedAt is missing; soonest: true asks for the earliest time"
				}
				return fmt.Sprintf("%v is missing", p["field"])
			},
			russian: func(p Params, _ string) string {
				if p["field"] == "expectedAt" {
					return "Не заполнено поле expectedAt; soonest: true значит «как можно скорее»"
				}
				return fmt.Sprintf("Не заполнено поле %v", p["field"])
			},
		}
	case ValueNotAllowed:
		return Description{
			Code: code, Meaning: "The field takes only the listed values.",
			Params: []Param{{"allowed", "array of the values it takes"}},
			Path:   "/paymentTypeID", Example: Params{"allowed": []string{"cash", "card", "online"}},
			english: func(p Params, _ string) string {
				if values := oneOf(" or ", p["allowed"]); values != "" {
					return "The value must be " + values
				}
				return "Leave the field empty"
			},
			russian: func(p Params, _ string) string {
				if values := oneOf(" или ", p["allowed"]); values != "" {
					return "Подходит только " + values
				}
				return "Оставьте поле пустым"
			},
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
			russian: func(p Params, _ string) string {
				if p["want"] == string(wantTime) {
					return "Укажите дату и время со смещением часового пояса, например 2030-12-31T19:30:00+03:00"
				}
				return fmt.Sprintf("Здесь нужно другое значение: %s, а не %s", kindRu(p["want"]), kindRu(p["got"]))
			},
		}
	case DecimalComma:
		return Description{
			Code: code, Meaning: "The number is written with a decimal comma.",
			Path: "/dishList/0/price", Example: Params{},
			english: func(Params, string) string { return "Write the number with a full stop, not with a comma" },
			russian: func(Params, string) string {
				return "Запишите число с точкой, а не с запятой"
			},
		}
	case LimitExceeded:
		return Description{
			Code: code, Meaning: "The order is larger than larder takes: 999 of a dish (ordering.max_quantity), 200 characters of a name, 1,000 of a comment or a part of the address, 200 dishes, 100 ingredients a dish, 100 payments, 1,000,000 of an ingredient, numbers of 40 digits, whole numbers of 2,147,483,647, or too much work to assign its ingredients to groups.",
			Params: []Param{{"limit", "the number that was exceeded"}},
			Path:   "/dishList", Example: Params{"limit": maxDishes},
			english: func(p Params, subject string) string {
				return fmt.Sprintf("%s: at most %v", limited(English, subject), p["limit"])
			},
			russian: func(p Params, subject string) string {
				return fmt.Sprintf("%s: не больше %v", limited(Russian, subject), p["limit"])
			},
		}
	default:
		itself := func(Params, string) string { return string(code) }
		return Description{Code: code, Example: Params{}, english: itself, russian: itself}
	}
}

// describeMoney has the codes of what an order is paid with.
func describeMoney(code Code) Description {
	if code == ChangeFrom {
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
			russian: func(p Params, _ string) string {
				if p["total"] == nil {
					return "Сдача возможна только при оплате наличными"
				}
				return fmt.Sprintf("Сдача возможна только при оплате наличными, с суммы не меньше %v", p["total"])
			},
		}
	}
	return Description{
		Code: code, Meaning: "The payments do not cover the order's total.",
		Params: []Param{{"total", "the order's total"}},
		Path:   "/0/amount", Example: Params{"total": json.Number("640")},
		english: func(p Params, _ string) string { return fmt.Sprintf("The payment must cover %v", p["total"]) },
		russian: func(p Params, _ string) string {
			return fmt.Sprintf("Сумма оплаты должна быть не меньше %v", p["total"])
		},
	}
}

// describeTime has the codes of a time.
func describeTime(code Code) Description {
	switch code {
	case TimeZoneMissing:
		return Description{
			Code: code, Meaning: "The time has no time zone offset.",
			Path: "/expectedAt", Example: Params{},
			english: func(Params, string) string { return "Give the time with its offset, such as 2026-05-01T18:30:00+03:00" },
			russian: func(Params, string) string {
				return "Укажите время со смещением часового пояса, например 2026-05-01T18:30:00+03:00"
			},
		}
	case TimeInPast:
		return Description{
			Code: code, Meaning: "expectedAt lies in the past.",
			Params: []Param{{"earliest", "the earliest time that is accepted"}},
			Path:   "/expectedAt", Example: Params{"earliest": "2026-05-01T15:30:00.000Z"},
			english: func(p Params, _ string) string {
				return fmt.Sprintf("The time has passed; the earliest is %v", p["earliest"])
			},
			russian: func(p Params, _ string) string {
				return fmt.Sprintf("Это время уже прошло; самое раннее: %v", p["earliest"])
			},
		}
	default: // TimeTooFar
		return Description{
			Code: code, Meaning: "expectedAt lies further ahead than orders are taken (ordering.max_lead).",
			Params: []Param{{"latest", "the latest time that is accepted"}},
			Path:   "/expectedAt", Example: Params{"latest": "2026-05-31T15:30:00.000Z"},
			english: func(p Params, _ string) string {
				return fmt.Sprintf("The time is too far ahead; the latest is %v", p["latest"])
			},
			russian: func(p Params, _ string) string {
				return fmt.Sprintf("На это время заказы ещё не принимают; самое позднее: %v", p["latest"])
			},
		}
	}
}
