package respond

import "net/http"

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
	CodeNoOpening              Code = "no_opening"
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

// statuses has the HTTP status and the problem title of each code. It is the only source of error statuses.
var statuses = map[Code]struct { //nolint:gochecknoglobals // constant
	status int
	title  string
}{
	CodeMalformedJSON:          {http.StatusBadRequest, "The body is not valid JSON"},
	CodeValidationFailed:       {http.StatusUnprocessableEntity, "The request is not valid"},
	CodeRestaurantNotFound:     {http.StatusNotFound, "Restaurant not found"},
	CodeRestaurantRequired:     {http.StatusBadRequest, "A restaurant is required"},
	CodeProductNotFound:        {http.StatusNotFound, "Product not found"},
	CodeRunNotFound:            {http.StatusNotFound, "Run not found"},
	CodeBatchNotFound:          {http.StatusNotFound, "Batch not found"},
	CodeVersionNotFound:        {http.StatusNotFound, "Version not found"},
	CodeVersionGone:            {http.StatusGone, "The version is not available"},
	CodeNoOpening:              {http.StatusUnprocessableEntity, "The next opening is not known"},
	CodeSyncBusy:               {http.StatusConflict, "Another run is in progress"},
	CodeConnectionNotFound:     {http.StatusNotFound, "Connection not found"},
	CodeConnectionRequired:     {http.StatusBadRequest, "A connection is required"},
	CodeExternalIDAmbiguous:    {http.StatusConflict, "Several products have this externalId"},
	CodeNoCatalogue:            {http.StatusServiceUnavailable, "There is no menu yet"},
	CodeMenuOfAnotherService:   {http.StatusServiceUnavailable, "The menu is of another ordering service"},
	CodeNoReasons:              {http.StatusServiceUnavailable, "There are no rejection reasons yet"},
	CodeIdempotencyKeyRequired: {http.StatusBadRequest, "A valid Idempotency-Key is required"},
	CodeIdempotencyKeyReused:   {http.StatusUnprocessableEntity, "The Idempotency-Key was used for another request"},
	CodeIdempotencyKeyInFlight: {http.StatusConflict, "The first request with this Idempotency-Key is in progress"},
	CodeOrderNotFound:          {http.StatusNotFound, "Order not found"},
	CodeOrderAmbiguous:         {http.StatusBadRequest, "Several connections have an order with this id"},
	CodeOrderOfAnotherService:  {http.StatusConflict, "The order belongs to another ordering service"},
	CodeOrderBusy:              {http.StatusConflict, "Another change of the order is in progress"},
	CodeOutcomeUnknown:         {http.StatusConflict, "The outcome of the order's last change is unknown"},
	CodeOrderState:             {http.StatusConflict, "The order's state does not allow this change"},
	CodeOrderIDTaken:           {http.StatusConflict, "Another order has this orderID"},
	CodeOrderOutcomeUnknown:    {http.StatusGatewayTimeout, "The outcome of the operation is unknown"},
	CodeJournalUnavailable:     {http.StatusServiceUnavailable, "Orders cannot be recorded"},
	CodeJournalFormat:          {http.StatusServiceUnavailable, "The order records cannot be read"},
	CodeJournalRestored:        {http.StatusServiceUnavailable, "Orders are paused"},
	CodeUpstreamRefused:        {http.StatusBadGateway, "The ordering service refused the operation"},
	CodeUpstreamUnavailable:    {http.StatusServiceUnavailable, "The ordering service is unreachable"},
	CodeUpstreamBusy:           {http.StatusServiceUnavailable, "Too many requests are waiting for the ordering service"},
	CodeStorageUnavailable:     {http.StatusServiceUnavailable, "The storage is unavailable"},
	CodeStreamsUnavailable:     {http.StatusServiceUnavailable, "Event streams are unavailable"},
	CodeRateLimited:            {http.StatusTooManyRequests, "Too many requests"},
	CodeUnauthorized:           {http.StatusUnauthorized, "A valid bearer token is required"},
	CodeForbidden:              {http.StatusForbidden, "Not allowed"},
	CodeInvalidParameter:       {http.StatusBadRequest, "A parameter is not valid"},
	CodeNotFound:               {http.StatusNotFound, "Path not found"},
	CodeMethodNotAllowed:       {http.StatusMethodNotAllowed, "Method not allowed"},
	CodeNotAcceptable:          {http.StatusNotAcceptable, "No acceptable content encoding"},
	CodeRequestTimeout:         {http.StatusRequestTimeout, "The body did not arrive in time"},
	CodeTooLarge:               {http.StatusRequestEntityTooLarge, "The body is too large"},
	CodeUnsupportedMedia:       {http.StatusUnsupportedMediaType, "The body must be JSON"},
	CodeClientGone:             {499, "The client has disconnected"},
	CodeInternal:               {http.StatusInternalServerError, "Internal error"},
}

// Status returns the code's HTTP status and title.
func (c Code) Status() (status int, title string) { return statuses[c].status, statuses[c].title }
