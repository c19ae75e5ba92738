package ordering

// The languages that sentences for people are written in.
const (
	English = "en"
	Russian = "ru"
)

// Languages gives them, the one for everyone else first.
func Languages() []string { return []string{English, Russian} }

// Description is one row of the table of violation codes: what the code means,
// what its params hold, how it reads to a person.
type Description struct {
	Code Code
	// Meaning is one sentence for the reader of the documentation.
	Meaning string
	// Params says what each param holds, in their order in the policies.
	Params []Param
	// Path is an example of where it points.
	Path string
	// Example are the params of an example.
	Example Params

	english, russian sentence
}

// Param is one param of a violation code.
type Param struct{ Name, Meaning string }

// sentence makes the sentence for a person, in one language. subject is the
// name of the dish or ingredient it is about, or "". Names and values stand
// where no case or gender has to agree with them.
type sentence func(p Params, subject string) string

// say gives the sentence for a person, in English unless the language has its
// own.
func (d Description) say(language string, p Params, subject string) string {
	if language == Russian {
		return d.russian(p, subject)
	}
	return d.english(p, subject)
}

// ExampleMsg is the sentence of the example in a language.
func (d Description) ExampleMsg(language string) string { return d.say(language, d.Example, "") }

// Codes gives all violation codes in the order of the documentation.
func Codes() []Code {
	return []Code{
		DishNotInMenu, DishUnavailable, DishNotOrderable, ExternalIDAmbiguous,
		QuantityNotPositive, QuantityNotWhole, PriceChanged,
		DishTakesNoIngredients, IngredientNotInMenu, IngredientNotAllowed, IngredientUnavailable,
		GroupMin, GroupMax, GroupPinInvalid, TooDeep,
		FieldRequired, ValueNotAllowed, TypeMismatch, DecimalComma, PhoneInvalid, TextInvalid,
		TimeZoneMissing, TimeInPast, TimeTooFar, ChangeFrom, AmountInsufficient, LimitExceeded,
	}
}

// Describe is the one table of violation codes: every text, docs/violations.md
// and the OpenAPI document are made from it.
func Describe(code Code) Description {
	switch code {
	case DishNotInMenu, DishUnavailable, DishNotOrderable, ExternalIDAmbiguous,
		QuantityNotPositive, QuantityNotWhole, PriceChanged:
		return describeDish(code)
	case DishTakesNoIngredients, IngredientNotInMenu, IngredientNotAllowed, IngredientUnavailable,
		GroupPinInvalid, TooDeep:
		return describeIngredient(code)
	case GroupMin, GroupMax:
		return describeGroup(code)
	case TimeZoneMissing, TimeInPast, TimeTooFar:
		return describeTime(code)
	case PhoneInvalid, TextInvalid:
		return describeText(code)
	case ChangeFrom, AmountInsufficient:
		return describeMoney(code)
	default:
		return describeField(code)
	}
}
