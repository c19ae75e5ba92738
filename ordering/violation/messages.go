package violation

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The languages of messages for people.
const (
	English = "en"
	Russian = "ru"
)

// Languages returns all languages; the default is first.
func Languages() []string { return []string{English, Russian} }

// The subjects of LimitExceeded. Any other subject is the name of a dish or ingredient.
const (
	LimitOfDishes      = "Dishes of an order"
	LimitOfIngredients = "Ingredients of a dish"
	LimitOfDigits      = "Digits of a number"
	LimitOfPayments    = "Payments of an order"
	LimitOfCharacters  = "Number of characters"
	LimitOfDecimals    = "Decimal places"
	LimitOfAmount      = "The amount"
	LimitOfWork        = "Steps to check the order"
	LimitOfValues      = "Values of one field "                // followed by its names
	LimitOfSteps       = "Steps to assign the ingredients of " // followed by the dish's name
)

// message returns the message of a violation for a person. subject is the name of a dish or ingredient, or
// empty. The templates use names and values only in positions that need no agreement of case or gender.
func message(code Code, language string, params Params, subject string) string {
	d, ok := templates[code]
	if !ok {
		return string(code)
	}
	text := d.message.in(language)
	if own, ok := d.special.messages[placeholder(d.special.param, English, params)]; ok {
		text = own.in(language)
	}
	switch {
	case subject != "":
		subject = limitSubject(code, language, subject)
	case d.subject.in(language) != "":
		subject = expand(d.subject.in(language), language, params, "")
	default:
		if rest, found := strings.CutPrefix(text, "{subject}: "); found {
			first, size := utf8.DecodeRuneInString(rest)
			text = string(unicode.ToUpper(first)) + rest[size:]
		}
	}
	return expand(text, language, params, subject)
}

func expand(text, language string, params Params, subject string) string {
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(text, "{")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		name, after, _ := strings.Cut(rest, "}")
		if name == "subject" {
			b.WriteString(subject)
		} else {
			b.WriteString(placeholder(name, language, params))
		}
		text = after
	}
}

// placeholder returns the text for a placeholder: a param, or a value computed from params.
func placeholder(name, language string, params Params) string {
	switch value := params[name]; {
	case name == "limits":
		return limitsText(language, params)
	case name == "missing" && params["min"] != nil:
		return quantityText(language, whole(params["min"])-whole(params["count"]))
	case name == "excess":
		return quantityText(language, whole(params["count"])-whole(params["max"]))
	case name == "parent": // the part of a dish that has the group
		if part, ok := value.(Params); ok {
			return fmt.Sprint(part["name"], ", ")
		}
		return ""
	case name == "allowed":
		values, _ := value.([]string)
		return listValues(texts{" or ", " или "}.in(language), values)
	case value == nil:
		return ""
	case language == Russian && (name == "want" || name == "got"):
		return russianKinds[fmt.Sprint(value)]
	default:
		if names, ok := value.([]string); ok {
			return strings.Join(names, ", ")
		}
		return fmt.Sprint(value)
	}
}

// limitSubject translates the subject of LimitExceeded.
func limitSubject(code Code, language, subject string) string {
	if code != LimitExceeded || language != Russian {
		return subject
	}
	if name, found := strings.CutPrefix(subject, LimitOfSteps); found {
		return name + ": шагов, чтобы распределить ингредиенты по группам"
	}
	if names, found := strings.CutPrefix(subject, LimitOfValues); found {
		return "Значений одного поля " + names
	}
	return cmp.Or(russianLimits[subject], subject)
}

// limitsText returns a group's limits: "1 to 2", "exactly 1", "at least 1", "at most 2".
func limitsText(language string, params Params) string {
	lower, upper := whole(params["min"]), whole(params["max"])
	text := texts{"{min} to {max}", "от {min} до {max}"}
	switch {
	case params["max"] == nil:
		text = texts{"at least {min}", "не меньше {min}"}
	case lower == upper:
		text = texts{"exactly {min}", "ровно {min}"}
	case lower == 0:
		text = texts{"at most {max}", "не больше {max}"}
	}
	return expand(text.in(language), language, params, "")
}

// quantityText returns the number of items to choose; in Russian with a noun in the accusative: "1
// позицию", "2 позиции", "5 позиций".
func quantityText(language string, n int64) string {
	if language != Russian {
		return strconv.FormatInt(n, 10)
	}
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

// whole returns a param as an integer; 0 if it is not one.
func whole(v any) int64 {
	n, _ := v.(int64)
	return n
}

// listValues joins values: "cash, card or online". It is empty if only an empty value is allowed.
func listValues(or string, values []string) string {
	if len(values) < 2 {
		return strings.Join(values, "")
	}
	last := len(values) - 1
	return strings.Join(values[:last], ", ") + or + values[last]
}
