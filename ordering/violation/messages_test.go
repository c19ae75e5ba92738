package violation_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"larder.local/ordering/violation"
)

// Every code has a message in both languages. The message contains the params that are
// useful for a person.
func TestEveryCodeHasAMessageInBothLanguages(t *testing.T) {
	t.Parallel()
	// Only programs read these params. Messages name the dish and the group differently.
	silent := map[violation.Code][]string{
		violation.DishUnavailable: {"id"}, violation.DishNotOrderable: {"reasons"}, violation.IngredientUnavailable: {"reason", "until"}, violation.ExternalIDAmbiguous: {"ids"}, violation.IDConflict: {"ids"},
		violation.FieldRequired: {"field"}, violation.IngredientNotAllowed: {"dish"}, violation.GroupMin: {"group"}, violation.GroupMax: {"group"},
		violation.RestaurantClosed: {"intervals"},
	}
	seen := map[string]violation.Code{}
	for _, d := range documented {
		code := d.code
		for _, language := range violation.Languages() {
			said := d.message(language)
			if other, twice := seen[said]; twice || said == "" || strings.Contains(said, "%!") {
				t.Errorf("%s in %s: %q, in %s: %q", code, language, said, other, said)
			}
			seen[said] = code
			for name, value := range d.example() {
				if slices.Contains(silent[code], name) || language == violation.Russian && code == violation.TypeMismatch {
					continue
				}
				for _, text := range texts(value) {
					if !strings.Contains(said, text) {
						t.Errorf("%s in %s: %q does not contain %s %q", code, language, said, name, text)
					}
				}
			}
		}
		if said := d.message(violation.Russian); !cyrillic.MatchString(said) || len(foreign(d, said)) > 0 {
			t.Errorf("%s in Russian: %q contains %q", code, said, foreign(d, said))
		}
	}
}

var (
	cyrillic = regexp.MustCompile(`^[А-ЯЁа-яё]|: [а-яё]`)
	latin    = regexp.MustCompile(`[A-Za-z][\w.+-]*`)
)

// foreign returns the words of a Russian sentence that are neither Russian nor params, field
// names or times.
func foreign(d description, said string) []string {
	known := []string{"id", "externalId", "T10", "T18", "T19", "T15", "Z", "000Z"}
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

// texts returns the texts of a param in a sentence.
func texts(value any) []string {
	if list, ok := value.([]string); ok {
		return list
	}
	if part, ok := value.(violation.Params); ok {
		return []string{fmt.Sprint(part["name"])}
	}
	return []string{fmt.Sprint(value)}
}

func TestMessagesWithParams(t *testing.T) {
	t.Parallel()
	group := func(lower int64, upper any, count int64) violation.Params {
		return violation.Params{
			"group": "g",
			"name":  "Соусы к блюду",
			"min":   lower,
			"max":   upper,
			"count": count,
		}
	}
	for _, test := range []struct {
		code             violation.Code
		params           violation.Params
		english, russian string
	}{
		{
			violation.GroupMin, group(2, nil, 0),
			"Соусы к блюду: choose 2 more (at least 2; 0 chosen)", "Соусы к блюду: добавьте ещё 2 позиции (не меньше 2; выбрано: 0)",
		},
		{
			violation.GroupMin, group(5, int64(5), 0),
			"Соусы к блюду: choose 5 more (exactly 5; 0 chosen)", "Соусы к блюду: добавьте ещё 5 позиций (ровно 5; выбрано: 0)",
		},
		{
			violation.GroupMin, group(11, int64(30), 0),
			"Соусы к блюду: choose 11 more (11 to 30; 0 chosen)", "Соусы к блюду: добавьте ещё 11 позиций (от 11 до 30; выбрано: 0)",
		},
		{
			violation.GroupMin, group(22, nil, 1),
			"Соусы к блюду: choose 21 more (at least 22; 1 chosen)", "Соусы к блюду: добавьте ещё 21 позицию (не меньше 22; выбрано: 1)",
		},
		{
			violation.GroupMax, group(0, int64(1), 24),
			"Соусы к блюду: choose 23 fewer (at most 1; 24 chosen)", "Соусы к блюду: уберите 23 позиции (не больше 1; выбрано: 24)",
		},
		{
			violation.GroupMax, group(0, int64(0), 112),
			"Соусы к блюду: choose 112 fewer (exactly 0; 112 chosen)", "Соусы к блюду: уберите 112 позиций (ровно 0; выбрано: 112)",
		},
		{
			violation.GroupMax, group(1, int64(2), 13),
			"Соусы к блюду: choose 11 fewer (1 to 2; 13 chosen)", "Соусы к блюду: уберите 11 позиций (от 1 до 2; выбрано: 13)",
		},
		{violation.ValueNotAllowed, violation.Params{"allowed": []string{}}, "Leave the field empty", "Оставьте поле пустым"},
		{violation.ValueNotAllowed, violation.Params{"allowed": []string{""}}, "Leave the field empty", "Оставьте поле пустым"},
		{violation.ValueNotAllowed, violation.Params{"allowed": []string{"r-1"}}, "The value must be r-1", "Подходит только r-1"},
		{
			violation.TypeMismatch,
			violation.Params{"want": "date-time", "got": "string"},
			"This must be a date and time with a time zone offset, such as 2030-12-31T19:30:00+01:00",
			"Укажите дату и время со смещением часового пояса, например 2030-12-31T19:30:00+03:00",
		},
		{
			violation.TypeMismatch,
			violation.Params{"want": "array", "got": "null"},
			"This must be a value of type array, not null", "Здесь нужно другое значение: массив, а не пустое значение",
		},
		{
			violation.ChangeTooSmall,
			violation.Params{"minimum": json.Number("1383.5")},
			"Enter at least 1383.5 (your total), or leave the field empty", "Укажите не меньше 1383.5 (сумма заказа) или оставьте поле пустым",
		},
		{
			violation.PhoneInvalid,
			violation.Params{"digits": 5, "maximum": nil},
			"Enter a phone number with at least 5 digits", "Укажите номер телефона, в нём должно быть не меньше 5 цифр",
		},
		{violation.FieldRequired, violation.Params{"field": "guest.phone"}, "Enter your phone number", "Укажите номер телефона"},
		{violation.FieldRequired, violation.Params{"field": "code"}, "code is missing", "Не заполнено поле code"},
		{violation.LimitExceeded, violation.Params{"limit": 7}, "The quantity: at most 7", "Количество: не больше 7"},
	} {
		if got := violation.New("", test.code, test.params, violation.English).Msg; got != test.english {
			t.Errorf("%s %v: %q, want %q", test.code, test.params, got, test.english)
		}
		if got := violation.New("", test.code, test.params, violation.Russian).Msg; got != test.russian {
			t.Errorf("%s %v: %q, want %q", test.code, test.params, got, test.russian)
		}
	}
}

// Each kind of a value has its own Russian name.
func TestKindsInRussian(t *testing.T) {
	t.Parallel()
	seen := map[string]string{}
	for _, kind := range []string{"string", "identifier", "integer", "number", "boolean", "array", "object", "null"} {
		said := violation.New("", violation.TypeMismatch, violation.Params{"want": "string", "got": kind}, violation.Russian).Msg
		if other, twice := seen[said]; twice || latin.MatchString(said) {
			t.Errorf("%s has the same text as another kind: %q, %q", kind, said, other)
		}
		seen[said] = kind
	}
}
