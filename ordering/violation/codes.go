package violation

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
	TooSoon                Code = "too_soon"
	RestaurantClosed       Code = "restaurant_closed"
	RestaurantPaused       Code = "restaurant_paused"
	MinimumOrder           Code = "minimum_order"
	ChangeNotCash          Code = "change_not_cash"
	ChangeTooSmall         Code = "change_too_small"
	AmountInsufficient     Code = "amount_insufficient"
	LimitExceeded          Code = "limit_exceeded"
	PhoneInvalid           Code = "phone_invalid"
	TextInvalid            Code = "text_invalid"
)
