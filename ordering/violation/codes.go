package violation

import (
	_ "embed" // messages.json
	"encoding/json"
)

// Code names a kind of violation. The codes are stable; docs/violations.md explains them.
type Code string

// The violation codes.
const (
	DishNotInMenu          Code = "dish_not_in_menu"
	DishUnavailable        Code = "dish_unavailable"
	DishNotOrderable       Code = "dish_not_orderable"
	ExternalIDAmbiguous    Code = "external_id_ambiguous"
	IDConflict             Code = "id_conflict"
	QuantityNotPositive    Code = "quantity_not_positive"
	QuantityNotWhole       Code = "quantity_not_whole"
	QuantityTooSmall       Code = "quantity_too_small"
	PriceChanged           Code = "price_changed"
	TotalNegative          Code = "total_negative"
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
	ChangeNotCash          Code = "change_not_cash"
	ChangeTooSmall         Code = "change_too_small"
	AmountInsufficient     Code = "amount_insufficient"
	LimitExceeded          Code = "limit_exceeded"
	PhoneInvalid           Code = "phone_invalid"
	TextInvalid            Code = "text_invalid"
)

// texts is a text in each language.
type texts struct {
	English string `json:"en"`
	Russian string `json:"ru"`
}

func (t texts) in(language string) string {
	if language == Russian {
		return t.Russian
	}
	return t.English
}

// template is the message of a violation code; messages.go expands the placeholders in braces.
type template struct {
	Message texts
	// Subject replaces {subject} if no name is known. If it is empty, a leading "{subject}: " is dropped.
	Subject texts
	// Special is the message to use if a param has a certain value.
	Special struct {
		Param, Value string
		Message      texts
	}
}

// allMessages is the content of messages.json.
type allMessages struct {
	Violations    map[Code]template // of every violation code
	RussianLimits map[string]string // subjects of LimitExceeded
	RussianKinds  map[string]string // kinds of values
}

//go:embed messages.json
var messagesJSON []byte

var messages = readMessages() //nolint:gochecknoglobals // constant

func readMessages() (all allMessages) {
	if err := json.Unmarshal(messagesJSON, &all); err != nil {
		panic("violation: messages.json: " + err.Error()) // every test of the package reads it
	}
	return all
}
