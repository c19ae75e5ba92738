package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"larder.local/cmd/larder/client"
	"larder.local/configs"
	"larder.local/httpapi/respond"
	"larder.local/internal/redisdb"
	"larder.local/internal/setting"
	"larder.local/internal/upstream"
)

// printError prints an error and the hint for it.
func (env *Environment) printError(err error, hint string) {
	lines := errorLines(err)
	if len(lines) == 1 && !isA[*usageError](err) {
		text := strings.TrimSuffix(lines[0], ".")
		if !strings.HasSuffix(text, "?") {
			text += "."
		}
		lines = []string{text + " " + hint}
	} else {
		lines = append(slices.Clone(lines), hint)
	}
	first, prefix := stripPackage(lines[0]), "larder:"
	if rest, ok := strings.CutPrefix(first, "larder "); ok { // "larder menu: …"
		first, prefix = rest, "larder"
	}
	env.Err.Printf("%s %s\n", env.errorColours().bad(prefix), first)
	for _, line := range lines[1:] {
		env.Err.Println(line)
	}
}

// commandError is the JSON form of an error. Code and Msg have the same names as in error responses of the HTTP API.
type commandError struct {
	Code   string         `json:"code"`
	Msg    string         `json:"msg"`
	Next   string         `json:"next"` // what to do
	Errors configs.Errors `json:"errors,omitempty"`
}

// The codes of errors that do not come from a daemon.
const (
	codeFailed        = "failed"
	codeUnreachable   = "larder_unreachable"
	codeInterrupted   = "interrupted"
	codeConfiguration = "invalid_configuration"
	codeUsage         = "invalid_usage"
)

// errorJSON returns an error as JSON with code, msg and next. The error response of
// a daemon keeps its code and all members.
func errorJSON(cmd *cobra.Command, err error) json.RawMessage {
	f := commandError{Code: codeFailed, Msg: err.Error(), Next: hintFor(cmd, err)}
	refused, ok := errors.AsType[*client.Error](err)
	switch {
	case ok && refused.Body != nil && !refused.Foreign:
		return withMember(refused.Body, "next", f.Next)
	case ok && refused.NoToken:
		f.Code = refused.Code
	case errors.As(err, &f.Errors):
		f.Code, f.Msg = codeConfiguration, "the configuration has "+Plural(len(f.Errors), "error", "errors")
	case errors.Is(err, context.Canceled):
		f.Code = codeInterrupted
	case isA[*client.UnreachableError](err):
		f.Code = codeUnreachable
	case isA[*usageError](err):
		f.Code = codeUsage
	}
	text, _ := json.Marshal(f) // strings and numbers only
	return text
}

// errReported is returned by a command that has already printed its failure.
var errReported = errors.New("failed")

// reported returns err, or errReported if failed.
func reported(err error, failed bool) error {
	if err == nil && failed {
		return errReported
	}
	return err
}

// isA reports whether err is, or wraps, an error of type E.
func isA[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}

// usageError is an invalid command line that cobra does not detect.
type usageError struct{ msg string }

func (u *usageError) Error() string { return u.msg }

// NewUsageError returns the error of an invalid command line.
func NewUsageError(msg string) error { return &usageError{msg} }

// linesError is an error with its own text of one or more lines. Line breaks in
// other errors come from outside and are escaped.
type linesError struct {
	lines []string
	err   error // the cause, which lines already describe
}

func (e *linesError) Error() string { return strings.Join(e.lines, "\n") }

func (e *linesError) Unwrap() error { return e.err }

// hintError is an error with its own hint.
type hintError struct {
	error
	hint string
}

func (e *hintError) Unwrap() error { return e.error }

// interrupted returns the error of a command that the user interrupted.
func interrupted(msg string) error { return &linesError{[]string{msg}, context.Canceled} }

// errorLines returns the lines of an error message.
func errorLines(err error) []string {
	switch e := err.(type) { //nolint:errorlint // each wrapper is removed separately
	case *linesError:
		return e.lines
	case *hintError:
		return errorLines(e.error)
	case interface{ Unwrap() []error }:
		var all, texts []string
		for _, each := range e.Unwrap() {
			all, texts = append(all, errorLines(each)...), append(texts, each.Error())
		}
		if strings.Join(texts, "\n") == err.Error() { // joined errors
			return all
		}
	}
	return []string{err.Error()}
}

// ListenError explains why an address cannot be listened on. Its hint is to choose another one with
// what, the flag or key of the address.
func ListenError(err error, what string) error {
	fault, ok := errors.AsType[*net.OpError](err)
	if !ok || fault.Op != "listen" {
		return err
	}
	msg := client.RootCause(err).Error()
	unknown, isDNS := errors.AsType[*net.DNSError](err)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		msg = fmt.Sprintf("%v is already in use by another program", fault.Addr)
	case errors.Is(err, syscall.EACCES):
		msg = fmt.Sprintf("listening on %v is not permitted: ports below 1024 need a privilege", fault.Addr)
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		msg = fmt.Sprintf("%v is not an address of this machine", fault.Addr)
	case isDNS && unknown.Err == "no such host":
		msg = unknown.Name + " is not an address of this machine"
	}
	return &hintError{&linesError{[]string{msg}, err}, "Choose another address with " + what + "."}
}

// AnyPort describes how a flag selects any free port.
func AnyPort(flag string) string { return " (" + flag + " 127.0.0.1:0 takes any free port)" }

// hintFor returns what to do after an error of a command, as a sentence. It never suggests the command that just failed.
func hintFor(cmd *cobra.Command, err error) string {
	hint := errorHint(cmd, err)
	if cmd.Name() == "status" && strings.Contains(hint, "larder status") {
		return "See the daemon's log."
	}
	return hint
}

func errorHint(cmd *cobra.Command, err error) string {
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
		return "Run larder check --config FILE --online to test the connection."
	case isA[*usageError](err):
		return fmt.Sprintf("Run %q for usage.", cmd.CommandPath()+" --help")
	case errors.As(err, &faults) && errors.Is(err, fs.ErrNotExist):
		return "Check the path, or create the file with larder init."
	case errors.Is(err, fs.ErrPermission):
		return "Use another path, or give the user who runs larder the permission to read and write it."
	case errors.As(err, &faults) && cmd.Flags().Lookup("allow-unknown-keys") != nil &&
		slices.ContainsFunc(faults, func(f *configs.Error) bool { return f.Ignorable }):
		return "Correct the key. For the configuration of a newer version, --allow-unknown-keys makes unknown keys warnings."
	case errors.As(err, &faults):
		return "Fix the configuration and run the command again; larder config sample prints every key."
	case errors.As(err, &wrong) && strings.HasPrefix(wrong.Key, "redis."), isA[*redisdb.RefusedError](err):
		return "Check redis.url; larder check --config FILE --online tests Redis."
	case errors.Is(err, context.Canceled):
		return "Follow the daemon with larder status --watch."
	case isA[*client.UnreachableError](err):
		return "Start larder (larder serve, larder demo), or use --url with the address of a running daemon."
	case errors.Is(err, context.DeadlineExceeded):
		return "Try again; larder status reports whether the daemon is ready."
	case errors.Is(err, fs.ErrNotExist):
		return "Check the path; use - for standard input."
	case errors.Is(err, errNoRestaurants):
		return "Add restaurants to the configuration (restaurants:) and reload the daemon (SIGHUP or a restart)."
	case errors.Is(err, client.ErrForeignAnswer), errors.Is(err, errNoMenu):
		return "Check that --url is the address of larder, and that it has the version that larder version prints."
	case cmd.Flags().Lookup("url") != nil:
		return "See larder status and the daemon's log."
	case cmd.Name() == "serve", cmd.Name() == "demo", cmd.Name() == "sandbox":
		return "Run it again with --log-level debug."
	default:
		return "See " + cmd.CommandPath() + " --help."
	}
}

// refusalHint returns what to do after an error response of a daemon.
func refusalHint(e *client.Error) string {
	switch hint := codeHint(e.Code); {
	case e.Status == http.StatusUnauthorized && e.Anonymous:
		return "Use --config FILE of this daemon, or --client-id and --client-secret."
	case e.OpsRoute && respond.Code(e.Code) == respond.CodeNotFound:
		return "Use the address of http.ops_listen as --url: if it is set, /v1/ops is served only there (--config FILE finds it)."
	case hint != "":
		return hint
	case e.RetryAfter > 0:
		return fmt.Sprintf("Try again in %v.", e.RetryAfter.Round(time.Second))
	default:
		return "Check with larder status --url URL that larder is at this address and ready."
	}
}

// hints has what to do after errors with these codes: each code of an error response has one.
var hints = map[string][]respond.Code{ //nolint:gochecknoglobals // constant
	"Use --config FILE of this daemon, or check --client-id and --client-secret.": {respond.CodeUnauthorized},
	"Use a client with the required scope (auth.clients in the configuration).":   {respond.CodeForbidden},
	"Use an id or a name that larder restaurant list prints; with completion, the Tab key lists ids.": {
		respond.CodeRestaurantNotFound, respond.CodeRestaurantRequired,
	},
	"Use --connection with a name from the configuration; larder config print shows them.": {
		respond.CodeConnectionNotFound, respond.CodeConnectionRequired, respond.CodeOrderAmbiguous,
	},
	"List the dishes with larder menu show RESTAURANT.": {respond.CodeProductNotFound, respond.CodeExternalIDAmbiguous},
	"larder menu versions RESTAURANT lists the stored versions; larder status names the restaurants with a quarantined menu.": {
		respond.CodeVersionNotFound, respond.CodeVersionGone,
	},
	"Run larder sync again: the record of this run has expired.": {respond.CodeRunNotFound, respond.CodeBatchNotFound},
	"Try again in a few seconds.": {
		respond.CodeSyncBusy, respond.CodeRequestTimeout, respond.CodeRateLimited, respond.CodeStreamsUnavailable,
		respond.CodeClientGone,
	},
	"Give a time instead, or set hours of the restaurant in the configuration.": {respond.CodeNoOpening},
	"Fetch the menu with larder sync RESTAURANT.":                               {respond.CodeNoCatalogue, respond.CodeNoReasons},
	"Wait for the first sync from the new ordering service: larder sync RESTAURANT. " +
		"If it is the same service, add the old address to former_urls.": {
		respond.CodeMenuOfAnotherService,
	},
	"See larder status; larder check --config FILE --online reports details.": {
		respond.CodeStorageUnavailable, respond.CodeJournalUnavailable,
	},
	"Start the version of larder that wrote the records; docs/operations.md (Order records of another version) has the other way.": {
		respond.CodeJournalFormat,
	},
	"An operator must find out what Redis lost, and then run larder order accept-restore.": {respond.CodeJournalRestored},
	"Search the daemon's log for the request id; it has the cause.":                        {respond.CodeInternal},
	"Compare larder version on both machines: the command line and the daemon may have different versions.": {
		respond.CodeNotFound, respond.CodeMethodNotAllowed, respond.CodeNotAcceptable, respond.CodeUnsupportedMedia,
	},
	"Correct the input.": {respond.CodeMalformedJSON, respond.CodeInvalidParameter, respond.CodeTooLarge},
	"Correct the order; larder order validate FILE lists all violations.":                  {respond.CodeValidationFailed},
	"Use --key with an idempotency key for this order.":                                    {respond.CodeIdempotencyKeyRequired},
	"Send the same order as before with this key, or use another --key for another order.": {respond.CodeIdempotencyKeyReused},
	"Try again with the same --key in a few seconds.": {
		respond.CodeIdempotencyKeyInFlight, respond.CodeOrderBusy,
	},
	"List the stored orders with larder order list.": {respond.CodeOrderNotFound},
	"Call the restaurant, then run larder order resolve; larder order list --state unknown lists such orders.": {
		respond.CodeOutcomeUnknown, respond.CodeOrderOutcomeUnknown,
	},
	"Change the order at that service. If it is the same service, add its address to former_urls.": {respond.CodeOrderOfAnotherService},
	"See the order's state with larder order show REF.": {
		respond.CodeOrderState, respond.CodeOrderIDTaken,
	},
	"See the call with larder order show REF.":                                            {respond.CodeUpstreamRefused},
	"Try again with the same --key in a few seconds: the ordering service is overloaded.": {respond.CodeUpstreamBusy},
	"Try again with the same --key later. larder check --online tests the connections.":   {respond.CodeUpstreamUnavailable},
}

func codeHint(code string) string {
	for hint, codes := range hints {
		if slices.Contains(codes, respond.Code(code)) {
			return hint
		}
	}
	return ""
}
