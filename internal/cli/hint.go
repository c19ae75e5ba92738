package cli

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
	"larder/httpapi/respond"
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
	case isA[*usageError](err):
		return fmt.Sprintf("Run %q for usage.", cmd.CommandPath()+" --help")
	case errors.As(err, &faults) && cmd.Flags().Lookup("allow-unknown-keys") != nil &&
		slices.ContainsFunc(faults, func(f *configs.Error) bool { return f.Ignorable }):
		return "Correct the key; if a newer larder knows it, --allow-unknown-keys makes it a warning."
	case errors.As(err, &faults):
		return "Fix this and run the command again; larder config sample prints every key, larder init writes a configuration that works."
	case errors.As(err, &wrong) && strings.HasPrefix(wrong.Key, "redis."), isA[*redisdb.RefusedError](err):
		return "Check redis.url; larder check --config FILE --online reports what Redis is and what it refuses."
	case errors.Is(err, context.Canceled):
		return "Follow the daemon with larder status --watch."
	case isA[*client.UnreachableError](err):
		return "Start larder (larder serve, larder demo), or use --url with the address of a running one."
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
	switch hint := hintOf(respond.Code(e.Code)); {
	case e.Status == http.StatusUnauthorized && e.Anonymous:
		return "" // said already
	case e.OpsRoute && respond.Code(e.Code) == respond.CodeNotFound:
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
func hintOf(code respond.Code) string {
	switch code {
	case respond.CodeUnauthorized:
		return "Use --config FILE of this daemon, or another --client-id and --client-secret."
	case respond.CodeForbidden:
		return "Use a client whose scopes allow it: see auth.clients in the configuration."
	case respond.CodeRestaurantNotFound, respond.CodeRestaurantRequired:
		return "Use the id of a restaurant that the daemon has; the Tab key completes them."
	case respond.CodeConnectionNotFound, respond.CodeConnectionRequired, respond.CodeOrderAmbiguous:
		return "Pass --connection with a name of the configuration; larder config print shows them."
	case respond.CodeProductNotFound, respond.CodeExternalIDAmbiguous:
		return "List the dishes with larder menu show RESTAURANT."
	case respond.CodeVersionNotFound, respond.CodeVersionGone:
		return "List what is kept with larder menu versions RESTAURANT."
	case respond.CodeRunNotFound, respond.CodeBatchNotFound:
		return "Run larder sync again: records of runs are kept only for a while."
	case respond.CodeSyncBusy, respond.CodeRequestTimeout, respond.CodeRateLimited, respond.CodeStreamsUnavailable, respond.CodeClientGone:
		return "Try again in a few seconds."
	case respond.CodeNoCatalogue, respond.CodeNoReasons:
		return "Pull the menu now with larder sync RESTAURANT."
	case respond.CodeStorageUnavailable, respond.CodeJournalUnavailable:
		return "See larder status; larder check --config FILE --online reports more."
	case respond.CodeJournalRestored:
		return "An operator has to find out what Redis lost, and accepts it with larder order accept-restore."
	case respond.CodeInternal:
		return "The daemon's log has the cause under the request's id."
	case respond.CodeNotFound, respond.CodeMethodNotAllowed, respond.CodeNotAcceptable, respond.CodeUnsupportedMedia:
		return "Run larder version here and there: command line and daemon may be of different versions."
	case respond.CodeMalformedJSON, respond.CodeInvalidParameter, respond.CodeTooLarge:
		return "Correct the input as the message says."
	case respond.CodeValidationFailed:
		return "Correct the order until larder order validate FILE finds nothing."
	case respond.CodeIdempotencyKeyRequired:
		return "Pass --key with a key of this order."
	case respond.CodeIdempotencyKeyReused:
		return "Send the order as it was sent first, or use another --key for another order."
	case respond.CodeIdempotencyKeyInFlight, respond.CodeOrderBusy:
		return "Try again with the same --key in a few seconds."
	case respond.CodeOrderNotFound:
		return "List the orders that are kept with larder order list."
	case respond.CodeOutcomeUnknown, respond.CodeOrderOutcomeUnknown:
		return "Call the restaurant, then run larder order resolve; larder order list --state unknown lists such orders."
	case respond.CodeOrderState, respond.CodeOrderIDTaken:
		return "See the order's state with larder order show REF."
	case respond.CodeUpstreamRefused:
		return "See what was sent and answered with larder order show REF."
	case respond.CodeUpstreamBusy:
		return "Try again with the same --key in some seconds: more orders arrive than the ordering service takes."
	case respond.CodeUpstreamUnavailable:
		return "Try again with the same --key later; larder status reports which connection does not answer."
	default:
		return ""
	}
}
