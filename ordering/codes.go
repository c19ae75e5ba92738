package ordering

import (
	"encoding/json"

	"larder/internal/menu"
)

// Description is one row of the table of violation codes.
type Description struct {
	Code Code
	// Meaning is one sentence for the reader of the documentation.
	Meaning string
	// Path is an example of where the violation points.
	Path   string
	Params []Param

	message texts
	// subject stands for {subject} where no name is known. Without it, a message
	// that begins with "{subject}: " begins after that.
	subject texts
	special special
}

// Param is one param of a violation code.
type Param struct {
	Name, Meaning string
	Example       any
}

// texts are a text in each of the Languages.
type texts struct{ english, russian string }

func (t texts) in(language string) string {
	if language == Russian {
		return t.russian
	}
	return t.english
}

// special is the message for one value of one param.
type special struct {
	param, value string
	message      texts
}

// descriptions is the one table of violation codes, in the order of the
// documentation: every message, docs/violations.md and the OpenAPI document are
// made from it. messages.go explains what stands in braces.
var descriptions = []Description{ //nolint:gochecknoglobals // constant
	{
		Code: DishNotInMenu, Path: "/dishList/0", Meaning: "The menu has no dish with this id, nor with this externalId.",
		Params:  []Param{{"id", "the id as sent", "d-404"}},
		message: texts{"The menu has no dish {id}", "В меню нет блюда {id}"},
	},
	{
		Code: DishUnavailable, Path: "/dishList/0", Meaning: "The dish is on the restaurant's stop list.",
		Params:  []Param{{"id", "the menu's id of the dish", "d-7"}, {"name", "its name", "Borscht"}},
		message: texts{"{name} is not available now", "{name}: сейчас нет в наличии"},
	},
	{
		Code: DishNotOrderable, Path: "/dishList/0",
		Meaning: "The dish cannot be ordered as the menu stands: for one, a group it must be chosen from has nothing left.",
		Params: []Param{
			{"id", "the menu's id of the dish", "d-8"},
			{"reasons", "array of {code, group}, as in the menu", []map[string]string{{"code": "group_unsatisfiable", "group": "g-2"}}},
		},
		message: texts{"{subject} cannot be ordered at the moment", "{subject}: сейчас нельзя заказать"},
		subject: texts{"Dish {id}", "Блюдо {id}"},
	},
	{
		Code: ExternalIDAmbiguous, Path: "/dishList/0",
		Meaning: "Several dishes or ingredients share this externalId; order by the menu's id.",
		Params: []Param{
			{"externalId", "the externalId as sent", "1001"}, {"ids", "the menu's ids that share it", []string{"d-1", "d-2"}},
		},
		message: texts{
			"The identifier {externalId} stands for several items: order by the menu's id",
			"Идентификатор {externalId} есть у нескольких позиций: укажите id из меню",
		},
	},
	{
		Code: QuantityNotPositive, Path: "/dishList/0/quantity", Meaning: "The quantity of a dish or ingredient is zero or less.",
		Params: []Param{{"quantity", "the quantity as sent", json.Number("0")}},
		message: texts{
			"{subject}: the quantity must be more than 0, not {quantity}", "{subject}: количество должно быть больше 0 (указано: {quantity})",
		},
	},
	{
		Code: QuantityNotWhole, Path: "/dishList/0/quantity",
		Meaning: "The quantity is fractional, but the dish or ingredient is sold by the piece.",
		Params:  []Param{{"quantity", "the quantity as sent", json.Number("1.5")}},
		message: texts{
			"{subject}: the quantity must be a whole number, not {quantity}",
			"{subject}: количество должно быть целым числом (указано: {quantity})",
		},
	},
	{
		Code: PriceChanged, Path: "/dishList/0/price",
		Meaning: "The price sent with a dish or ingredient is not the menu's; without a price none is compared.",
		Params:  []Param{{"sent", "the price as sent", json.Number("199")}, {"current", "the menu's price", json.Number("219.9")}},
		message: texts{"{subject}: the price is now {current}, not {sent}", "{subject}: цена теперь {current}, а не {sent}"},
	},
	{
		Code: DishTakesNoIngredients, Path: "/dishList/0/ingredients",
		Meaning: "The dish (or, where the path says so, the ingredient) has no modifiers.",
		message: texts{"{subject} takes no ingredients", "{subject}: выбор ингредиентов не предусмотрен"},
		subject: texts{"This dish", ""},
	},
	{
		Code: IngredientNotInMenu, Path: "/dishList/0/ingredients/1",
		Meaning: "The menu has no ingredient with this id, nor with this externalId.",
		Params:  []Param{{"id", "the id as sent", "i-404"}},
		message: texts{"The menu has no ingredient {id}", "В меню нет ингредиента {id}"},
	},
	{
		Code: IngredientNotAllowed, Path: "/dishList/0/ingredients/1",
		Meaning: "The ingredient stands in no group that the dish, as it was composed, offers.",
		Params:  []Param{{"id", "the menu's id of the ingredient", "i-3"}, {"dish", "the menu's id of the dish", "d-7"}},
		message: texts{"{subject} cannot be chosen for this dish", "{subject}: нельзя выбрать для этого блюда"},
		subject: texts{"Ingredient {id}", "Ингредиент {id}"},
	},
	{
		Code: IngredientUnavailable, Path: "/dishList/0/ingredients/1",
		Meaning: "The ingredient is on the restaurant's stop list, or cannot be ordered as the menu has it.",
		Params: []Param{
			{"id", "the menu's id of the ingredient", "i-5"},
			{"reason", "stopped, price_invalid or no_external_id, as in the menu", menu.ReasonStopped},
		},
		message: texts{"{subject} cannot be ordered at the moment", "{subject}: сейчас нельзя заказать"},
		subject: texts{"Ingredient {id}", "Ингредиент {id}"},
		special: special{"reason", string(menu.ReasonStopped), texts{"{subject} is not available now", "{subject}: сейчас нет в наличии"}},
	},
	{
		Code: GroupMin, Path: "/dishList/0/ingredients", Meaning: "Too few ingredients of a group are chosen for one unit of the dish.",
		Params: groupParams(0),
		message: texts{
			"{name}: choose {missing} more ({limits}; {count} chosen)", "{name}: добавьте ещё {missing} ({limits}; выбрано: {count})",
		},
	},
	{
		Code: GroupMax, Path: "/dishList/0/ingredients", Meaning: "Too many ingredients of a group are chosen for one unit of the dish.",
		Params:  groupParams(3),
		message: texts{"{name}: choose {excess} fewer ({limits}; {count} chosen)", "{name}: уберите {excess} ({limits}; выбрано: {count})"},
	},
	{
		Code: GroupPinInvalid, Path: "/dishList/0/ingredients/1/groupId",
		Meaning: "The groupId of an ingredient is no group of the dish that holds the ingredient.",
		Params:  []Param{{"groupId", "the groupId as sent", "g-9"}},
		message: texts{
			"{subject} does not belong to the group {groupId} of this dish", "{subject}: в группе {groupId} этого блюда такого ингредиента нет",
		},
		subject: texts{"The ingredient", ""},
	},
	{
		Code: TooDeep, Path: "/dishList/0/ingredients/0/ingredients",
		Meaning: "Ingredients within ingredients go deeper than larder follows (ordering.max_depth).",
		message: texts{"{subject}: the ingredients are nested too deep", "{subject}: слишком много уровней вложенных ингредиентов"},
	},
	{
		Code: FieldRequired, Path: "/guest/phone", Meaning: "A mandatory field is missing, null or empty (ordering.required).",
		Params:  []Param{{"field", "the field's name in the ordering service's interface", "guest.phone"}},
		message: texts{"{field} is missing", "Не заполнено поле {field}"},
		special: special{"field", "expectedAt", texts{
			"expectedAt is missing; soonest: true asks for the earliest time",
			"Не заполнено поле expectedAt; soonest: true значит «как можно скорее»",
		}},
	},
	{
		Code: ValueNotAllowed, Path: "/paymentTypeID", Meaning: "The field takes only the listed values.",
		Params:  []Param{{"allowed", "array of the values it takes", []string{"cash", "card", "online"}}},
		message: texts{"The value must be {allowed}", "Подходит только {allowed}"},
		special: special{"allowed", "", texts{"Leave the field empty", "Оставьте поле пустым"}},
	},
	{
		Code: TypeMismatch, Path: "/dishList/0/quantity", Meaning: "The value is of another kind than the field takes.",
		Params: []Param{
			{"want", "string, identifier, integer, number, date-time, boolean, array or object", "number"},
			{"got", "the kind of the value as sent", "boolean"},
		},
		message: texts{
			"A value of kind {want} is expected here, not what was sent ({got})", "Здесь нужно другое значение: {want}, а не {got}",
		},
		special: special{"want", string(wantTime), texts{
			"A date and time with its offset is expected here, such as 2030-12-31T19:30:00+01:00",
			"Укажите дату и время со смещением часового пояса, например 2030-12-31T19:30:00+03:00",
		}},
	},
	{
		Code: DecimalComma, Path: "/dishList/0/price", Meaning: "The number is written with a decimal comma.",
		message: texts{"Write the number with a full stop, not with a comma", "Запишите число с точкой, а не с запятой"},
	},
	{
		Code: PhoneInvalid, Path: "/guest/phone", Meaning: "The guest's phone number has too few digits to be one.",
		Params: []Param{{"digits", "how many digits it needs at least", minPhoneDigits}},
		message: texts{
			"Enter a phone number with at least {digits} digits", "Укажите номер телефона, в нём должно быть не меньше {digits} цифр",
		},
	},
	{
		Code: TextInvalid, Path: "/comment", Meaning: "The text holds a control character other than tab, carriage return and line feed.",
		Params: []Param{{"character", "the first such character, as U+001B", "U+001B"}},
		message: texts{
			"The text contains a control character ({character}); remove it", "В тексте есть управляющий символ ({character}), уберите его",
		},
	},
	{
		Code: TimeZoneMissing, Path: "/expectedAt", Meaning: "The time has no time zone offset.",
		message: texts{
			"Give the time with its offset, such as 2026-05-01T18:30:00+03:00",
			"Укажите время со смещением часового пояса, например 2026-05-01T18:30:00+03:00",
		},
	},
	{
		Code: TimeInPast, Path: "/expectedAt", Meaning: "expectedAt lies in the past.",
		Params:  []Param{{"earliest", "the earliest time that is accepted", "2026-05-01T15:30:00.000Z"}},
		message: texts{"The time has passed; the earliest is {earliest}", "Это время уже прошло; самое раннее: {earliest}"},
	},
	{
		Code: TimeTooFar, Path: "/expectedAt", Meaning: "expectedAt lies further ahead than orders are taken (ordering.max_lead).",
		Params: []Param{{"latest", "the latest time that is accepted", "2026-05-31T15:30:00.000Z"}},
		message: texts{
			"The time is too far ahead; the latest is {latest}", "На это время заказы ещё не принимают; самое позднее: {latest}",
		},
	},
	{
		Code: ChangeFrom, Path: "/changeFrom",
		Meaning: "changeFrom is less than the order's total, or is given without payment in cash.",
		Params:  []Param{{"total", "the order's total; null where it cannot be computed", json.Number("640")}},
		message: texts{
			"Change is given only for cash, from a sum of at least {total}",
			"Сдача возможна только при оплате наличными, с суммы не меньше {total}",
		},
		special: special{"total", "", texts{"Change is given only for cash", "Сдача возможна только при оплате наличными"}},
	},
	{
		Code: AmountInsufficient, Path: "/0/amount", Meaning: "The payments do not cover the order's total.",
		Params:  []Param{{"total", "the order's total", json.Number("640")}},
		message: texts{"The payment must cover {total}", "Сумма оплаты должна быть не меньше {total}"},
	},
	{
		Code: LimitExceeded, Path: "/dishList",
		Meaning: "The order is larger than larder takes: 999 of a dish (ordering.max_quantity), 200 characters of a name, " +
			"1,000 of a comment or a part of the address, 200 dishes, 100 ingredients a dish, 100 payments, 1,000,000 of an ingredient, " +
			"numbers of 40 digits, whole numbers of 2,147,483,647, or too much work to assign its ingredients to groups.",
		Params:  []Param{{"limit", "the number that was exceeded", maxDishes}},
		message: texts{"{subject}: at most {limit}", "{subject}: не больше {limit}"},
		subject: texts{"The quantity", "Количество"},
	},
}

// groupParams are the params of a group of which count ingredients are chosen.
func groupParams(count int64) []Param {
	return []Param{
		{"group", "the group's id", "g-1"},
		{"name", "its name", "Sauce"},
		{"min", "how many one unit of the dish needs at least", int64(1)},
		{"max", "how many it takes at most; null = no limit", int64(2)},
		{"count", "how many were counted", count},
	}
}

// Codes returns all violation codes in the order of the documentation.
func Codes() []Code {
	codes := make([]Code, len(descriptions))
	for i := range descriptions {
		codes[i] = descriptions[i].Code
	}
	return codes
}

// Describe returns the row of a code. The message of a code that the table does
// not have is the code itself.
func Describe(code Code) Description {
	for i := range descriptions {
		if descriptions[i].Code == code {
			return descriptions[i]
		}
	}
	return Description{Code: code, message: texts{string(code), string(code)}}
}

// Example returns the params of an example.
func (d *Description) Example() Params {
	params := Params{}
	for _, p := range d.Params {
		params[p.Name] = p.Example
	}
	return params
}

// ExampleMsg returns the message of the example in a language.
func (d *Description) ExampleMsg(language string) string {
	return message(d.Code, language, d.Example(), "")
}
