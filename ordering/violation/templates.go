package violation

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

// special has the messages to use for certain values of a param.
type special struct {
	param    string
	messages map[string]texts // by value
}

// templates has the message of every violation code.
//
//nolint:gochecknoglobals // read only
var templates = map[Code]template{
	DishNotInMenu: {message: texts{"The menu has no dish {id}", "В меню нет блюда {id}"}},
	DishUnavailable: {
		message: texts{"{name} is out of stock until {until}", "{name}: нет в наличии до {until}"},
		special: special{"until", map[string]texts{"": {"{name} is out of stock", "{name}: сейчас нет в наличии"}}},
	},
	DishNotOrderable: {
		message: texts{"{subject} cannot be ordered at the moment", "{subject}: сейчас нельзя заказать"},
		subject: texts{"Dish {id}", "Блюдо {id}"},
	},
	ExternalIDAmbiguous: {message: texts{
		"The identifier {externalId} matches several items: use the id from the menu",
		"Идентификатор {externalId} есть у нескольких позиций: укажите id из меню",
	}},
	IDConflict: {message: texts{
		"The identifiers {id} and {externalId} do not name the same item ({names}): send the id and the externalId of one item",
		"Идентификаторы {id} и {externalId} относятся не к одной позиции ({names}): укажите id и externalId одной позиции",
	}},
	QuantityNotPositive: {message: texts{
		"{subject}: the quantity must be more than 0, not {quantity}",
		"{subject}: количество должно быть больше 0 (указано: {quantity})",
	}},
	QuantityNotWhole: {message: texts{
		"{subject}: the quantity must be a whole number, not {quantity}",
		"{subject}: количество должно быть целым числом (указано: {quantity})",
	}},
	QuantityTooSmall: {message: texts{
		"{subject}: the quantity must be at least {minimum}",
		"{subject}: количество должно быть не меньше {minimum}",
	}},
	PriceChanged: {message: texts{"{subject}: the price is now {current}, not {sent}", "{subject}: цена теперь {current}, а не {sent}"}},
	TotalNegative: {message: texts{
		"{subject}: the price with its options must not be below 0",
		"{subject}: цена с добавками не может быть меньше 0",
	}},
	DishTakesNoIngredients: {
		message: texts{"{subject} takes no ingredients", "{subject}: выбор ингредиентов не предусмотрен"},
		subject: texts{"This dish", ""},
	},
	IngredientNotInMenu: {message: texts{"The menu has no ingredient {id}", "В меню нет ингредиента {id}"}},
	IngredientNotAllowed: {
		message: texts{"{subject} cannot be chosen here", "{subject}: здесь выбрать нельзя"},
		subject: texts{"Ingredient {id}", "Ингредиент {id}"},
	},
	IngredientUnavailable: {
		message: texts{"{subject} cannot be ordered at the moment", "{subject}: сейчас нельзя заказать"},
		subject: texts{"Ingredient {id}", "Ингредиент {id}"},
		special: special{"reason", map[string]texts{"stopped": {"{subject} is out of stock", "{subject}: сейчас нет в наличии"}}},
	},
	GroupMin: {message: texts{
		"{parent}{name}: choose {missing} more ({limits}; {count} chosen)",
		"{parent}{name}: добавьте ещё {missing} ({limits}; выбрано: {count})",
	}},
	GroupMax: {message: texts{
		"{parent}{name}: choose {excess} fewer ({limits}; {count} chosen)",
		"{parent}{name}: уберите {excess} ({limits}; выбрано: {count})",
	}},
	GroupPinInvalid: {
		message: texts{
			"{subject} does not belong to the group {groupId} of this dish",
			"{subject}: в группе {groupId} этого блюда такого ингредиента нет",
		},
		subject: texts{"The ingredient", ""},
	},
	TooDeep: {message: texts{
		"{subject}: too many levels of nested ingredients",
		"{subject}: слишком много уровней вложенных ингредиентов",
	}},
	FieldRequired: {
		message: texts{"{field} is missing", "Не заполнено поле {field}"},
		special: special{"field", requiredTexts},
	},
	ValueNotAllowed: {
		message: texts{"The value must be {allowed}", "Подходит только {allowed}"},
		special: special{"allowed", map[string]texts{"": {"Leave the field empty", "Оставьте поле пустым"}}},
	},
	TypeMismatch: {
		message: texts{"This must be a value of type {want}, not {got}", "Здесь нужно другое значение: {want}, а не {got}"},
		special: special{"want", map[string]texts{"date-time": {
			"This must be a date and time with a time zone offset, such as 2030-12-31T19:30:00+01:00",
			"Укажите дату и время со смещением часового пояса, например 2030-12-31T19:30:00+03:00",
		}}},
	},
	DecimalComma: {message: texts{"Write the number with a decimal point, not with a comma", "Запишите число с точкой, а не с запятой"}},
	PhoneInvalid: {
		message: texts{
			"Enter a phone number with {digits} to {maximum} digits that are not all the same",
			"Укажите номер телефона: от {digits} до {maximum} цифр, не все одинаковые",
		},
		special: special{"maximum", map[string]texts{"": {
			"Enter a phone number with at least {digits} digits",
			"Укажите номер телефона, в нём должно быть не меньше {digits} цифр",
		}}},
	},
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
	TooSoon: {message: texts{"This time is too soon; the earliest is {earliest}", "Это слишком рано; самое раннее время: {earliest}"}},
	RestaurantPaused: {
		message: texts{
			"The restaurant is not taking such orders: choose a time from {until}",
			"Ресторан сейчас не принимает такие заказы: выберите время не раньше {until}",
		},
		special: special{"until", map[string]texts{"": {
			"The restaurant is not taking such orders at the moment", "Ресторан сейчас не принимает такие заказы",
		}}},
	},
	RestaurantClosed: {
		message: texts{
			"The restaurant is closed at this time; it opens at {opensAt}",
			"В это время ресторан закрыт, он откроется: {opensAt}",
		},
		special: special{"opensAt", map[string]texts{"": {"The restaurant is closed", "Ресторан закрыт"}}},
	},
	MinimumOrder: {message: texts{
		"The minimum order is {minimum}: add dishes for {missing} more",
		"Минимальная сумма заказа: {minimum}, добавьте блюда ещё на {missing}",
	}},
	ChangeNotCash: {message: texts{
		"Change is only given for cash: pay in cash, or leave the field empty",
		"Сдача возможна только при оплате наличными: выберите наличные или оставьте поле пустым",
	}},
	ChangeTooSmall: {message: texts{
		"Enter at least {minimum} (your total), or leave the field empty",
		"Укажите не меньше {minimum} (сумма заказа) или оставьте поле пустым",
	}},
	AmountInsufficient: {message: texts{"The payment must cover {total}", "Сумма оплаты должна быть не меньше {total}"}},
	LimitExceeded: {
		message: texts{"{subject}: at most {limit}", "{subject}: не больше {limit}"},
		subject: texts{"The quantity", "Количество"},
	},
}

// russianLimits has the subjects of LimitExceeded.
//
//nolint:gochecknoglobals // read only
var russianLimits = map[string]string{
	LimitOfDishes:      "Блюд в заказе",
	LimitOfIngredients: "Ингредиентов в блюде",
	LimitOfDigits:      "Цифр в числе",
	LimitOfPayments:    "Платежей за заказ",
	LimitOfDecimals:    "Знаков после запятой",
	LimitOfAmount:      "Сумма",
	LimitOfCharacters:  "Число символов",
	LimitOfWork:        "Шагов, чтобы проверить заказ",
}

// russianKinds has the kinds of values.
//
//nolint:gochecknoglobals // read only
var russianKinds = map[string]string{
	"string":     "строка",
	"identifier": "идентификатор",
	"integer":    "целое число",
	"number":     "число",
	"date-time":  "дата и время",
	"boolean":    "логическое значение",
	"array":      "массив",
	"object":     "объект",
	"null":       "пустое значение",
}

// requiredTexts has the messages of FieldRequired by the field's name in the ordering service's interface. Guests read
// them, and do not know that name. Fields that only programs send, such as those of a payment, have no message of their own.
//
//nolint:gochecknoglobals // read only
var requiredTexts = map[string]texts{
	"dishList":                    {"Choose at least one dish", "Выберите хотя бы одно блюдо"},
	"dishList[].ID":               {"Choose the dish again", "Выберите блюдо ещё раз"},
	"dishList[].quantity":         {"{subject}: enter the quantity", "{subject}: укажите количество"},
	"dishList[].ingredients[].ID": {"Choose the ingredient again", "Выберите ингредиент ещё раз"},
	"expeditionType":              {"Choose delivery or pickup", "Выберите доставку или самовывоз"},
	"expectedAt":                  {"Choose a time, or “as soon as possible”", "Выберите время или «как можно скорее»"},
	"paymentTypeID":               {"Choose how to pay", "Выберите способ оплаты"},
	"changeFrom":                  {"Enter the amount that you need change for", "Укажите, с какой суммы нужна сдача"},
	"persons":                     {"Enter the number of guests", "Укажите количество персон"},
	"comment":                     {"Enter a comment", "Добавьте комментарий"},

	"guest":           {"Enter your contact details", "Укажите, как с вами связаться"},
	"guest.phone":     {"Enter your phone number", "Укажите номер телефона"},
	"guest.email":     {"Enter your e-mail address", "Укажите адрес электронной почты"},
	"guest.firstName": {"Enter your first name", "Укажите имя"},
	"guest.lastName":  {"Enter your last name", "Укажите фамилию"},

	"address":                 {"Enter the address", "Укажите адрес"},
	"address.fullAddress":     {"Enter the full address", "Укажите полный адрес"},
	"address.cityName":        {"Enter the city", "Укажите город"},
	"address.cityID":          {"Choose the city", "Выберите город"},
	"address.postcode":        {"Enter the postcode", "Укажите почтовый индекс"},
	"address.street":          {"Enter the street", "Укажите улицу"},
	"address.houseNumber":     {"Enter the house number", "Укажите номер дома"},
	"address.apartmentNumber": {"Enter the apartment number", "Укажите номер квартиры"},
	"address.entrance":        {"Enter the entrance", "Укажите подъезд"},
	"address.floor":           {"Enter the floor", "Укажите этаж"},
	"address.subway":          {"Enter the metro station", "Укажите станцию метро"},
	"address.comment":         {"Enter a comment on the address", "Добавьте комментарий к адресу"},
	"address.lat":             {"Choose the place on the map", "Выберите место на карте"},
	"address.lon":             {"Choose the place on the map", "Выберите место на карте"},
}
