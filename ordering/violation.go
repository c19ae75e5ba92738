package ordering

import (
	"cmp"
	"slices"
)

// Code names a kind of violation. The codes are stable; docs/violations.md explains them.
type Code string

// The violation codes.
const (
	DishNotInMenu          Code = "dish_not_in_menu"
	DishUnavailable        Code = "dish_unavailable"
	DishNotOrderable       Code = "dish_not_orderable"
	ExternalIDAmbiguous    Code = "external_id_ambiguous"
	QuantityNotPositive    Code = "quantity_not_positive"
	QuantityNotWhole       Code = "quantity_not_whole"
	PriceChanged           Code = "price_changed"
	DishTakesNoIngredients Code = "dish_takes_no_ingredients"
	IngredientNotInMenu    Code = "ingredient_not_in_menu"
	IngredientNotAllowed   Code = "ingredient_not_allowed"
	IngredientUnavailable  Code = "ingredient_unavailable"
	GroupMin               Code = "group_min"
	GroupMax               Code = "group_max"
	GroupPinInvalid        Code = "group_pin_invalid"
	TooDeep                Code = "too_deep"
	FieldRequired          Code = "field_required"
	ValueNotAllowed        Code = "value_not_allowed"
	TypeMismatch           Code = "type_mismatch"
	DecimalComma           Code = "decimal_comma"
	TimeZoneMissing        Code = "time_zone_missing"
	TimeInPast             Code = "time_in_past"
	TimeTooFar             Code = "time_too_far"
	ChangeFrom             Code = "change_from"
	AmountInsufficient     Code = "amount_insufficient"
	LimitExceeded          Code = "limit_exceeded"
	PhoneInvalid           Code = "phone_invalid"
	TextInvalid            Code = "text_invalid"
)

// Violation is one reason why an order may not be placed.
type Violation struct {
	// Path is a JSON Pointer (RFC 6901) into the client's body, in the
	// client's spelling; the interface's where the field is missing.
	Path string `json:"path"`
	// Code is stable and documented.
	Code Code `json:"code"`
	// Msg is a sentence for a person, in the language asked for.
	Msg string `json:"msg"`
	// Params are the code's own facts; numbers are json.Number with exact
	// digits. Never nil.
	Params map[string]any `json:"params"`
}

// NewViolation words a violation that was found elsewhere than by a Validator.
func NewViolation(path string, code Code, params Params, language string) Violation {
	if params == nil {
		params = Params{}
	}
	return Violation{Path: path, Code: code, Msg: message(code, language, params, ""), Params: params}
}

// Params are the facts of one violation, by name.
type Params = map[string]any

// maxViolations is how many violations one answer lists (policy H7).
const maxViolations = 200

// positioned is a violation and where in the body it stands. Its Msg is written when
// it is listed.
type positioned struct {
	pos     int32
	subject string
	Violation
}

// violations collects violations in any order and gives them in the body's.
type violations struct {
	all      []positioned
	language string
	// limit, where it is not 0, is how many violations are kept. A body is
	// decoded to its end whatever is wrong with it, and its first violations
	// are enough.
	limit int
}

// add notes a violation that stands at the place at. subject is a name for
// the sentence ("" where none is known) that is no param.
func (f *violations) add(pos int32, path string, code Code, params Params, subject string) {
	if f.limit > 0 && len(f.all) >= f.limit {
		return
	}
	if params == nil {
		params = Params{}
	}
	f.all = append(f.all, positioned{pos: pos, subject: subject, Violation: Violation{Path: path, Code: code, Params: params}})
}

// sorted returns the first violations in the order of the body, and whether
// there are more (policy H7).
func (f *violations) sorted() (list []Violation, more bool) {
	if len(f.all) == 0 {
		return nil, false
	}
	slices.SortStableFunc(f.all, func(a, b positioned) int { return cmp.Compare(a.pos, b.pos) })
	list = make([]Violation, min(len(f.all), maxViolations))
	for i := range list {
		one := &f.all[i]
		list[i] = one.Violation
		list[i].Msg = message(one.Code, f.language, one.Params, one.subject)
	}
	return list, len(f.all) > maxViolations
}
