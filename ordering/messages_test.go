package ordering_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"larder/ordering"
)

// An order with much that is wrong, read in both languages.
func TestMessages(t *testing.T) {
	t.Parallel()
	const body = `{"dishList":[{"ID":"pizza","quantity":1,"ingredients":[{"ID":"i-hot","quantity":5}]},{"ID":"burger","quantity":1.5},
		{"ID":"combo","quantity":1,"price":1},{"ID":"soup","quantity":1,"ingredients":[{}]},{"ID":"wok","quantity":0}],
		"expeditionType":"x","paymentTypeID":"card","changeFrom":1,"restaurantID":"z","expectedAt":"","persons":3000000000}`
	for language, want := range map[string][]string{
		ordering.English: {
			"Size: choose 1 more (exactly 1; 0 chosen)", "Sauce: choose 2 fewer (at most 3; 5 chosen)",
			"Burger: the quantity must be a whole number, not 1.5", "Sauce: choose 1 more (1 to 2; 0 chosen)",
			"Combo: the price is now 400, not 1", "Main: choose 1 more (1 to 2; 0 chosen)", "Drink: choose 1 more (at least 1; 0 chosen)",
			"Soup takes no ingredients", "dishList[].ingredients[].ID is missing",
			"Wok is not available now", "Wok: the quantity must be more than 0, not 0",
			"The value must be delivery or pickup", "Change is given only for cash", "The value must be r-1",
			"expectedAt is missing; soonest: true asks for the earliest time", "A whole number: at most 2147483647",
		},
		ordering.Russian: {
			"Size: добавьте ещё 1 позицию (ровно 1; выбрано: 0)", "Sauce: уберите 2 позиции (не больше 3; выбрано: 5)",
			"Burger: количество должно быть целым числом (указано: 1.5)", "Sauce: добавьте ещё 1 позицию (от 1 до 2; выбрано: 0)",
			"Combo: цена теперь 400, а не 1", "Main: добавьте ещё 1 позицию (от 1 до 2; выбрано: 0)", "Drink: добавьте ещё 1 позицию (не меньше 1; выбрано: 0)",
			"Soup: выбор ингредиентов не предусмотрен", "Не заполнено поле dishList[].ingredients[].ID",
			"Wok: сейчас нет в наличии", "Wok: количество должно быть больше 0 (указано: 0)",
			"Подходит только delivery или pickup", "Сдача возможна только при оплате наличными", "Подходит только r-1",
			"Не заполнено поле expectedAt; soonest: true значит «как можно скорее»", "Целое число: не больше 2147483647",
		},
	} {
		request := v1(t, body)
		request.Language = language
		var got []string
		for _, v := range check(t, ordering.DefaultConfig(), request).Violations {
			got = append(got, v.Msg)
		}
		if !slices.Equal(got, want) {
			t.Errorf("in %q\n%s\nwant\n%s", language, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}

// TestEveryCodeReadsInBothLanguages: every code has its own message in both languages,
// with the params that a person can use.
func TestEveryCodeReadsInBothLanguages(t *testing.T) {
	t.Parallel()
	// Params that are for programs: the dish and the group are named otherwise.
	silent := map[ordering.Code][]string{
		ordering.DishUnavailable: {"id"}, ordering.DishNotOrderable: {"reasons"}, ordering.IngredientUnavailable: {"reason"}, ordering.ExternalIDAmbiguous: {"ids"},
		ordering.IngredientNotAllowed: {"dish"}, ordering.GroupMin: {"group"}, ordering.GroupMax: {"group"},
	}
	seen := map[string]ordering.Code{}
	for _, d := range documented {
		code := d.code
		for _, language := range ordering.Languages() {
			said := d.message(language)
			if other, twice := seen[said]; twice || said == "" || strings.Contains(said, "%!") {
				t.Errorf("%s in %s reads %q, %s reads %q", code, language, said, other, said)
			}
			seen[said] = code
			for name, value := range d.example() {
				if slices.Contains(silent[code], name) || language == ordering.Russian && code == ordering.TypeMismatch {
					continue
				}
				for _, text := range texts(value) {
					if !strings.Contains(said, text) {
						t.Errorf("%s in %s reads %q, without %s %q", code, language, said, name, text)
					}
				}
			}
		}
		if said := d.message(ordering.Russian); !cyrillic.MatchString(said) || len(foreign(d, said)) > 0 {
			t.Errorf("%s in Russian reads %q, with %q", code, said, foreign(d, said))
		}
	}
}

var (
	cyrillic = regexp.MustCompile(`^[А-ЯЁа-яё]|: [а-яё]`)
	latin    = regexp.MustCompile(`[A-Za-z][\w.+-]*`)
)

// foreign returns the words of a Russian sentence that are neither params nor
// names of fields nor times.
func foreign(d description, said string) []string {
	known := []string{"id", "expectedAt", "soonest", "true", "T18", "T15", "Z", "000Z"}
	for _, value := range d.example() {
		known = append(known, texts(value)...)
	}
	var odd []string
	for _, word := range latin.FindAllString(said, -1) {
		if !slices.Contains(known, word) {
			odd = append(odd, word)
		}
	}
	return odd
}

// texts returns the texts of a param as a sentence has them.
func texts(value any) []string {
	if list, ok := value.([]string); ok {
		return list
	}
	return []string{fmt.Sprint(value)}
}

func TestMessagesWithParams(t *testing.T) {
	t.Parallel()
	group := func(lower int64, upper any, count int64) ordering.Params {
		return ordering.Params{"group": "g", "name": "Соусы к блюду", "min": lower, "max": upper, "count": count}
	}
	for _, test := range []struct {
		code             ordering.Code
		params           ordering.Params
		english, russian string
	}{
		{
			ordering.GroupMin, group(2, nil, 0),
			"Соусы к блюду: choose 2 more (at least 2; 0 chosen)", "Соусы к блюду: добавьте ещё 2 позиции (не меньше 2; выбрано: 0)",
		},
		{
			ordering.GroupMin, group(5, int64(5), 0),
			"Соусы к блюду: choose 5 more (exactly 5; 0 chosen)", "Соусы к блюду: добавьте ещё 5 позиций (ровно 5; выбрано: 0)",
		},
		{
			ordering.GroupMin, group(11, int64(30), 0),
			"Соусы к блюду: choose 11 more (11 to 30; 0 chosen)", "Соусы к блюду: добавьте ещё 11 позиций (от 11 до 30; выбрано: 0)",
		},
		{
			ordering.GroupMin, group(22, nil, 1),
			"Соусы к блюду: choose 21 more (at least 22; 1 chosen)", "Соусы к блюду: добавьте ещё 21 позицию (не меньше 22; выбрано: 1)",
		},
		{
			ordering.GroupMax, group(0, int64(1), 24),
			"Соусы к блюду: choose 23 fewer (at most 1; 24 chosen)", "Соусы к блюду: уберите 23 позиции (не больше 1; выбрано: 24)",
		},
		{
			ordering.GroupMax, group(0, int64(0), 112),
			"Соусы к блюду: choose 112 fewer (exactly 0; 112 chosen)", "Соусы к блюду: уберите 112 позиций (ровно 0; выбрано: 112)",
		},
		{
			ordering.GroupMax, group(1, int64(2), 13),
			"Соусы к блюду: choose 11 fewer (1 to 2; 13 chosen)", "Соусы к блюду: уберите 11 позиций (от 1 до 2; выбрано: 13)",
		},
		{ordering.ValueNotAllowed, ordering.Params{"allowed": []string{}}, "Leave the field empty", "Оставьте поле пустым"},
		{ordering.ValueNotAllowed, ordering.Params{"allowed": []string{""}}, "Leave the field empty", "Оставьте поле пустым"},
		{ordering.ValueNotAllowed, ordering.Params{"allowed": []string{"r-1"}}, "The value must be r-1", "Подходит только r-1"},
		{
			ordering.TypeMismatch,
			ordering.Params{"want": "date-time", "got": "string"},
			"A date and time with its offset is expected here, such as 2030-12-31T19:30:00+01:00",
			"Укажите дату и время со смещением часового пояса, например 2030-12-31T19:30:00+03:00",
		},
		{
			ordering.TypeMismatch,
			ordering.Params{"want": "array", "got": "null"},
			"A value of kind array is expected here, not what was sent (null)", "Здесь нужно другое значение: массив, а не пустое значение",
		},
		{
			ordering.ChangeFrom,
			ordering.Params{"total": json.Number("1383.5")},
			"Change is given only for cash, from a sum of at least 1383.5", "Сдача возможна только при оплате наличными, с суммы не меньше 1383.5",
		},
		{ordering.LimitExceeded, ordering.Params{"limit": 7}, "The quantity: at most 7", "Количество: не больше 7"},
	} {
		if got := ordering.NewViolation("", test.code, test.params, ordering.English).Msg; got != test.english {
			t.Errorf("%s %v reads %q, want %q", test.code, test.params, got, test.english)
		}
		if got := ordering.NewViolation("", test.code, test.params, ordering.Russian).Msg; got != test.russian {
			t.Errorf("%s %v reads %q, want %q", test.code, test.params, got, test.russian)
		}
	}
}

// Each kind of a value has a Russian name of its own.
func TestKindsInRussian(t *testing.T) {
	t.Parallel()
	seen := map[string]string{}
	for _, kind := range []string{"string", "identifier", "integer", "number", "boolean", "array", "object", "null"} {
		said := ordering.NewViolation("", ordering.TypeMismatch, ordering.Params{"want": "string", "got": kind}, ordering.Russian).Msg
		if other, twice := seen[said]; twice || latin.MatchString(said) {
			t.Errorf("%s reads %q, and so does %q", kind, said, other)
		}
		seen[said] = kind
	}
}

// What a limit is of is told in the language, a dish's name as the menu has it.
func TestLimitsInRussian(t *testing.T) {
	t.Parallel()
	dishes := strings.Repeat(`{"ID":"soup","quantity":1},`, 201)
	sauces := strings.Repeat(`{"ID":"i-hot"},`, 101)
	for name, test := range map[string]struct{ body, want string }{
		"dishes":         {order(`[` + dishes[:len(dishes)-1] + `]`), "Блюд в заказе: не больше 200"},
		"ingredients":    {order(`[{"ID":"pizza","quantity":1,"ingredients":[` + sauces[:len(sauces)-1] + `]}]`), "Ингредиентов в блюде: не больше 100"},
		"digits":         {order(`[{"ID":"soup","quantity":1,"price":` + strings.Repeat("1", 50) + `}]`), "Цифр в числе: не больше 40"},
		"units by name":  {order(`[{"ID":"pizza","quantity":1,"ingredients":[{"ID":"i-hot","quantity":1000001}]}]`), "Hot: не больше 1000000"},
		"nobody's units": {order(`[{"ID":"pizza","quantity":1,"ingredients":[{"ID":"i-none","quantity":1000001}]}]`), "Количество: не больше 1000000"},
	} {
		request := v1(t, test.body)
		request.Language = ordering.Russian
		var got []string
		for _, v := range check(t, ordering.DefaultConfig(), request).Violations {
			if v.Code == ordering.LimitExceeded {
				got = append(got, v.Msg)
			}
		}
		if !slices.Equal(got, []string{test.want}) {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}
