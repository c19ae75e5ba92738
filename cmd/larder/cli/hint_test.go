package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/spf13/cobra"

	"larder.local/cmd/larder/client"
	"larder.local/configs"
	"larder.local/internal/redisdb"
	"larder.local/internal/setting"
	"larder.local/internal/testkit/clitest"
	"larder.local/internal/upstream"
)

// Every error code of a daemon has a hint.
func TestEveryRefusalHasANextStep(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile("../../../httpapi/respond/codes.go")
	if err != nil {
		t.Fatal(err)
	}
	codes := regexp.MustCompile(`(?m)^\tCode\w+ += newCode\("([a-z_]+)"`).FindAllStringSubmatch(string(source), -1)
	if len(codes) < 35 {
		t.Fatalf("%d codes found", len(codes))
	}
	for _, code := range codes {
		general := refusalHint(&client.Error{Code: "something_new", Status: http.StatusTeapot})
		if got := refusalHint(&client.Error{Code: code[1], Status: http.StatusConflict}); got == "" || got == general {
			t.Errorf("%s: nothing of its own to try (%q)", code[1], got)
		}
	}
}

// commandOf returns a command.
func commandOf(t *testing.T, words ...string) *cobra.Command {
	t.Helper()
	cmd, rest, err := programRoot(&Environment{}).Find(words)
	if err != nil || len(rest) > 0 {
		t.Fatal(words, rest, err)
	}
	return cmd
}

func TestAnErrorOfNoClassIsAnsweredByItsCommand(t *testing.T) {
	t.Parallel()
	for words, says := range map[string]string{
		"sync": "larder status", "order place": "larder status", "serve": "--log-level debug", "demo": "--log-level debug",
		"config print": "larder config print --help",
	} {
		if got := hintFor(commandOf(t, strings.Fields(words)...), errors.New("x")); !strings.Contains(got, says) {
			t.Errorf("%s: try %q, want %q in it", words, got, says)
		}
	}
}

// Every kind of error ends with what to do: in a hint, or in its own message.
func TestEveryFailureSaysWhatToTry(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		err  error
		says string
	}{
		"a daemon's refusal":     {&client.Error{Code: "sync_busy", Status: 409}, "in a few seconds"},
		"a proxy's":              {&client.Error{Code: "Bad Gateway", Status: 502}, "larder status --url URL"},
		"no listener":            {failedGet(t, "http://127.0.0.1:1"), "--url"},
		"ops on another address": {&client.Error{Code: "not_found", Status: 404, OpsRoute: true}, "http.ops_listen"},
		"the ordering service's": {fmt.Errorf("pull: %w", &upstream.Error{Operation: upstream.OpMenu, Status: 500}), "check --config FILE --online"},
		"a configuration":        {configs.Errors{{Key: "http.listen", Msg: "is wrong"}}, "larder config sample"},
		"a setting of Redis":     {&setting.Error{Key: "redis.url", Msg: "is wrong"}, "redis.url"},
		"a Redis that refuses":   {&redisdb.RefusedError{Err: errors.New("READONLY")}, "--online"},
		"no file":                {fmt.Errorf("read x: %w", fs.ErrNotExist), "use - for standard input"},
		"no right":               {fmt.Errorf("read x: %w", fs.ErrPermission), "the permission"},
		"no restaurants":         {errNoRestaurants, "(restaurants:)"},
		"no menu":                {fmt.Errorf("%w: x", errNoMenu), "larder version"},
		"an odd answer":          {fmt.Errorf("%w: x", client.ErrForeignAnswer), "larder version"},
		"too late":               {context.DeadlineExceeded, "larder status"},
		"interrupted":            {interrupted("interrupted"), "status --watch"},
		"one with its own":       {&hintError{errors.New("x"), "this"}, "this"},
		"anything else":          {errors.New("x"), "larder version --help"},
	} {
		if got := hintFor(commandOf(t, "version"), tc.err); !strings.Contains(got, tc.says) {
			t.Errorf("%s: try %q, want %q in it", name, got, tc.says)
		}
	}
	refusing := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = w.Write([]byte(`{"code":"unauthorized","msg":"no"}`))
	}))
	t.Cleanup(refusing.Close)
	for name, err := range map[string]error{
		"--listen":      ListenError(&net.OpError{Op: "listen", Err: syscall.EADDRINUSE}, "--listen"),
		"--config FILE": failedGet(t, refusing.URL),
	} {
		if step := hintFor(commandOf(t, "sync"), err); !strings.Contains(step, name) || strings.Contains(err.Error(), name) {
			t.Errorf("%s: %q, and try %q", name, err, step)
		}
	}
}

// failedGet returns the error of a call without a token.
func failedGet(t *testing.T, base string) error {
	t.Helper()
	_, err := client.New(t.Context(), base, "", "").Get(t.Context(), "/v1/ops/summary")
	if err == nil {
		t.Fatalf("%s answers", base)
	}
	return err
}

// Every command that has --json prints an error with code, msg and next if it fails.
func TestJSONErrorsOfAllCommandsHaveANextStep(t *testing.T) {
	t.Parallel()
	args := map[string][]string{
		"larder config print":     {"--config", "./none.yaml"},
		"larder init":             {"--yes"},
		"larder menu diff":        {"./none.json", "-"},
		"larder menu lint":        {"north"},
		"larder menu rollback":    {"north", "1"},
		"larder menu show":        {"north"},
		"larder menu release":     {"north"},
		"larder menu snooze":      {"north", "soup"},
		"larder menu wake":        {"north", "soup"},
		"larder restaurant pause": {"north"},
		"larder restaurant open":  {"north"},
		"larder restaurant busy":  {"north", "90m"},
		"larder menu versions":    {"north"},
		"larder order place":      {"./none.json"},
		"larder order resolve":    {"ref", "--outcome", "done", "--order-id", "1"},
		"larder order show":       {"ref"},
		"larder order validate":   {"./none.json"},
		"larder sync":             {"north"},
	}
	var walk func(cmd *cobra.Command)
	walk = func(cmd *cobra.Command) {
		for _, sub := range cmd.Commands() {
			walk(sub)
		}
		if cmd.Flags().Lookup("json") == nil {
			return
		}
		line := append(strings.Fields(cmd.CommandPath())[1:], "--json")
		if cmd.Flags().Lookup("url") != nil {
			line = append(line, "--url", "http://127.0.0.1:1")
		}
		got := larder(t, append(line, args[cmd.CommandPath()]...)...)
		if got.Status == StatusDone {
			t.Errorf("%s does not fail", cmd.CommandPath())
			return
		}
		if f := clitest.FromJSON[commandError](t, got.Out); f.Code == "" || f.Msg == "" || f.Next == "" {
			t.Errorf("%s: %s", cmd.CommandPath(), got.Out)
		}
	}
	walk(programRoot(&Environment{}))
}

func TestJSONTellsTheNextStepToo(t *testing.T) {
	t.Parallel()
	got := larder(t, "menu", "lint", "--json", "./none.json")
	if f := clitest.FromJSON[commandError](t, got.Out); f.Code != codeFailed || !strings.Contains(f.Next, "use - for standard input") {
		t.Errorf("menu lint --json of no file gives %+v", f)
	}
}

// A hint never suggests the command that just failed.
func TestNoHintRepeatsTheCommand(t *testing.T) {
	t.Parallel()
	failures := []error{context.DeadlineExceeded, errors.New("x"), fmt.Errorf("%w: x", client.ErrForeignAnswer), failedGet(t, "http://127.0.0.1:1")}
	for _, code := range []string{"storage_unavailable", "upstream_unavailable", "something_new", "not_found", "internal"} {
		failures = append(failures, &client.Error{Code: code, Status: http.StatusServiceUnavailable})
	}
	for _, err := range failures {
		if got := hintFor(commandOf(t, "status"), err); got == "" || strings.Contains(got, "larder status") {
			t.Errorf("after larder status failed with %v: %q", err, got)
		}
	}
	file := clitest.WriteFile(t, "larder.yaml", "sync: {history: many}\n")
	for name, args := range map[string][]string{"a wrong value": {"check", "--config", file}, "no file": {"check", "--config", file + ".none"}} {
		if got := larder(t, args...); got.Status != StatusFailed || strings.Contains(got.Err, "larder check") || strings.Contains(got.Err, "--config") {
			t.Errorf("larder check, %s: %s", name, got.Err)
		}
	}
}

// The help of each command that calls the daemon has the scope of its client.
func TestHelpHasTheScope(t *testing.T) {
	t.Parallel()
	scope := regexp.MustCompile(`the\s+scope\s+(menu|orders|ops)\b`)
	seen := 0
	var walk func(cmd *cobra.Command)
	walk = func(cmd *cobra.Command) {
		for _, inner := range cmd.Commands() {
			walk(inner)
		}
		if cmd.Flags().Lookup("client-id") == nil || cmd.Flags().Lookup("url") == nil {
			return
		}
		if seen++; !scope.MatchString(cmd.Long) {
			t.Errorf("the help of %s has no scope:\n%s", cmd.CommandPath(), cmd.Long)
		}
	}
	walk(programRoot(&Environment{}))
	if least := 15; seen < least {
		t.Errorf("%d commands found, there were %d once", seen, least)
	}
}
