package ordering

import "fmt"

// describeText has the codes of what a guest has written.
func describeText(code Code) Description {
	if code == PhoneInvalid {
		return Description{
			Code: code, Meaning: "The guest's phone number has too few digits to be one.",
			Params: []Param{{"digits", "how many digits it needs at least"}},
			Path:   "/guest/phone", Example: Params{"digits": minPhoneDigits},
			english: func(p Params, _ string) string {
				return fmt.Sprintf("Enter a phone number with at least %v digits", p["digits"])
			},
			russian: func(p Params, _ string) string {
				return fmt.Sprintf("Укажите номер телефона, в нём должно быть не меньше %v цифр", p["digits"])
			},
		}
	}
	return Description{
		Code: code, Meaning: "The text holds a control character other than tab, carriage return and line feed.",
		Params: []Param{{"character", "the first such character, as U+001B"}},
		Path:   "/comment", Example: Params{"character": "U+001B"},
		english: func(p Params, _ string) string {
			return fmt.Sprintf("The text contains a control character (%v); remove it", p["character"])
		},
		russian: func(p Params, _ string) string {
			return fmt.Sprintf("В тексте есть управляющий символ (%v), уберите его", p["character"])
		},
	}
}
