package validate_test

import (
	"slices"
	"strings"
	"testing"

	"larder.local/internal/testkit/menutest"
	"larder.local/ordering/validate"
	"larder.local/ordering/violation"
)

// An order with many violations, in both languages.
func TestMessages(t *testing.T) {
	t.Parallel()
	const body = `{"dishList":[{"ID":"pizza","quantity":1,"ingredients":[{"ID":"i-hot","quantity":5}]},{"ID":"burger","quantity":1.5},
		{"ID":"combo","quantity":1,"price":1},{"ID":"soup","quantity":1,"ingredients":[{}]},{"ID":"wok","quantity":0}],
		"expeditionType":"x","paymentTypeID":"card","changeFrom":1,"restaurantID":"z","expectedAt":"","persons":3000000000}`
	for language, want := range map[string][]string{
		violation.English: {
			"Size: choose 1 more (exactly 1; 0 chosen)", "Sauce: choose 2 fewer (at most 3; 5 chosen)",
			"Burger: the quantity must be a whole number, not 1.5", "Sauce: choose 1 more (1 to 2; 0 chosen)",
			"Combo: the price is now 400, not 1", "Main: choose 1 more (1 to 2; 0 chosen)", "Drink: choose 1 more (at least 1; 0 chosen)",
			"Soup takes no ingredients", "Choose the ingredient again",
			"Wok is out of stock", "Wok: the quantity must be more than 0, not 0",
			"The value must be delivery or pickup", "Change is only given for cash: pay in cash, or leave the field empty", "The value must be r-1",
			"Choose a time, or “as soon as possible”", "The value must be 1…999",
		},
		violation.Russian: {
			"Size: добавьте ещё 1 позицию (ровно 1; выбрано: 0)", "Sauce: уберите 2 позиции (не больше 3; выбрано: 5)",
			"Burger: количество должно быть целым числом (указано: 1.5)", "Sauce: добавьте ещё 1 позицию (от 1 до 2; выбрано: 0)",
			"Combo: цена теперь 400, а не 1", "Main: добавьте ещё 1 позицию (от 1 до 2; выбрано: 0)", "Drink: добавьте ещё 1 позицию (не меньше 1; выбрано: 0)",
			"Soup: выбор ингредиентов не предусмотрен", "Выберите ингредиент ещё раз",
			"Wok: сейчас нет в наличии", "Wok: количество должно быть больше 0 (указано: 0)",
			"Подходит только delivery или pickup", "Сдача возможна только при оплате наличными: выберите наличные или оставьте поле пустым", "Подходит только r-1",
			"Выберите время или «как можно скорее»", "Подходит только 1…999",
		},
	} {
		request := v1(t, body)
		request.Language = language
		var got []string
		for _, v := range check(t, validate.DefaultConfig(), request).Violations {
			got = append(got, v.Msg)
		}
		if !slices.Equal(got, want) {
			t.Errorf("in %q\n%s\nwant\n%s", language, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}

// The subjects of limits are translated; the name of a dish is not.
func TestLimitsInRussian(t *testing.T) {
	t.Parallel()
	dishes := strings.Repeat(`{"ID":"soup","quantity":1},`, 201)
	sauces := strings.Repeat(`{"ID":"i-hot"},`, 101)
	for name, test := range map[string]struct{ body, want string }{
		"dishes":         {menutest.Order(`[` + dishes[:len(dishes)-1] + `]`), "Блюд в заказе: не больше 200"},
		"ingredients":    {menutest.Order(`[{"ID":"pizza","quantity":1,"ingredients":[` + sauces[:len(sauces)-1] + `]}]`), "Ингредиентов в блюде: не больше 100"},
		"digits":         {menutest.Order(`[{"ID":"soup","quantity":1,"price":` + strings.Repeat("1", 50) + `}]`), "Цифр в числе: не больше 40"},
		"with a name":    {menutest.Order(`[{"ID":"pizza","quantity":1,"ingredients":[{"ID":"i-hot","quantity":1000001}]}]`), "Hot: не больше 1000000"},
		"without a name": {menutest.Order(`[{"ID":"pizza","quantity":1,"ingredients":[{"ID":"i-none","quantity":1000001}]}]`), "Количество: не больше 1000000"},
	} {
		request := v1(t, test.body)
		request.Language = violation.Russian
		var got []string
		for _, v := range check(t, validate.DefaultConfig(), request).Violations {
			if v.Code == violation.LimitExceeded {
				got = append(got, v.Msg)
			}
		}
		if !slices.Equal(got, []string{test.want}) {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}

// A guest does not know the names of fields: the message of a missing field has none of them, path and params have.
func TestMissingFieldsForGuests(t *testing.T) {
	t.Parallel()
	cfg := validate.DefaultConfig()
	cfg.Required.Delivery = validate.FieldNames()
	for _, language := range violation.Languages() {
		for body, want := range map[string]int{
			`{}`:                            4,
			`{"expeditionType":"delivery"}`: len(validate.FieldNames()) - 4, // without restaurantID, and the id and quantity of a dish
		} {
			request := v1(t, body)
			request.Language = language
			missing := check(t, cfg, request).Violations
			if len(missing) != want {
				t.Errorf("%s: %d violations, want %d: %v", body, len(missing), want, missing)
			}
			for _, v := range missing {
				field, _ := v.Params["field"].(string)
				if v.Code != violation.FieldRequired || v.Path != "/"+strings.ReplaceAll(field, ".", "/") ||
					strings.ContainsAny(v.Msg, ".[]:") || strings.Contains(v.Msg, "missing") || strings.Contains(v.Msg, "поле") {
					t.Errorf("%s is missing: %+v", field, v)
				}
			}
		}
	}
}

// A quantity that no number was entered for, in both languages, with and without the name of the dish.
func TestMissingQuantity(t *testing.T) {
	t.Parallel()
	const quantity = `{"field":"dishList[].quantity"}`
	for _, c := range []struct{ dish, language, want string }{
		{`{"ID":"soup","quantity":null}`, violation.English, "Soup: enter the quantity"},
		{`{"ID":"soup","quantity":""}`, violation.Russian, "Soup: укажите количество"},
		{`{"ID":"soup"}`, violation.English, "Soup: enter the quantity"},
		{`{"ID":"none"}`, violation.English, "Enter the quantity"},
		{`{"ID":"none"}`, violation.Russian, "Укажите количество"},
	} {
		request := v1(t, menutest.Order(`[`+c.dish+`]`))
		request.Language = c.language
		result := check(t, validate.DefaultConfig(), request)
		if last := len(result.Violations) - 1; last < 0 || result.Violations[last].Msg != c.want ||
			brokenOf(t, result)[last] != (menutest.Broken{Path: "/dishList/0/quantity", Code: violation.FieldRequired, Params: quantity}) {
			t.Errorf("%s: %+v, want %s", c.dish, result.Violations, c.want)
		}
	}
}
