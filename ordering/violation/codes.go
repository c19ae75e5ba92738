package violation

import "larder/internal/menu"

// Code names a kind of violation. The codes are stable; docs/violations.md explains them.
type Code string

// The violation codes.
const (
	DishNotInMenu          Code = "dish_not_in_menu"
	DishUnavailable        Code = "dish_unavailable"
	DishNotOrderable       Code = "dish_not_orderable"
	ExternalIDAmbiguous    Code = "external_id_ambiguous"
	QuantityNotPositive    Code = "quantity_not_positive"
	QuantityNotWhole       Code = "quantity_not_whole"
	PriceChanged           Code = "price_changed"
	DishTakesNoIngredients Code = "dish_takes_no_ingredients"
	IngredientNotInMenu    Code = "ingredient_not_in_menu"
	IngredientNotAllowed   Code = "ingredient_not_allowed"
	IngredientUnavailable  Code = "ingredient_unavailable"
	GroupMin               Code = "group_min"
	GroupMax               Code = "group_max"
	GroupPinInvalid        Code = "group_pin_invalid"
	TooDeep                Code = "too_deep"
	FieldRequired          Code = "field_required"
	ValueNotAllowed        Code = "value_not_allowed"
	TypeMismatch           Code = "type_mismatch"
	DecimalComma           Code = "decimal_comma"
	TimeZoneMissing        Code = "time_zone_missing"
	TimeInPast             Code = "time_in_past"
	TimeTooFar             Code = "time_too_far"
	ChangeFrom             Code = "change_from"
	AmountInsufficient     Code = "amount_insufficient"
	LimitExceeded          Code = "limit_exceeded"
	PhoneInvalid           Code = "phone_invalid"
	TextInvalid            Code = "text_invalid"
)

// texts is a text in each language.
type texts struct{ english, russian string }

func (t texts) in(language string) string {
	if language == Russian {
		return t.russian
	}
	return t.english
}

// template is the message of a violation code; messages.go expands the placeholders in braces.
type template struct {
	message texts
	// subject replaces {subject} if no name is known. If it is empty, a leading "{subject}: " is dropped.
	subject texts
	special special
}

// special is the message to use if a param has a certain value.
type special struct {
	param, value string
	message      texts
}

// templates has an entry for every violation code.
var templates = map[Code]template{ //nolint:gochecknoglobals // constant
	DishNotInMenu:   {message: texts{"The menu has no dish {id}", "В меню нет блюда {id}"}},
	DishUnavailable: {message: texts{"{name} is out of stock", "{name}: сейчас нет в наличии"}},
	DishNotOrderable: {
		message: texts{"{subject} cannot be ordered at the moment", "{subject}: сейчас нельзя заказать"},
		subject: texts{"Dish {id}", "Блюдо {id}"},
	},
	ExternalIDAmbiguous: {message: texts{
		"The identifier {externalId} matches several items: use the id from the menu",
		"Идентификатор {externalId} есть у нескольких позиций: укажите id из меню",
	}},
	QuantityNotPositive: {message: texts{
		"{subject}: the quantity must be more than 0, not {quantity}",
		"{subject}: количество должно быть больше 0 (указано: {quantity})",
	}},
	QuantityNotWhole: {message: texts{
		"{subject}: the quantity must be a whole number, not {quantity}",
		"{subject}: количество должно быть целым числом (указано: {quantity})",
	}},
	PriceChanged: {message: texts{"{subject}: the price is now {current}, not {sent}", "{subject}: цена теперь {current}, а не {sent}"}},
	DishTakesNoIngredients: {
		message: texts{"{subject} takes no ingredients", "{subject}: выбор ингредиентов не предусмотрен"},
		subject: texts{"This dish", ""},
	},
	IngredientNotInMenu: {message: texts{"The menu has no ingredient {id}", "В меню нет ингредиента {id}"}},
	IngredientNotAllowed: {
		message: texts{"{subject} cannot be chosen for this dish", "{subject}: нельзя выбрать для этого блюда"},
		subject: texts{"Ingredient {id}", "Ингредиент {id}"},
	},
	IngredientUnavailable: {
		message: texts{"{subject} cannot be ordered at the moment", "{subject}: сейчас нельзя заказать"},
		subject: texts{"Ingredient {id}", "Ингредиент {id}"},
		special: special{"reason", string(menu.ReasonStopped), texts{"{subject} is out of stock", "{subject}: сейчас нет в наличии"}},
	},
	GroupMin: {message: texts{
		"{name}: choose {missing} more ({limits}; {count} chosen)",
		"{name}: добавьте ещё {missing} ({limits}; выбрано: {count})",
	}},
	GroupMax: {message: texts{
		"{name}: choose {excess} fewer ({limits}; {count} chosen)",
		"{name}: уберите {excess} ({limits}; выбрано: {count})",
	}},
	GroupPinInvalid: {
		message: texts{
			"{subject} does not belong to the group {groupId} of this dish",
			"{subject}: в группе {groupId} этого блюда такого ингредиента нет",
		},
		subject: texts{"The ingredient", ""},
	},
	TooDeep: {message: texts{"{subject}: too many levels of nested ingredients", "{subject}: слишком много уровней вложенных ингредиентов"}},
	FieldRequired: {
		message: texts{"{field} is missing", "Не заполнено поле {field}"},
		special: special{"field", "expectedAt", texts{
			"expectedAt is missing; for the earliest time, send soonest: true",
			"Не заполнено поле expectedAt; soonest: true значит «как можно скорее»",
		}},
	},
	ValueNotAllowed: {
		message: texts{"The value must be {allowed}", "Подходит только {allowed}"},
		special: special{"allowed", "", texts{"Leave the field empty", "Оставьте поле пустым"}},
	},
	TypeMismatch: {
		message: texts{
			"This must be a value of type {want}, not {got}",
			"Здесь нужно другое значение: {want}, а не {got}",
		},
		special: special{"want", "date-time", texts{
			"This must be a date and time with a time zone offset, such as 2030-12-31T19:30:00+01:00",
			"Укажите дату и время со смещением часового пояса, например 2030-12-31T19:30:00+03:00",
		}},
	},
	DecimalComma: {message: texts{"Write the number with a decimal point, not with a comma", "Запишите число с точкой, а не с запятой"}},
	PhoneInvalid: {message: texts{
		"Enter a phone number with at least {digits} digits",
		"Укажите номер телефона, в нём должно быть не меньше {digits} цифр",
	}},
	TextInvalid: {message: texts{
		"The text contains a control character ({character}); remove it",
		"В тексте есть управляющий символ ({character}), уберите его",
	}},
	TimeZoneMissing: {message: texts{
		"Add the time zone offset to the time, such as 2026-05-01T18:30:00+03:00",
		"Укажите время со смещением часового пояса, например 2026-05-01T18:30:00+03:00",
	}},
	TimeInPast: {message: texts{"This time has passed; the earliest is {earliest}", "Это время уже прошло; самое раннее: {earliest}"}},
	TimeTooFar: {message: texts{
		"This time is too far ahead; the latest is {latest}",
		"На это время заказы ещё не принимают; самое позднее: {latest}",
	}},
	ChangeFrom: {
		message: texts{
			"Change is only given for cash: enter at least {total} (your total), or leave it empty",
			"Сдача возможна только при оплате наличными: укажите не меньше {total} (сумма заказа) или оставьте поле пустым",
		},
		special: special{"total", "", texts{"Change is only given for cash", "Сдача возможна только при оплате наличными"}},
	},
	AmountInsufficient: {message: texts{"The payment must cover {total}", "Сумма оплаты должна быть не меньше {total}"}},
	LimitExceeded: {
		message: texts{"{subject}: at most {limit}", "{subject}: не больше {limit}"},
		subject: texts{"The quantity", "Количество"},
	},
}
