package ordering

import (
	"cmp"
	"fmt"

	"larder/internal/menu"
)

func describeIngredient(code Code) Description {
	switch code {
	case DishTakesNoIngredients:
		return Description{
			Code: code, Meaning: "The dish (or, where the path says so, the ingredient) has no modifiers.",
			Path: "/dishList/0/ingredients", Example: Params{},
			english: func(_ Params, subject string) string { return cmp.Or(subject, "This dish") + " takes no ingredients" },
			russian: func(_ Params, subject string) string {
				return about(subject, "выбор ингредиентов не предусмотрен")
			},
		}
	case IngredientNotInMenu:
		return Description{
			Code: code, Meaning: "The menu has no ingredient with this id, nor with this externalId.",
			Params: []Param{{"id", "the id as sent"}},
			Path:   "/dishList/0/ingredients/1", Example: Params{"id": "i-404"},
			english: func(p Params, _ string) string { return fmt.Sprintf("The menu has no ingredient %v", p["id"]) },
			russian: func(p Params, _ string) string {
				return fmt.Sprintf("В меню нет ингредиента %v", p["id"])
			},
		}
	case IngredientNotAllowed:
		return Description{
			Code: code, Meaning: "The ingredient stands in no group that the dish, as it was composed, offers.",
			Params: []Param{{"id", "the menu's id of the ingredient"}, {"dish", "the menu's id of the dish"}},
			Path:   "/dishList/0/ingredients/1", Example: Params{"id": "i-3", "dish": "d-7"},
			english: func(p Params, subject string) string {
				return cmp.Or(subject, fmt.Sprintf("Ingredient %v", p["id"])) + " cannot be chosen for this dish"
			},
			russian: func(p Params, subject string) string {
				return cmp.Or(subject, fmt.Sprintf("Ингредиент %v", p["id"])) + ": нельзя выбрать для этого блюда"
			},
		}
	case IngredientUnavailable:
		return Description{
			Code: code, Meaning: "The ingredient is on the restaurant's stop list, or cannot be ordered as the menu has it.",
			Params: []Param{{"id", "the menu's id of the ingredient"}, {"reason", "stopped, price_invalid or no_external_id, as in the menu"}},
			Path:   "/dishList/0/ingredients/1", Example: Params{"id": "i-5", "reason": menu.ReasonStopped},
			english: func(p Params, subject string) string {
				then := " is not available now"
				if p["reason"] != menu.ReasonStopped {
					then = " cannot be ordered at the moment"
				}
				return cmp.Or(subject, fmt.Sprintf("Ingredient %v", p["id"])) + then
			},
			russian: func(p Params, subject string) string {
				then := ": сейчас нет в наличии"
				if p["reason"] != menu.ReasonStopped {
					then = ": сейчас нельзя заказать"
				}
				return cmp.Or(subject, fmt.Sprintf("Ингредиент %v", p["id"])) + then
			},
		}
	case GroupPinInvalid:
		return Description{
			Code: code, Meaning: "The groupId of an ingredient is no group of the dish that holds the ingredient.",
			Params: []Param{{"groupId", "the groupId as sent"}},
			Path:   "/dishList/0/ingredients/1/groupId", Example: Params{"groupId": "g-9"},
			english: func(p Params, subject string) string {
				return fmt.Sprintf("%s does not belong to the group %v of this dish", cmp.Or(subject, "The ingredient"), p["groupId"])
			},
			russian: func(p Params, subject string) string {
				return about(subject, fmt.Sprintf("в группе %v этого блюда такого ингредиента нет", p["groupId"]))
			},
		}
	default: // TooDeep
		return Description{
			Code: code, Meaning: "Ingredients within ingredients go deeper than larder follows (ordering.max_depth).",
			Path: "/dishList/0/ingredients/0/ingredients", Example: Params{},
			english: func(_ Params, subject string) string { return about(subject, "the ingredients are nested too deep") },
			russian: func(_ Params, subject string) string {
				return about(subject, "слишком много уровней вложенных ингредиентов")
			},
		}
	}
}

// describeGroup has the codes of a group whose count is outside its limits.
// Their sentences tell the group, what to add or remove, its limits and what
// was counted.
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
				return fmt.Sprintf("%v: choose %d more (%s; %v chosen)", p["name"], whole(p["min"])-whole(p["count"]), limits(p), p["count"])
			},
			russian: func(p Params, _ string) string {
				return fmt.Sprintf("%v: добавьте ещё %s (%s; выбрано: %v)", p["name"], items(whole(p["min"])-whole(p["count"])), limitsRu(p), p["count"])
			},
		}
	}
	return Description{
		Code: code, Meaning: "Too many ingredients of a group are chosen for one unit of the dish.",
		Params: params, Path: "/dishList/0/ingredients",
		Example: Params{"group": "g-1", "name": "Sauce", "min": int64(1), "max": int64(2), "count": int64(3)},
		english: func(p Params, _ string) string {
			return fmt.Sprintf("%v: choose %d fewer (%s; %v chosen)", p["name"], whole(p["count"])-whole(p["max"]), limits(p), p["count"])
		},
		russian: func(p Params, _ string) string {
			return fmt.Sprintf("%v: уберите %s (%s; выбрано: %v)", p["name"], items(whole(p["count"])-whole(p["max"])), limitsRu(p), p["count"])
		},
	}
}
