package httpapi

import "net/http"

// Code is the stable name of an error, the `code` of every error body. Codes
// of orders are ordering's (policy V); these are the ones of the door.
type Code string

// The codes of policy V that this package answers with, and the few that HTTP
// itself needs.
const (
	CodeMalformedJSON          Code = "malformed_json"
	CodeValidationFailed       Code = "validation_failed"
	CodeRestaurantNotFound     Code = "restaurant_not_found"
	CodeRestaurantRequired     Code = "restaurant_required"
	CodeProductNotFound        Code = "product_not_found"
	CodeRunNotFound            Code = "run_not_found"
	CodeBatchNotFound          Code = "batch_not_found"
	CodeVersionNotFound        Code = "version_not_found"
	CodeVersionGone            Code = "version_gone"
	CodeSyncBusy               Code = "sync_busy"
	CodeConnectionNotFound     Code = "connection_not_found"
	CodeConnectionRequired     Code = "connection_required"
	CodeExternalIDAmbiguous    Code = "external_id_ambiguous"
	CodeNoCatalogue            Code = "no_catalogue"
	CodeNoReasons              Code = "no_rejection_reasons"
	CodeIdempotencyKeyRequired Code = "idempotency_key_required"
	CodeIdempotencyKeyReused   Code = "idempotency_key_reused"
	CodeIdempotencyKeyInFlight Code = "idempotency_key_in_flight"
	CodeOrderNotFound          Code = "order_not_found"
	CodeOrderAmbiguous         Code = "order_ambiguous"
	CodeOrderBusy              Code = "order_busy"
	CodeOutcomeUnknown         Code = "outcome_unknown"
	CodeOrderState             Code = "order_state"
	CodeOrderIDTaken           Code = "order_id_taken"
	CodeOrderOutcomeUnknown    Code = "order_outcome_unknown"
	CodeJournalUnavailable     Code = "journal_unavailable"
	CodeJournalRestored        Code = "journal_restored"
	CodeUpstreamRefused        Code = "upstream_refused"
	CodeUpstreamUnavailable    Code = "upstream_unavailable"
	CodeUpstreamBusy           Code = "upstream_busy"
	CodeStorageUnavailable     Code = "storage_unavailable"
	CodeStreamsUnavailable     Code = "streams_unavailable"
	CodeRateLimited            Code = "rate_limited"
	CodeUnauthorized           Code = "unauthorized"
	CodeForbidden              Code = "forbidden"
	CodeInvalidParameter       Code = "invalid_parameter"
	CodeNotFound               Code = "not_found"
	CodeMethodNotAllowed       Code = "method_not_allowed"
	CodeNotAcceptable          Code = "not_acceptable"
	CodeRequestTimeout         Code = "request_timeout"
	CodeTooLarge               Code = "payload_too_large"
	CodeUnsupportedMedia       Code = "unsupported_media_type"
	CodeClientGone             Code = "client_closed_request"
	CodeInternal               Code = "internal"
)

// statusClientGone is for the log and the metrics alone: nobody is there to
// read it. The number is the one that others use for this.
const statusClientGone = 499

// status gives the one HTTP status of a code and the title of its problem
// document. With ofOrder it is the whole table; nothing else chooses a status.
func (c Code) status() (status int, title string) {
	if status, title, found := c.ofOrder(); found {
		return status, title
	}
	switch c {
	case CodeMalformedJSON:
		return http.StatusBadRequest, "The body is not well-formed JSON"
	case CodeInvalidParameter:
		return http.StatusBadRequest, "A parameter is not valid"
	case CodeRestaurantRequired:
		return http.StatusBadRequest, "The restaurant must be named"
	case CodeConnectionRequired:
		return http.StatusBadRequest, "The connection must be named"
	case CodeUnauthorized:
		return http.StatusUnauthorized, "A valid bearer token is required"
	case CodeForbidden:
		return http.StatusForbidden, "Not allowed"
	case CodeRestaurantNotFound:
		return http.StatusNotFound, "No such restaurant"
	case CodeProductNotFound:
		return http.StatusNotFound, "No such product"
	case CodeRunNotFound:
		return http.StatusNotFound, "No such run"
	case CodeBatchNotFound:
		return http.StatusNotFound, "No such batch"
	case CodeVersionNotFound:
		return http.StatusNotFound, "No such version"
	case CodeVersionGone:
		return http.StatusGone, "The version is not kept"
	case CodeSyncBusy:
		return http.StatusConflict, "Another run is not finished"
	case CodeConnectionNotFound:
		return http.StatusNotFound, "No such connection"
	case CodeNotFound:
		return http.StatusNotFound, "No such route"
	case CodeMethodNotAllowed:
		return http.StatusMethodNotAllowed, "The route does not take this method"
	case CodeNotAcceptable:
		return http.StatusNotAcceptable, "No acceptable content coding"
	case CodeRequestTimeout:
		return http.StatusRequestTimeout, "The body did not arrive in time"
	case CodeClientGone:
		return statusClientGone, "The client has left"
	case CodeExternalIDAmbiguous:
		return http.StatusConflict, "Several products share this externalId"
	case CodeTooLarge:
		return http.StatusRequestEntityTooLarge, "The body is too large"
	case CodeUnsupportedMedia:
		return http.StatusUnsupportedMediaType, "The body must be JSON"
	case CodeRateLimited:
		return http.StatusTooManyRequests, "Too many requests"
	case CodeNoCatalogue:
		return http.StatusServiceUnavailable, "There is no menu yet"
	case CodeNoReasons:
		return http.StatusServiceUnavailable, "There are no rejection reasons yet"
	case CodeStreamsUnavailable:
		return http.StatusServiceUnavailable, "No event stream can be opened"
	case CodeStorageUnavailable:
		return http.StatusServiceUnavailable, "The storage cannot be reached"
	default:
		return http.StatusInternalServerError, "Internal error"
	}
}

// ofOrder is the table's part for orders.
func (c Code) ofOrder() (status int, title string, found bool) {
	switch c {
	case CodeIdempotencyKeyRequired:
		return http.StatusBadRequest, "An Idempotency-Key is required", true
	case CodeOrderAmbiguous:
		return http.StatusBadRequest, "Several connections have an order with this id", true
	case CodeOrderNotFound:
		return http.StatusNotFound, "No such order", true
	case CodeIdempotencyKeyInFlight:
		return http.StatusConflict, "The request with this Idempotency-Key is not finished", true
	case CodeOrderBusy:
		return http.StatusConflict, "Another change of the order is not finished", true
	case CodeOutcomeUnknown:
		return http.StatusConflict, "It is not known what became of the order's last change", true
	case CodeOrderState:
		return http.StatusConflict, "The order takes no such change as it stands", true
	case CodeOrderIDTaken:
		return http.StatusConflict, "Another order has this orderID", true
	case CodeIdempotencyKeyReused:
		return http.StatusUnprocessableEntity, "The Idempotency-Key belongs to another request", true
	case CodeValidationFailed:
		return http.StatusUnprocessableEntity, "The request breaks rules", true
	case CodeUpstreamRefused:
		return http.StatusBadGateway, "The ordering service refused", true
	case CodeJournalUnavailable:
		return http.StatusServiceUnavailable, "Orders cannot be recorded", true
	case CodeJournalRestored:
		return http.StatusServiceUnavailable, "New orders are paused", true
	case CodeUpstreamUnavailable:
		return http.StatusServiceUnavailable, "The ordering service cannot be reached", true
	case CodeUpstreamBusy:
		return http.StatusServiceUnavailable, "Too many requests wait for the ordering service", true
	case CodeOrderOutcomeUnknown:
		return http.StatusGatewayTimeout, "It is not known whether the ordering service did it", true
	default:
		return 0, "", false
	}
}
