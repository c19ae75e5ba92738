package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os/exec"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"larder/configs"
	"larder/httpapi"
	"larder/internal/redisdb"
	"larder/internal/upstream"
)

// nextStep says what to try after a failure of a command; "" where the error's
// own words end with that already.
func nextStep(cmd *cobra.Command, err error) string {
	if stepped, ok := errors.AsType[*steppedError](err); ok {
		return stepped.next
	}
	if refused, ok := errors.AsType[*apiError](err); ok {
		return refused.nextStep()
	}
	var faults configs.Errors
	if _, ok := errors.AsType[*upstream.Error](err); ok {
		return "larder check --config FILE --online tells what of the connection does not work"
	}
	switch {
	case isUnreachable(err), isTaken(err):
		return ""
	case errors.As(err, &faults) && cmd.Flags().Lookup("allow-unknown-keys") != nil &&
		slices.ContainsFunc(faults, func(f *configs.Error) bool { return f.Ignorable }):
		return "another key; if a newer larder knows this one, --allow-unknown-keys makes it a warning"
	case errors.As(err, &faults):
		return `put that right and see with "larder check --config FILE"; "larder config sample" prints every key with its meaning, "larder init" writes a configuration that works`
	case isOfRedis(err):
		return "larder check --config FILE --online tells what Redis is and what it refuses; redis.url says where it is"
	case errors.Is(err, context.Canceled):
		return "larder status --watch shows how the daemon goes on"
	case errors.Is(err, context.DeadlineExceeded):
		return "the same again; larder status tells whether the daemon is well"
	case errors.Is(err, exec.ErrNotFound):
		return "install the program that is named, or put its folder into PATH"
	case errors.Is(err, fs.ErrNotExist):
		return "a path that is there; for FILE, - is standard input"
	case errors.Is(err, fs.ErrPermission):
		return "another place, or let the user who runs larder read and write there"
	case errors.Is(err, errNoRestaurants):
		return "add some under restaurants: in the configuration, and have the daemon read it (kill -HUP, or a restart)"
	case errors.Is(err, errForeignAnswer), errors.Is(err, errNoMenu):
		return "larder version and larder status --url URL: is this address a larder's, and of the same version?"
	default:
		return lastResort(cmd)
	}
}

// lastResort is what to try after an error of which nothing is known but the
// command that it is of.
func lastResort(cmd *cobra.Command) string {
	switch {
	case cmd.Flags().Lookup("url") != nil:
		return "larder status tells whether the daemon is well, its log tells more"
	case cmd.Name() == "serve", cmd.Name() == "demo", cmd.Name() == "sandbox":
		return "the same with --log-level debug, which tells more"
	default:
		return cmd.CommandPath() + " --help tells what it needs"
	}
}

// steppedError is an error with what to try next, where no class of errors has
// it.
type steppedError struct {
	err  error
	next string
}

func (e *steppedError) Error() string { return e.err.Error() }

func (e *steppedError) Unwrap() error { return e.err }

// errForeignAnswer is an answer that no larder of this version gives.
var errForeignAnswer = errors.New("the answer is not what larder sends")

func isTaken(err error) bool {
	_, taken := errors.AsType[*takenError](err)
	return taken
}

// isOfRedis tells a fault of Redis, or of what is said about it.
func isOfRedis(err error) bool {
	_, configured := errors.AsType[*redisdb.ConfigError](err)
	_, refused := errors.AsType[*redisdb.RefusedError](err)
	return configured || refused
}

// nextStep says what to try after a daemon's refusal.
func (e *apiError) nextStep() string {
	switch {
	case e.Status == http.StatusUnauthorized && e.anonymous:
		return "" // said already
	case e.ofOps && httpapi.Code(e.Code) == httpapi.CodeNotFound:
		return "another --url: where http.ops_listen is set, /v1/ops is served there and nowhere else (--config FILE finds it)"
	}
	if step := stepAfter(httpapi.Code(e.Code)); step != "" {
		return step
	}
	if step := stepAfterOrder(httpapi.Code(e.Code)); step != "" {
		return step
	}
	if e.retryAfter > 0 {
		return fmt.Sprintf("again in %v", e.retryAfter.Round(time.Second))
	}
	return "larder status --url URL: is this address a larder's, and is it well?"
}

// stepAfter is what to try after a refusal that is not about an order.
func stepAfter(code httpapi.Code) string {
	switch code {
	case httpapi.CodeUnauthorized:
		return "--config FILE of this daemon, or another --client-id and --client-secret"
	case httpapi.CodeForbidden:
		return "a client whose scopes allow it: auth.clients in the configuration, then --client-id and --client-secret"
	case httpapi.CodeRestaurantNotFound, httpapi.CodeRestaurantRequired:
		return "one of the restaurants that are there: larder status --watch lists them, and so does completion with the Tab key"
	case httpapi.CodeConnectionNotFound, httpapi.CodeConnectionRequired, httpapi.CodeOrderAmbiguous:
		return "--connection with a name of the configuration: larder config print shows them"
	case httpapi.CodeProductNotFound, httpapi.CodeExternalIDAmbiguous:
		return "larder menu show RESTAURANT lists the dishes"
	case httpapi.CodeVersionNotFound, httpapi.CodeVersionGone:
		return "larder menu versions RESTAURANT lists what is kept"
	case httpapi.CodeRunNotFound, httpapi.CodeBatchNotFound:
		return "larder sync again: records of runs are kept for a while only"
	case httpapi.CodeSyncBusy, httpapi.CodeRequestTimeout, httpapi.CodeRateLimited, httpapi.CodeStreamsUnavailable, httpapi.CodeClientGone:
		return "the same in a few seconds"
	case httpapi.CodeNoCatalogue, httpapi.CodeNoReasons:
		return "larder sync RESTAURANT pulls the menu now and says why where it cannot"
	case httpapi.CodeStorageUnavailable, httpapi.CodeJournalUnavailable:
		return "larder status tells what of Redis is not well; larder check --config FILE --online tells more"
	case httpapi.CodeJournalRestored:
		return "an operator looks at what Redis has lost and accepts it: larder order accept-restore"
	case httpapi.CodeInternal:
		return "the daemon's log has the cause under the request's id; larder status tells whether it is well"
	case httpapi.CodeNotFound, httpapi.CodeMethodNotAllowed, httpapi.CodeNotAcceptable, httpapi.CodeUnsupportedMedia:
		return "larder version here and there: command line and daemon may be of different versions"
	case httpapi.CodeMalformedJSON, httpapi.CodeInvalidParameter, httpapi.CodeTooLarge:
		return "put the input right as the message says"
	default:
		return ""
	}
}

// stepAfterOrder is what to try after a refusal of an order, or of a change.
func stepAfterOrder(code httpapi.Code) string {
	switch code {
	case httpapi.CodeValidationFailed:
		return "larder order validate FILE until nothing is wrong"
	case httpapi.CodeIdempotencyKeyRequired:
		return "--key with a word of this order's own"
	case httpapi.CodeIdempotencyKeyReused:
		return "the order as it was sent first, or another --key for another order"
	case httpapi.CodeIdempotencyKeyInFlight, httpapi.CodeOrderBusy:
		return "the same with the same --key in a few seconds"
	case httpapi.CodeOrderNotFound:
		return "larder order list shows the orders that are kept"
	case httpapi.CodeOutcomeUnknown, httpapi.CodeOrderOutcomeUnknown:
		return "call the restaurant, then larder order resolve; larder order list --state unknown shows what to settle"
	case httpapi.CodeOrderState, httpapi.CodeOrderIDTaken:
		return "larder order show REF tells how the order stands"
	case httpapi.CodeUpstreamRefused:
		return "what the ordering service says; larder order show REF tells what was sent and answered"
	case httpapi.CodeUpstreamBusy:
		return "the same with the same --key in some seconds: more orders come in than the ordering service takes"
	case httpapi.CodeUpstreamUnavailable:
		return "the same with the same --key later; larder status tells which connection does not answer"
	default:
		return ""
	}
}
