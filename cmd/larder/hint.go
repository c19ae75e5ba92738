package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"larder/configs"
	"larder/httpapi"
	"larder/internal/client"
	"larder/internal/redisdb"
	"larder/internal/setting"
	"larder/internal/upstream"
)

// hintFor returns what to do after a failure of a command, as a sentence; "" if
// the error says that itself.
func hintFor(cmd *cobra.Command, err error) string {
	var (
		own     *hintError
		refused *client.Error
		faults  configs.Errors
		wrong   *setting.Error
	)
	switch {
	case errors.As(err, &own):
		return own.hint
	case errors.As(err, &refused):
		return refusalHint(refused)
	case isA[*upstream.Error](err):
		return "Run larder check --config FILE --online to see what of the connection does not work."
	case isA[*client.UnreachableError](err):
		return ""
	case errors.As(err, &faults) && cmd.Flags().Lookup("allow-unknown-keys") != nil &&
		slices.ContainsFunc(faults, func(f *configs.Error) bool { return f.Ignorable }):
		return "Correct the key; if a newer larder knows it, --allow-unknown-keys makes it a warning."
	case errors.As(err, &faults):
		return "Fix this and run the command again; larder config sample prints every key, larder init writes a configuration that works."
	case errors.As(err, &wrong) && strings.HasPrefix(wrong.Key, "redis."), isA[*redisdb.RefusedError](err):
		return "Check redis.url; larder check --config FILE --online reports what Redis is and what it refuses."
	case errors.Is(err, context.Canceled):
		return "Follow the daemon with larder status --watch."
	case errors.Is(err, context.DeadlineExceeded):
		return "Try again; larder status reports whether the daemon is ready."
	case errors.Is(err, fs.ErrNotExist):
		return "Check the path; use - for standard input."
	case errors.Is(err, fs.ErrPermission):
		return "Choose another place, or let the user who runs larder read and write there."
	case errors.Is(err, errNoRestaurants):
		return "Add some under restaurants: in the configuration and reload the daemon (kill -HUP, or a restart)."
	case errors.Is(err, client.ErrForeignAnswer), errors.Is(err, errNoMenu):
		return "Compare larder version with larder status --url URL: is this address a larder's, of the same version?"
	case cmd.Flags().Lookup("url") != nil:
		return "See larder status and the daemon's log."
	case cmd.Name() == "serve", cmd.Name() == "demo", cmd.Name() == "sandbox":
		return "Run it again with --log-level debug."
	default:
		return "See " + cmd.CommandPath() + " --help."
	}
}

// refusalHint returns what to do after a daemon's refusal.
func refusalHint(e *client.Error) string {
	switch hint := hintOf(httpapi.Code(e.Code)); {
	case e.Status == http.StatusUnauthorized && e.Anonymous:
		return "" // said already
	case e.OpsRoute && httpapi.Code(e.Code) == httpapi.CodeNotFound:
		return "Use the --url of http.ops_listen: where it is set, /v1/ops is served only there (--config FILE finds it)."
	case hint != "":
		return hint
	case e.RetryAfter > 0:
		return fmt.Sprintf("Try again in %v.", e.RetryAfter.Round(time.Second))
	default:
		return "Run larder status --url URL: is this address a larder's, and is it ready?"
	}
}

// hintOf is what to do after a refusal with a code; "" where that is not known.
func hintOf(code httpapi.Code) string {
	switch code {
	case httpapi.CodeUnauthorized:
		return "Use --config FILE of this daemon, or another --client-id and --client-secret."
	case httpapi.CodeForbidden:
		return "Use a client whose scopes allow it: see auth.clients in the configuration."
	case httpapi.CodeRestaurantNotFound, httpapi.CodeRestaurantRequired:
		return "Use the id of a restaurant that the daemon has; the Tab key completes them."
	case httpapi.CodeConnectionNotFound, httpapi.CodeConnectionRequired, httpapi.CodeOrderAmbiguous:
		return "Pass --connection with a name of the configuration; larder config print shows them."
	case httpapi.CodeProductNotFound, httpapi.CodeExternalIDAmbiguous:
		return "List the dishes with larder menu show RESTAURANT."
	case httpapi.CodeVersionNotFound, httpapi.CodeVersionGone:
		return "List what is kept with larder menu versions RESTAURANT."
	case httpapi.CodeRunNotFound, httpapi.CodeBatchNotFound:
		return "Run larder sync again: records of runs are kept only for a while."
	case httpapi.CodeSyncBusy, httpapi.CodeRequestTimeout, httpapi.CodeRateLimited, httpapi.CodeStreamsUnavailable, httpapi.CodeClientGone:
		return "Try again in a few seconds."
	case httpapi.CodeNoCatalogue, httpapi.CodeNoReasons:
		return "Pull the menu now with larder sync RESTAURANT."
	case httpapi.CodeStorageUnavailable, httpapi.CodeJournalUnavailable:
		return "See larder status; larder check --config FILE --online reports more."
	case httpapi.CodeJournalRestored:
		return "An operator has to find out what Redis lost, and accepts it with larder order accept-restore."
	case httpapi.CodeInternal:
		return "The daemon's log has the cause under the request's id."
	case httpapi.CodeNotFound, httpapi.CodeMethodNotAllowed, httpapi.CodeNotAcceptable, httpapi.CodeUnsupportedMedia:
		return "Run larder version here and there: command line and daemon may be of different versions."
	case httpapi.CodeMalformedJSON, httpapi.CodeInvalidParameter, httpapi.CodeTooLarge:
		return "Correct the input as the message says."
	case httpapi.CodeValidationFailed:
		return "Correct the order until larder order validate FILE finds nothing."
	case httpapi.CodeIdempotencyKeyRequired:
		return "Pass --key with a key of this order."
	case httpapi.CodeIdempotencyKeyReused:
		return "Send the order as it was sent first, or use another --key for another order."
	case httpapi.CodeIdempotencyKeyInFlight, httpapi.CodeOrderBusy:
		return "Try again with the same --key in a few seconds."
	case httpapi.CodeOrderNotFound:
		return "List the orders that are kept with larder order list."
	case httpapi.CodeOutcomeUnknown, httpapi.CodeOrderOutcomeUnknown:
		return "Call the restaurant, then run larder order resolve; larder order list --state unknown lists such orders."
	case httpapi.CodeOrderState, httpapi.CodeOrderIDTaken:
		return "See the order's state with larder order show REF."
	case httpapi.CodeUpstreamRefused:
		return "See what was sent and answered with larder order show REF."
	case httpapi.CodeUpstreamBusy:
		return "Try again with the same --key in some seconds: more orders arrive than the ordering service takes."
	case httpapi.CodeUpstreamUnavailable:
		return "Try again with the same --key later; larder status reports which connection does not answer."
	default:
		return ""
	}
}
