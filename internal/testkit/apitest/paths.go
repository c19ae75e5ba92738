package apitest

// Paths that tests of several packages request, of the restaurant Bistro.
const (
	MenuPath     = "/v1/restaurants/" + Bistro + "/menu"
	OrdersPath   = "/v1/restaurants/" + Bistro + "/orders"
	ValidatePath = OrdersPath + "/validate"

	OpsBistro    = "/v1/ops/restaurants/" + Bistro
	SyncPath     = OpsBistro + "/sync"
	RollbackPath = OpsBistro + "/rollback"
	HoldPath     = OpsBistro + "/hold"
	SessionPath  = "/ops/session"

	ViewPath   = "/orders/api/v1/menu/view" // of the compatible API
	CreatePath = "/orders/api/v1/orders"
)

// FormMedia is the media type of token requests.
const FormMedia = "application/x-www-form-urlencoded"
