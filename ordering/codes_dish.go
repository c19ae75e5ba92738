package ordering

import (
	"cmp"
	"encoding/json"
	"fmt"
)

// describeDish has the codes of a dish, and of a quantity and a price of either
// a dish or an ingredient.
func describeDish(code Code) Description {
	switch code {
	case DishNotInMenu:
		return Description{
			Code: code, Meaning: "The menu has no dish with this id, nor with this externalId.",
			Params: []Param{{"id", "the id as sent"}},
			Path:   "/dishList/0", Example: Params{"id": "d-404"},
			english: func(p Params, _ string) string { return fmt.Sprintf("The menu has no dish %v", p["id"]) },
			russian: func(p Params, _ string) string { return fmt.Sprintf("В меню нет блюда %v", p["id"]) },
		}
	case DishUnavailable:
		return Description{
			Code: code, Meaning: "The dish is on the restaurant's stop list.",
			Params: []Param{{"id", "the menu's id of the dish"}, {"name", "its name"}},
			Path:   "/dishList/0", Example: Params{"id": "d-7", "name": "Borscht"},
			english: func(p Params, _ string) string { return fmt.Sprintf("%v is not available now", p["name"]) },
			russian: func(p Params, _ string) string {
				return fmt.Sprintf("%v: сейчас нет в наличии", p["name"])
			},
		}
	case DishNotOrderable:
		return Description{
			Code: code, Meaning: "The dish cannot be ordered as the menu stands: for one, a group it must be chosen from has nothing left.",
			Params: []Param{{"id", "the menu's id of the dish"}, {"reasons", "array of {code, group}, as in the menu"}},
			Path:   "/dishList/0", Example: Params{"id": "d-8", "reasons": []map[string]string{{"code": "group_unsatisfiable", "group": "g-2"}}},
			english: func(p Params, subject string) string {
				return cmp.Or(subject, fmt.Sprintf("Dish %v", p["id"])) + " cannot be ordered at the moment"
			},
			russian: func(p Params, subject string) string {
				return cmp.Or(subject, fmt.Sprintf("Блюдо %v", p["id"])) + ": сейчас нельзя заказать"
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
			russian: func(p Params, _ string) string {
				return fmt.Sprintf("Идентификатор %v есть у нескольких позиций: укажите id из меню", p["externalId"])
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
			russian: func(p Params, subject string) string {
				return about(subject, fmt.Sprintf("количество должно быть больше 0 (указано: %v)", p["quantity"]))
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
			russian: func(p Params, subject string) string {
				return about(subject, fmt.Sprintf("количество должно быть целым числом (указано: %v)", p["quantity"]))
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
			russian: func(p Params, subject string) string {
				return about(subject, fmt.Sprintf("цена теперь %v, а не %v", p["current"], p["sent"]))
			},
		}
	}
}
