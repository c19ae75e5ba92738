package validate

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"larder/ordering/violation"
)

// The limits of texts, in characters (policy H10).
const (
	maxName = 200
	maxText = 1000 // of a comment or a part of the address

	minPhoneDigits = 5
)

// checkTexts refuses texts that are too long or hold control characters, and a
// phone number that is none (policy H10).
func (c fieldCheck) checkTexts() {
	o := &c.order
	checkTextsOf(&c.violations, &o.object, "")
	checkTextsOf(&c.violations, &o.guest, member("", o.guest.nameOr("guest")))
	checkTextsOf(&c.violations, &o.address, member("", o.address.nameOr("address")))
	phone := &o.guest.values[guestPhone]
	if phone.state == readable && !phone.blank() && digits(phone.text) < minPhoneDigits {
		c.violations.Add(phone.pos, member(member("", o.guest.nameOr("guest")), phone.name), violation.PhoneInvalid, violation.Params{"digits": minPhoneDigits}, "")
	}
}

// checkTextsOf checks the texts of an object, whose JSON Pointer is base.
func checkTextsOf(notes *violation.List, of *object, base string) {
	for i := range of.values {
		if limit := of.fields.known[i].limit; limit > 0 && of.values[i].text != "" {
			checkCharacters(notes, &of.values[i], base, limit)
		}
	}
}

// checkCharacters refuses a text of more characters than the limit, and one with
// control characters. base is the JSON Pointer of the object that has it.
func checkCharacters(notes *violation.List, v *value, base string, limit int) {
	if v.state != readable || v.isNumber {
		return
	}
	if len(v.text) > limit && utf8.RuneCountInString(v.text) > limit {
		notes.Add(v.pos, member(base, v.name), violation.LimitExceeded, violation.Params{"limit": limit}, violation.LimitOfCharacters)
	}
	if i := strings.IndexFunc(v.text, isForbidden); i >= 0 {
		r, _ := utf8.DecodeRuneInString(v.text[i:])
		notes.Add(v.pos, member(base, v.name), violation.TextInvalid, violation.Params{"character": fmt.Sprintf("U+%04X", r)}, "")
	}
}

// isForbidden reports whether a text must not hold the character: a control
// character other than tab, CR and LF. Format characters are let through:
// texts of several scripts need them.
func isForbidden(r rune) bool {
	return unicode.IsControl(r) && r != '\t' && r != '\r' && r != '\n'
}

// digits counts the decimal digits of a text, in any script.
func digits(text string) (n int) {
	for _, r := range text {
		if unicode.IsDigit(r) {
			n++
		}
	}
	return n
}
