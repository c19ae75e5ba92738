package respond

import (
	_ "embed" // codes.json
	"encoding/json"
)

// Code is the stable name of an error, the `code` of every error body. Package violation has
// the codes of orders (policy V).
type Code string

// The codes of policy V that this package uses, and codes for HTTP itself.
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
	CodeMenuOfAnotherService   Code = "menu_of_another_service"
	CodeNoReasons              Code = "no_rejection_reasons"
	CodeIdempotencyKeyRequired Code = "idempotency_key_required"
	CodeIdempotencyKeyReused   Code = "idempotency_key_reused"
	CodeIdempotencyKeyInFlight Code = "idempotency_key_in_flight"
	CodeOrderNotFound          Code = "order_not_found"
	CodeOrderAmbiguous         Code = "order_ambiguous"
	CodeOrderOfAnotherService  Code = "order_of_another_service"
	CodeOrderBusy              Code = "order_busy"
	CodeOutcomeUnknown         Code = "outcome_unknown"
	CodeOrderState             Code = "order_state"
	CodeOrderIDTaken           Code = "order_id_taken"
	CodeOrderOutcomeUnknown    Code = "order_outcome_unknown"
	CodeJournalUnavailable     Code = "journal_unavailable"
	CodeJournalRestored        Code = "journal_restored"
	CodeJournalFormat          Code = "journal_format"
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
	CodeClientGone             Code = "client_closed_request" // only in the log and the metrics: the client has disconnected
	CodeInternal               Code = "internal"
)

// statusTexts have the HTTP status and the problem title of each code.
type statusTexts map[Code]struct {
	Status int
	Title  string
}

//go:embed codes.json
var codesJSON []byte

// statuses is the only source of error statuses.
var statuses = func() (all statusTexts) { //nolint:gochecknoglobals // a table
	if err := json.Unmarshal(codesJSON, &all); err != nil {
		panic("respond: codes.json: " + err.Error()) // every start reads it
	}
	return all
}()

// Status returns the code's HTTP status and title.
func (c Code) Status() (status int, title string) { return statuses[c].Status, statuses[c].Title }
