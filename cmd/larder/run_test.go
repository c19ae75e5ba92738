package main

import (
	"net"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"larder.local/cmd/larder/cli"
	"larder.local/configs"
	"larder.local/internal/sandbox"
	"larder.local/internal/testkit/clitest"
	"larder.local/sync/runlog"
)

func TestWrongUsageIsStatus2(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		args []string
		env  []string
		says string
	}{
		"unknown command":            {[]string{"cook"}, nil, `unknown command "cook" for "larder"` + "\nRun \"larder --help\""},
		"a slip in a command":        {[]string{"stauts"}, nil, `unknown command "stauts" for "larder": did you mean "larder status"?`},
		"a slip in an inner command": {[]string{"order", "lits"}, nil, `did you mean "larder order list"?` + "\nRun \"larder order --help\""},
		"a slip in a command with a flag": {
			[]string{"chek", "--config", "x"}, nil, `unknown command "chek" for "larder": did you mean "larder check"?` + "\n",
		},
		"a slip in an inner command with a flag": {
			[]string{"order", "acept-restore", "--config", "x"}, nil, `"acept-restore" for "larder order": did you mean "larder order accept-restore"?`,
		},
		"a flag before a slip in a command": {
			[]string{"--config", "x", "chek"}, nil, `unknown command "chek" for "larder": did you mean "larder check"?` + "\n",
		},
		"a slip in a command with a short flag": {[]string{"--log-level", "debug", "serv", "-c", "x"}, nil, `did you mean "larder serve"?`},
		"a flag without a command":              {[]string{"order", "--config", "x"}, nil, "unknown flag: --config"},
		"a slip in a topic of help":             {[]string{"help", "menu", "vresions"}, nil, `did you mean "larder menu versions"?`},
		"unknown flag":                          {[]string{"serve", "--fast"}, nil, "unknown flag: --fast\nRun \"larder serve --help\""},
		"a slip in a flag":                      {[]string{"serve", "--conifg", "x"}, nil, "unknown flag: --conifg: did you mean --config?"},
		"too many arguments":                    {[]string{"serve", "now"}, nil, `larder serve takes no arguments: leave out ["now"]`},
		"an order without a file":               {[]string{"order", "place"}, nil, "larder order place takes 1 argument, not 0: larder order place FILE"},
		"too few menus":                         {[]string{"menu", "diff"}, nil, "larder menu diff takes 1 to 2 arguments, not 0"},
		"watched too often":                     {[]string{"status", "--watch", "--every", "1ms"}, nil, "--every: at least 200ms, not 1ms"},
		"serve of nothing":                      {[]string{"serve"}, nil, "no configuration: use --config FILE"},
		"check of nothing":                      {[]string{"check"}, []string{"LARDER_SYNC_HISTORY=5"}, "no configuration: use --config FILE"},
		"sync of nothing":                       {[]string{"sync"}, nil, "specify at least one restaurant, or --all"},
		"sync of some and all":                  {[]string{"sync", "--all", "one"}, nil, "--all selects every restaurant: leave out one, or --all"},
		"wrong value in environment":            {[]string{"status"}, []string{"LARDER_JSON=perhaps"}, `environment LARDER_JSON: "perhaps" is not true or false` + "\n"},
		"wrong number":                          {[]string{"demo", "--products", "many"}, nil, `--products: "many" is not an integer, or too large` + "\n"},
		"neither true nor false":                {[]string{"demo", "--exit=perhaps"}, nil, `--exit: "perhaps" is not true or false` + "\n"},
		"order alone":                           {[]string{"order"}, nil, "larder order: missing subcommand; use one of:\n  larder order accept-restore\n  larder order list\n  larder order place FILE\n  larder order resolve REF…\n"},
		"menu alone":                            {[]string{"menu"}, nil, "larder menu lint FILE|RESTAURANT\n"},
		"config alone":                          {[]string{"config"}, nil, "larder config print\n"},
		"restaurants":                           {[]string{"restaurants", "list"}, nil, `did you mean "larder restaurant"?`},
		"help about nothing":                    {[]string{"help", "nonsense"}, nil, `there is no help about "nonsense"`},
		"help about nothing of order":           {[]string{"help", "order", "eat"}, nil, `there is no help about "order eat"`},
		"unknown log level":                     {[]string{"serve", "--log-level", "loud"}, nil, `--log-level: unknown level "loud" (valid: debug, info, warn, error)` + "\n"},
		"unknown log format":                    {[]string{"serve", "--log-format", "xml"}, nil, "--log-format: use text, json or auto"},
		"demo: JSON that never ends":            {[]string{"demo", "--json"}, nil, "--json needs --exit"},
		"generated: too many products":          {[]string{"sandbox", "--listen", "127.0.0.1:0", "--products", "10001"}, nil, "--products must be between 1 and 10000"},
		"demo: no products":                     {[]string{"demo", "--products", "0", "--exit"}, nil, "--products must be between 1 and 10000, not 0"},
		"demo: too many products":               {[]string{"demo", "--restaurants", "2", "--products", "20000"}, nil, "--products must be between 1 and 10000, not 20000"},
		"demo: fewer than no restaurants": {
			[]string{"demo", "--restaurants", "-1", "--exit"}, nil, "--restaurants must be between 0 (the bistro) and 100000, not -1",
		},
		"demo: more restaurants than can be made": {
			[]string{"demo", "--exit", "--restaurants", "100001"}, nil, "--restaurants must be between 0 (the bistro) and 100000, not 100001",
		},
		"diff of a restaurant": {[]string{"menu", "diff", "one", "two"}, nil, "use --config"},
		"diff of one input with itself": {
			[]string{"menu", "diff", "-", "-"}, nil, "only one of the menus can come from standard input",
		},
		"a secret without a client": {[]string{"sync", "--all", "--client-secret", "x"}, nil, "--client-secret without --client-id"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := command{env: tc.env}.run(t, tc.args...)
			if got.Status != cli.StatusUsage || !strings.Contains(got.Err, tc.says) || got.Out != "" && !slices.Contains(tc.args, "--json") {
				t.Errorf("larder %v: %+v, want status 2 and %q on stderr", tc.args, got, tc.says)
			}
		})
	}
}

func TestHelpNamesEveryCommand(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{nil, {"--help"}} {
		out := must(t, args...)
		for _, name := range []string{"serve", "demo", "sandbox", "sync", "order", "menu", "restaurant", "check", "config", "status", "version", "completion", "init"} {
			if !strings.Contains(out, "\n  "+name+" ") {
				t.Errorf("larder %v does not name %s:\n%s", args, name, out)
			}
		}
	}
	for _, group := range []string{"order", "menu", "restaurant", "config"} {
		if out := must(t, group, "--help"); !strings.Contains(out, "Available Commands") || out != must(t, "help", group) {
			t.Errorf("larder %s --help prints no help:\n%s", group, out)
		}
	}
}

// everyFlag visits all flags of all commands.
func everyFlag(cmd *cobra.Command, visit func(cmd *cobra.Command, f *pflag.Flag)) {
	cmd.NonInheritedFlags().VisitAll(func(f *pflag.Flag) { visit(cmd, f) })
	for _, inner := range cmd.Commands() {
		everyFlag(inner, visit)
	}
}

// readsEnvironment has the flags for connection and output, which a variable may set.
// All others are in neverFromEnvironment. A new flag must be added to one of them. It
// belongs here only if it changes neither the action of a command nor its target.
var readsEnvironment = map[string]string{
	"log-level": "LARDER_LOG_LEVEL", "log-format": "LARDER_LOG_FORMAT", "json": "LARDER_JSON",
	"url": "LARDER_URL", "config": "LARDER_CONFIG", "client-id": "LARDER_CLIENT_ID", "client-secret": "LARDER_CLIENT_SECRET",
	"demo --listen": "LARDER_HTTP_LISTEN", "demo --sandbox-listen": "LARDER_SANDBOX_LISTEN", "sandbox --listen": "LARDER_SANDBOX_LISTEN",
	"init --base-url": "LARDER_INIT_BASE_URL", "init --auth-url": "LARDER_INIT_AUTH_URL", "init --client-id": "LARDER_INIT_CLIENT_ID",
	"init --client-secret": "LARDER_INIT_CLIENT_SECRET", "init --client-secret-file": "LARDER_INIT_CLIENT_SECRET_FILE",
	"init --client-secret-env": "LARDER_INIT_CLIENT_SECRET_ENV", "init --redis": "LARDER_INIT_REDIS", "init --listen": "LARDER_INIT_LISTEN",
}

var neverFromEnvironment = []string{
	"sync --all", "sync --force", "demo --exit", "serve --allow-unknown-keys", "check --allow-unknown-keys", "config print --allow-unknown-keys",
	"check --online", "status --watch", "status --every",
	"demo --restaurants", "demo --products", "demo --seed", "demo --origin",
	"sandbox --restaurants", "sandbox --products", "sandbox --seed", "sandbox --menu",
	"init --restaurant", "init --offline", "init --overwrite", "init --yes",
	"menu lint --restaurant", "menu show --restaurant", "menu diff --restaurant", "menu diff --from", "menu diff --to",
	"menu lint --quarantined", "menu show --quarantined", "menu diff --quarantined",
	"menu rollback --hold", "token rotate-key --allow-unknown-keys", "token rotate-key --keep-tokens",
	"restaurant pause --type", "restaurant pause --until", "restaurant pause --note", "restaurant busy --until", "restaurant busy --note",
	"menu snooze --until", "menu snooze --note",
	"restaurant list --limit", "restaurant list --search", "restaurant list --sort", "restaurant list --state",
	"order validate --restaurant", "order place --restaurant", "order place --key",
	"order accept-restore --connection", "order list --connection", "order list --limit", "order list --state", "order show --connection",
	"order resolve --call", "order resolve --note", "order resolve --operation", "order resolve --order-id", "order resolve --outcome",
}

func TestOnlyFlagsOfConnectionAndOutputReadTheEnvironment(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	everyFlag(newRoot(&cli.Environment{}), func(cmd *cobra.Command, f *pflag.Flag) {
		name := strings.TrimPrefix(cmd.CommandPath()+" --"+f.Name, "larder ")
		seen[name] = true
		want := readsEnvironment[name]
		if want == "" {
			want = readsEnvironment[f.Name]
		}
		switch got := strings.Join(f.Annotations["larder_env"], " "); {
		case slices.Contains(neverFromEnvironment, name):
			if got != "" || strings.Contains(f.Usage, "LARDER_") {
				t.Errorf("%s reads %q; its help: %s", name, got, f.Usage)
			}
			return
		case want == "":
			t.Errorf("%s is neither in readsEnvironment nor in neverFromEnvironment", name)
			return
		case got != want || !strings.HasSuffix(f.Usage, " ("+want+")"):
			t.Errorf("%s reads %q, want %q; its help: %s", name, got, want, f.Usage)
		}
		// The configuration must not use the same variable.
		if cfg, err := configs.Load("", []string{want + "=127.0.0.1:0"}); want != "LARDER_HTTP_LISTEN" && (err != nil || len(cfg.Warnings()) > 0) {
			t.Errorf("%s: the configuration reads %s too: %v", name, want, err)
		}
	})
	for _, name := range neverFromEnvironment {
		if !seen[name] {
			t.Errorf("there is no flag %s", name)
		}
	}
}

// A variable that is still set in a shell must not force a sync or sync all
// restaurants.
func TestSync_IgnoresTheEnvironment(t *testing.T) {
	t.Parallel()
	base, _, _ := runningDemo(t)
	c := command{env: []string{"LARDER_FORCE=true", "LARDER_ALL=true", "LARDER_CLIENT_ID=ops", "LARDER_CLIENT_SECRET=ops-secret", "LARDER_URL=" + base}}
	if got := c.run(t, "sync"); got.Status != cli.StatusUsage || !strings.Contains(got.Err, "--all") {
		t.Errorf("sync with LARDER_ALL=true: %+v, want status 2", got)
	}
	// A forced sync would publish the same menu again as version 2.
	got := c.run(t, "sync", "--json", sandbox.BistroID)
	runs := clitest.FromJSON[[]runlog.Run](t, got.Out)
	if got.Status != cli.StatusDone || len(runs) != 1 || runs[0].Version != 1 {
		t.Errorf("sync with LARDER_FORCE=true: %+v, want one run that leaves version 1", got)
	}
}

func TestTheCommandLineWinsOverTheEnvironment(t *testing.T) {
	t.Parallel()
	c := command{env: []string{"LARDER_JSON=true"}}
	if got := c.run(t, "version"); !strings.HasPrefix(got.Out, "{") {
		t.Errorf("version with LARDER_JSON=true prints %q", got.Out)
	}
	if got := c.run(t, "version", "--json=false"); strings.HasPrefix(got.Out, "{") {
		t.Errorf("version --json=false prints %q", got.Out)
	}
}

func TestVersion(t *testing.T) {
	t.Parallel()
	if out := must(t, "version"); !strings.HasPrefix(out, "larder ") || !strings.Contains(out, "go1.") {
		t.Errorf("version prints %q", out)
	}
	for _, flag := range []string{"--version", "-v"} {
		if out := must(t, flag); out != must(t, "version") {
			t.Errorf("larder %s prints %q", flag, out)
		}
	}
	if b := clitest.FromJSON[build](t, must(t, "version", "--json")); b.Go == "" || b.Platform == "" {
		t.Errorf("version --json prints %+v", b)
	}
}

func TestAnUnreadableConfigurationNamesLineAndColumn(t *testing.T) {
	t.Parallel()
	file := clitest.WriteFile(t, "larder.yaml", "http:\n  lisen: x\nsync: {history: many}\n")
	for _, args := range [][]string{{"serve"}, {"check"}, {"config", "print"}, {"status"}, {"sync", "--all"}} {
		got := larder(t, append(args, "--config", file)...)
		for _, says := range []string{
			file + `:2:3: unknown key "lisen" in http: did you mean "listen"?`,
			file + `:3:17: sync.history: "many" must be an integer`,
		} {
			if got.Status != cli.StatusFailed || !strings.Contains(got.Err, says) {
				t.Errorf("larder %v: %+v, want status 1 and %q", args, got, says)
			}
		}
	}
}

func TestCommandsReportAnUnreachableDaemon(t *testing.T) {
	t.Parallel()
	order := clitest.WriteFile(t, "order.json", `{"restaurantID":"one"}`)
	for _, args := range [][]string{
		{"status"},
		{"sync", "--all"},
		{"order", "validate", order},
		{"order", "place", order},
		{"menu", "lint", "one"},
		{"menu", "show", "one"},
	} {
		got := larder(t, append(args, "--url", "http://127.0.0.1:1")...)
		if got.Status != cli.StatusFailed || !strings.Contains(got.Err, "larder at http://127.0.0.1:1 does not answer") {
			t.Errorf("larder %v: %+v, want status 1 and why", args, got)
		}
	}
}

func TestFilesThatCannotBeRead(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{
		{"order", "validate", "./none.json"},
		{"menu", "lint", "./none.json"},
		{"menu", "show", "./none.json"},
		{"menu", "diff", "./none.json", "-"},
		{"sandbox", "--listen", "127.0.0.1:0", "--menu", "none.json"},
	} {
		got := larder(t, args...)
		if got.Status != cli.StatusFailed || !strings.Contains(got.Err, "no such file") {
			t.Errorf("larder %v: %+v, want status 1 and no such file", args, got)
		}
	}
}

func TestOpsListener_HintAtThePublicListener(t *testing.T) {
	t.Parallel()
	service := newService(t)
	daemon := command{env: service.env("LARDER_HTTP_OPS_LISTEN=127.0.0.1:0")}.start(t, "serve")
	public := daemon.Address(t)
	waitReady(t, public)
	got := larder(t, clitest.AsOps(public, "sync", "--all")...)
	if got.Status != cli.StatusFailed || !strings.Contains(got.Err, "the operators' API is at another address") || !strings.Contains(got.Err, "http.ops_listen") {
		t.Errorf("sync --all at the public listener: %+v, want a hint to the other one", got)
	}
}

// A health check asks the operators' listener if there is one: guests who fill theirs do not make it fail.
func TestStatusAsksTheOpsListener(t *testing.T) {
	t.Parallel()
	service := newService(t)
	p := startProcess(t, service.env("LARDER_HTTP_OPS_LISTEN=127.0.0.1:0"), "serve")
	waitReady(t, p.url(t))
	full, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0") // it never answers
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = full.Close() })
	env := service.env("LARDER_HTTP_OPS_LISTEN=" + p.log.Find(t, `"opsAddr":"([^"]+)"`)[1])
	got := command{env: append(env, "LARDER_HTTP_LISTEN="+full.Addr().String())}.run(t, "status")
	if got.Status != cli.StatusDone || !strings.Contains(got.Out, ": ok\n") {
		t.Errorf("status: %+v, want 0: the operators' listener answers", got)
	}
}

// An older version starts and reloads with the configuration of a newer one. The
// commands that call it work with this file too.
func TestServe_AllowUnknownKeys(t *testing.T) {
	t.Parallel()
	generate := sandbox.Generate{Restaurants: 1, Products: 3}
	file := newScaled(t, newSandboxOf(t, generate))
	restaurant := `  - {id: "` + generate.RestaurantID(0) + `"}`
	file.head = "telepathy: {range: 10}\n" + file.head
	file.write(t, restaurant)
	warning := file.path + `:1:1: unknown key "telepathy" in the configuration is ignored`

	refused := larder(t, "serve", "--config", file.path)
	if refused.Status != cli.StatusFailed || !strings.Contains(refused.Err, `unknown key "telepathy"`) || !strings.Contains(refused.Err, "Correct the key. ") ||
		!strings.Contains(refused.Err, "--allow-unknown-keys") {
		t.Errorf("serve without the flag: %+v", refused)
	}
	if out := must(t, "check", "--allow-unknown-keys", "--config", file.path); !strings.Contains(out, "warning "+warning+"\n") {
		t.Errorf("check --allow-unknown-keys prints\n%s", out)
	}
	if got := larder(t, "config", "print", "--allow-unknown-keys", "--config", file.path); got.Status != cli.StatusDone ||
		got.Err != "warning: "+warning+"\n" || strings.Contains(got.Out, "telepathy") {
		t.Errorf("config print --allow-unknown-keys: %+v", got)
	}

	p := startProcess(t, []string{"LARDER_LOG_FORMAT=json"}, "serve", "--allow-unknown-keys", "--config", file.path)
	base := p.url(t)
	waitReady(t, base)
	p.log.Find(t, `"event":"config.warning".*larder.yaml:1:1: unknown key \\"telepathy\\"`)
	must(t, "status", "--config", file.path, "--url", base)

	file.write(t, strings.Replace(restaurant, "}", ", colour: x}", 1))
	p.signal(t, syscall.SIGHUP)
	p.log.Find(t, `"event":"config.warning".*unknown key \\"colour\\" in restaurants\[0\] is ignored`)
	p.log.Find(t, `"event":"config.reloaded"`)

	file.head = "auth: {require_second_factor: true}\n" + file.head
	file.write(t, restaurant)
	p.signal(t, syscall.SIGHUP)
	p.log.Find(t, `"error":"[^"]*:1:8: unknown key \\"require_second_factor\\" in auth: [^"]*`+
		`under auth this is an error even with --allow-unknown-keys: correct or remove the key".*"event":"config.error"`)
	p.log.Find(t, `"event":"config.reload_rejected"`)
	p.signal(t, syscall.SIGTERM)
	if status := p.status(t); status != cli.StatusDone {
		t.Errorf("status %d, want 0\n%s", status, p.log)
	}
}

// The flag does not help with keys under auth, so it is not suggested for them.
func TestCheck_UnknownKeyUnderAuth(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"in auth":     "auth: {require_second_factor: true}\n",
		"of a client": "auth: {clients: [{id: a, networks: [10.0.0.0/8]}]}\n",
		"indented":    "http:\n  listen: 127.0.0.1:8080\n  auth: {clients: []}\n",
	} {
		path := clitest.WriteFile(t, "larder.yaml", text)
		for _, args := range [][]string{{"check"}, {"check", "--allow-unknown-keys"}, {"serve", "--allow-unknown-keys"}} {
			got := larder(t, append(args, "--config", path)...)
			_, try, _ := strings.Cut(got.Err, "correct or remove it")
			if got.Status != cli.StatusFailed || !strings.Contains(got.Err, "under auth this is an error even with --allow-unknown-keys: correct or remove the key") ||
				strings.Contains(try, "allow-unknown-keys") {
				t.Errorf("%s, %s: %+v", name, args, got)
			}
		}
	}
}
