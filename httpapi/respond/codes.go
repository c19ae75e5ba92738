package respond

import "net/http"

// Code is the stable name of an error, the `code` of every error body. Package violation has
// the codes of orders (policy V).
type Code string

// The codes of policy V that this package uses, and codes for HTTP itself, each with its HTTP status and problem title. This is
// the only source of error statuses.
//
//nolint:gochecknoglobals // constants
var (
	CodeMalformedJSON        = newCode("malformed_json", http.StatusBadRequest, "The body is not valid JSON")
	CodeValidationFailed     = newCode("validation_failed", http.StatusUnprocessableEntity, "The request is not valid")
	CodeRestaurantNotFound   = newCode("restaurant_not_found", http.StatusNotFound, "Restaurant not found")
	CodeRestaurantRequired   = newCode("restaurant_required", http.StatusBadRequest, "A restaurant is required")
	CodeProductNotFound      = newCode("product_not_found", http.StatusNotFound, "Product not found")
	CodeRunNotFound          = newCode("run_not_found", http.StatusNotFound, "Run not found")
	CodeBatchNotFound        = newCode("batch_not_found", http.StatusNotFound, "Batch not found")
	CodeVersionNotFound      = newCode("version_not_found", http.StatusNotFound, "Version not found")
	CodeVersionGone          = newCode("version_gone", http.StatusGone, "The version is not available")
	CodeSyncBusy             = newCode("sync_busy", http.StatusConflict, "Another run is in progress")
	CodeNoOpening            = newCode("no_opening", http.StatusUnprocessableEntity, "The next opening is not known")
	CodeConnectionNotFound   = newCode("connection_not_found", http.StatusNotFound, "Connection not found")
	CodeConnectionRequired   = newCode("connection_required", http.StatusBadRequest, "A connection is required")
	CodeExternalIDAmbiguous  = newCode("external_id_ambiguous", http.StatusConflict, "Several products have this externalId")
	CodeNoCatalogue          = newCode("no_catalogue", http.StatusServiceUnavailable, "There is no menu yet")
	CodeMenuOfAnotherService = newCode("menu_of_another_service", http.StatusServiceUnavailable,
		"The menu is of another ordering service")
	CodeNoReasons              = newCode("no_rejection_reasons", http.StatusServiceUnavailable, "There are no rejection reasons yet")
	CodeIdempotencyKeyRequired = newCode("idempotency_key_required", http.StatusBadRequest, "A valid Idempotency-Key is required")
	CodeIdempotencyKeyReused   = newCode("idempotency_key_reused", http.StatusUnprocessableEntity,
		"The Idempotency-Key was used for another request")
	CodeIdempotencyKeyInFlight = newCode("idempotency_key_in_flight", http.StatusConflict,
		"The first request with this Idempotency-Key is in progress")
	CodeOrderNotFound         = newCode("order_not_found", http.StatusNotFound, "Order not found")
	CodeOrderAmbiguous        = newCode("order_ambiguous", http.StatusBadRequest, "Several connections have an order with this id")
	CodeOrderOfAnotherService = newCode("order_of_another_service", http.StatusConflict, "The order belongs to another ordering service")
	CodeOrderBusy             = newCode("order_busy", http.StatusConflict, "Another change of the order is in progress")
	CodeOutcomeUnknown        = newCode("outcome_unknown", http.StatusConflict, "The outcome of the order's last change is unknown")
	CodeOrderState            = newCode("order_state", http.StatusConflict, "The order's state does not allow this change")
	CodeOrderIDTaken          = newCode("order_id_taken", http.StatusConflict, "Another order has this orderID")
	CodeOrderOutcomeUnknown   = newCode("order_outcome_unknown", http.StatusGatewayTimeout, "The outcome of the operation is unknown")
	CodeJournalUnavailable    = newCode("journal_unavailable", http.StatusServiceUnavailable, "Orders cannot be recorded")
	CodeJournalRestored       = newCode("journal_restored", http.StatusServiceUnavailable, "Orders are paused")
	CodeJournalFormat         = newCode("journal_format", http.StatusServiceUnavailable, "The order records cannot be read")
	CodeUpstreamRefused       = newCode("upstream_refused", http.StatusBadGateway, "The ordering service refused the operation")
	CodeUpstreamUnavailable   = newCode("upstream_unavailable", http.StatusServiceUnavailable, "The ordering service is unreachable")
	CodeUpstreamBusy          = newCode("upstream_busy", http.StatusServiceUnavailable,
		"Too many requests are waiting for the ordering service")
	CodeStorageUnavailable = newCode("storage_unavailable", http.StatusServiceUnavailable, "The storage is unavailable")
	CodeStreamsUnavailable = newCode("streams_unavailable", http.StatusServiceUnavailable, "Event streams are unavailable")
	CodeRateLimited        = newCode("rate_limited", http.StatusTooManyRequests, "Too many requests")
	CodeUnauthorized       = newCode("unauthorized", http.StatusUnauthorized, "A valid bearer token is required")
	CodeForbidden          = newCode("forbidden", http.StatusForbidden, "Not allowed")
	CodeInvalidParameter   = newCode("invalid_parameter", http.StatusBadRequest, "A parameter is not valid")
	CodeNotFound           = newCode("not_found", http.StatusNotFound, "Path not found")
	CodeMethodNotAllowed   = newCode("method_not_allowed", http.StatusMethodNotAllowed, "Method not allowed")
	CodeNotAcceptable      = newCode("not_acceptable", http.StatusNotAcceptable, "No acceptable content encoding")
	CodeRequestTimeout     = newCode("request_timeout", http.StatusRequestTimeout, "The body did not arrive in time")
	CodeTooLarge           = newCode("payload_too_large", http.StatusRequestEntityTooLarge, "The body is too large")
	CodeUnsupportedMedia   = newCode("unsupported_media_type", http.StatusUnsupportedMediaType, "The body must be JSON")
	CodeClientGone         = newCode("client_closed_request", 499, "The client has disconnected") // only in the log and the metrics
	CodeInternal           = newCode("internal", http.StatusInternalServerError, "Internal error")
)

// statuses and titles have the HTTP status and the problem title of each code.
var statuses, titles = map[Code]int{}, map[Code]string{} //nolint:gochecknoglobals // constants

func newCode(name Code, status int, title string) Code {
	statuses[name], titles[name] = status, title
	return name
}

// Status returns the code's HTTP status and title.
func (c Code) Status() (status int, title string) { return statuses[c], titles[c] }
