package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"larder/configs"
	"larder/httpapi"
	"larder/internal/redisdb"
	"larder/internal/setting"
	"larder/internal/upstream"
)

// hintError is an error with a hint of its own.
type hintError struct {
	err  error
	hint string
}

func (e *hintError) Error() string { return e.err.Error() }

func (e *hintError) Unwrap() error { return e.err }

// errForeignAnswer is an answer that no larder of this version gives.
var errForeignAnswer = errors.New("the answer is not what larder sends")

// hintFor returns what to do after a failure of a command, as a sentence; "" if
// the error says that itself.
func hintFor(cmd *cobra.Command, err error) string {
	var (
		own         *hintError
		refused     *apiError
		unreachable *unreachableError
		service     *upstream.Error
		faults      configs.Errors
		wrong       *setting.Error
		redis       *redisdb.RefusedError
	)
	switch {
	case errors.As(err, &own):
		return own.hint
	case errors.As(err, &refused):
		return refused.hint()
	case errors.As(err, &service):
		return "Run larder check --config FILE --online to see what of the connection does not work."
	case errors.As(err, &unreachable):
		return ""
	case errors.As(err, &faults) && cmd.Flags().Lookup("allow-unknown-keys") != nil &&
		slices.ContainsFunc(faults, func(f *configs.Error) bool { return f.Ignorable }):
		return "Correct the key; if a newer larder knows it, --allow-unknown-keys makes it a warning."
	case errors.As(err, &faults):
		return "Fix this and run the command again; larder config sample prints every key, larder init writes a configuration that works."
	case errors.As(err, &wrong) && strings.HasPrefix(wrong.Key, "redis."), errors.As(err, &redis):
		return "Check redis.url; larder check --config FILE --online reports what Redis is and what it refuses."
	case errors.Is(err, context.Canceled):
		return "Follow the daemon with larder status --watch."
	case errors.Is(err, context.DeadlineExceeded):
		return "Try again; larder status reports whether the daemon is ready."
	case errors.Is(err, exec.ErrNotFound):
		return "Install the program, or add its folder to PATH."
	case errors.Is(err, fs.ErrNotExist):
		return "Check the path; use - for standard input."
	case errors.Is(err, fs.ErrPermission):
		return "Choose another place, or let the user who runs larder read and write there."
	case errors.Is(err, errNoRestaurants):
		return "Add some under restaurants: in the configuration and reload the daemon (kill -HUP, or a restart)."
	case errors.Is(err, errForeignAnswer), errors.Is(err, errNoMenu):
		return "Compare larder version with larder status --url URL: is this address a larder's, of the same version?"
	case cmd.Flags().Lookup("url") != nil:
		return "See larder status and the daemon's log."
	case cmd.Name() == "serve", cmd.Name() == "demo", cmd.Name() == "sandbox":
		return "Run it again with --log-level debug."
	default:
		return "See " + cmd.CommandPath() + " --help."
	}
}

// hint is what to do after a daemon's refusal.
func (e *apiError) hint() string {
	switch hint := hints[httpapi.Code(e.Code)]; {
	case e.Status == http.StatusUnauthorized && e.anonymous:
		return "" // said already
	case e.ofOps && httpapi.Code(e.Code) == httpapi.CodeNotFound:
		return "Use the --url of http.ops_listen: where it is set, /v1/ops is served only there (--config FILE finds it)."
	case hint != "":
		return hint
	case e.retryAfter > 0:
		return fmt.Sprintf("Try again in %v.", e.retryAfter.Round(time.Second))
	default:
		return "Run larder status --url URL: is this address a larder's, and is it ready?"
	}
}

const (
	hintSoon       = "Try again in a few seconds."
	hintVersions   = "Run larder version here and there: command line and daemon may be of different versions."
	hintInput      = "Correct the input as the message says."
	hintConnection = "Pass --connection with a name of the configuration; larder config print shows them."
	hintKept       = "List what is kept with larder menu versions RESTAURANT."
	hintDishes     = "List the dishes with larder menu show RESTAURANT."
	hintRestaurant = "Use the id of a restaurant that the daemon has; the Tab key completes them."
	hintRedis      = "See larder status; larder check --config FILE --online reports more."
	hintRuns       = "Run larder sync again: records of runs are kept only for a while."
	hintSameKey    = "Try again with the same --key in a few seconds."
	hintUnknown    = "Call the restaurant, then run larder order resolve; larder order list --state unknown lists such orders."
	hintOrder      = "See the order's state with larder order show REF."
)

// hints are what to do after a refusal, by its code.
var hints = map[httpapi.Code]string{ //nolint:gochecknoglobals // constant
	httpapi.CodeUnauthorized:           "Use --config FILE of this daemon, or another --client-id and --client-secret.",
	httpapi.CodeForbidden:              "Use a client whose scopes allow it: see auth.clients in the configuration.",
	httpapi.CodeRestaurantNotFound:     hintRestaurant,
	httpapi.CodeRestaurantRequired:     hintRestaurant,
	httpapi.CodeConnectionNotFound:     hintConnection,
	httpapi.CodeConnectionRequired:     hintConnection,
	httpapi.CodeOrderAmbiguous:         hintConnection,
	httpapi.CodeProductNotFound:        hintDishes,
	httpapi.CodeExternalIDAmbiguous:    hintDishes,
	httpapi.CodeVersionNotFound:        hintKept,
	httpapi.CodeVersionGone:            hintKept,
	httpapi.CodeRunNotFound:            hintRuns,
	httpapi.CodeBatchNotFound:          hintRuns,
	httpapi.CodeSyncBusy:               hintSoon,
	httpapi.CodeRequestTimeout:         hintSoon,
	httpapi.CodeRateLimited:            hintSoon,
	httpapi.CodeStreamsUnavailable:     hintSoon,
	httpapi.CodeClientGone:             hintSoon,
	httpapi.CodeNoCatalogue:            "Pull the menu now with larder sync RESTAURANT.",
	httpapi.CodeNoReasons:              "Pull the menu now with larder sync RESTAURANT.",
	httpapi.CodeStorageUnavailable:     hintRedis,
	httpapi.CodeJournalUnavailable:     hintRedis,
	httpapi.CodeJournalRestored:        "An operator has to find out what Redis lost, and accepts it with larder order accept-restore.",
	httpapi.CodeInternal:               "The daemon's log has the cause under the request's id.",
	httpapi.CodeNotFound:               hintVersions,
	httpapi.CodeMethodNotAllowed:       hintVersions,
	httpapi.CodeNotAcceptable:          hintVersions,
	httpapi.CodeUnsupportedMedia:       hintVersions,
	httpapi.CodeMalformedJSON:          hintInput,
	httpapi.CodeInvalidParameter:       hintInput,
	httpapi.CodeTooLarge:               hintInput,
	httpapi.CodeValidationFailed:       "Correct the order until larder order validate FILE finds nothing.",
	httpapi.CodeIdempotencyKeyRequired: "Pass --key with a key of this order.",
	httpapi.CodeIdempotencyKeyReused:   "Send the order as it was sent first, or use another --key for another order.",
	httpapi.CodeIdempotencyKeyInFlight: hintSameKey,
	httpapi.CodeOrderBusy:              hintSameKey,
	httpapi.CodeOrderNotFound:          "List the orders that are kept with larder order list.",
	httpapi.CodeOutcomeUnknown:         hintUnknown,
	httpapi.CodeOrderOutcomeUnknown:    hintUnknown,
	httpapi.CodeOrderState:             hintOrder,
	httpapi.CodeOrderIDTaken:           hintOrder,
	httpapi.CodeUpstreamRefused:        "See what was sent and answered with larder order show REF.",
	httpapi.CodeUpstreamBusy:           "Try again with the same --key in some seconds: more orders arrive than the ordering service takes.",
	httpapi.CodeUpstreamUnavailable:    "Try again with the same --key later; larder status reports which connection does not answer.",
}
