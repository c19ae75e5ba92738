package cli

import (
	"context"
	_ "embed" // hints.json
	"encoding/json"
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
	switch hint := hints[e.Code]; {
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

//go:embed hints.json
var hintsJSON []byte

// hints has what to do after an error with a code, for every code of an error response.
var hints = func() (hints map[string]string) { //nolint:gochecknoglobals // constant
	if err := json.Unmarshal(hintsJSON, &hints); err != nil {
		panic("cli: hints.json: " + err.Error()) // a test reads every hint
	}
	return hints
}()
