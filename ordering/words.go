package ordering

import (
	"cmp"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// What a limit is of, as the subject of LimitExceeded. Any other subject is
// the name of a dish or ingredient.
const (
	limitDishes      = "Dishes of an order"
	limitIngredients = "Ingredients of a dish"
	limitDigits      = "Digits of a number"
	limitWhole       = "A whole number"
	limitPayments    = "Payments of an order"
	limitCharacters  = "Number of characters"
	limitSteps       = "Steps to assign the ingredients of " // and the dish's name
)

// limited gives the subject of LimitExceeded in a language.
func limited(language, subject string) string {
	if language != Russian {
		return cmp.Or(subject, "The quantity")
	}
	switch subject {
	case "":
		return "Количество"
	case limitDishes:
		return "Блюд в заказе"
	case limitIngredients:
		return "Ингредиентов в блюде"
	case limitDigits:
		return "Цифр в числе"
	case limitWhole:
		return "Целое число"
	case limitPayments:
		return "Платежей за заказ"
	case limitCharacters:
		return "Число символов"
	}
	if name, found := strings.CutPrefix(subject, limitSteps); found {
		return name + ": шагов, чтобы распределить ингредиенты по группам"
	}
	return subject
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

// limitsRu is limits in Russian.
func limitsRu(p Params) string {
	lower, upper := whole(p["min"]), whole(p["max"])
	switch {
	case p["max"] == nil:
		return fmt.Sprintf("не меньше %d", lower)
	case lower == upper:
		return fmt.Sprintf("ровно %d", lower)
	case lower == 0:
		return fmt.Sprintf("не больше %d", upper)
	default:
		return fmt.Sprintf("от %d до %d", lower, upper)
	}
}

// items counts what is to be chosen of a group, in the Russian accusative:
// "1 позицию", "2 позиции", "5 позиций".
func items(n int64) string {
	form := "позиций"
	switch tens := n % 100; {
	case tens >= 11 && tens <= 14:
	case n%10 == 1:
		form = "позицию"
	case n%10 >= 2 && n%10 <= 4:
		form = "позиции"
	}
	return fmt.Sprintf("%d %s", n, form)
}

// kindRu names the kind of a value in Russian.
func kindRu(kind any) string {
	switch kind {
	case "string":
		return "строка"
	case "identifier":
		return "идентификатор"
	case "integer":
		return "целое число"
	case "number":
		return "число"
	case "date-time":
		return "дата и время"
	case "boolean":
		return "логическое значение"
	case "array":
		return "массив"
	case "object":
		return "объект"
	default: // null
		return "пустое значение"
	}
}

// whole reads a whole number of the params.
func whole(v any) int64 {
	n, _ := v.(int64)
	return n
}

// about says something about a dish or ingredient, by its name where it is
// known.
func about(subject, said string) string {
	if subject == "" {
		first, size := utf8.DecodeRuneInString(said)
		return string(unicode.ToUpper(first)) + said[size:]
	}
	return subject + ": " + said
}

// oneOf lists values: "cash, card or online". It is "" where only an empty
// value is allowed.
func oneOf(or string, allowed any) string {
	values, _ := allowed.([]string)
	if len(values) < 2 {
		return strings.Join(values, "")
	}
	last := len(values) - 1
	return strings.Join(values[:last], ", ") + or + values[last]
}
