package main

import (
	"encoding/json"
	"net/http"
	"net/url"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"larder.local/cmd/larder/cli"
	"larder.local/cmd/larder/client"
	"larder.local/cmd/larder/demo"
	"larder.local/internal/sandbox"
	"larder.local/internal/testkit/clitest"
	"larder.local/internal/testkit/redistest"
	"larder.local/sync/runlog"
)

func TestDemoExit(t *testing.T) {
	t.Parallel()
	for name, args := range map[string][]string{
		"bistro":    {"demo", "--exit"},
		"generated": {"demo", "--exit", "--restaurants", "25", "--products", "30", "--seed", "3"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := larder(t, args...)
			if got.Status != cli.StatusDone || got.Err != "" {
				t.Fatalf("status %d\n%s%s", got.Status, got.Out, got.Err)
			}
			for _, pattern := range []string{
				`(?m)^ 1\. menu synced .*: version 1, \d+ dishes\n`,
				`(?m)^ 2\. invalid order +422 validation_failed, [4-6] violations, nothing is sent:\n(?s:.*)group_min(?s:.*)quantity_not_positive(?s:.*)dish_not_in_menu`,
				`(?m)^ 3\. order placed +orderID \d+, total [\d.]+, ref [0-9A-Z]{26}\n`,
				`(?m)^ 4\. order repeated +same key, same order: 201 with the same body, replayed\n +same key, another order: 422 idempotency_key_reused`,
				`(?m)^ 5\. response lost .*: 504 order_outcome_unknown\n +same key again: 504 again, and nothing is sent; ref [0-9A-Z]{26}\n`,
				`(?m)^ 6\. resolved +an operator asks the restaurant, which has order \d+, and resolves the call as done\n +same key again: 201, orderID \d+`,
				`(?m)^ 7\. paid and closed +order \d+ paid [\d.]+ and completed: closed, paid`,
				`\nAll steps passed in [\d.]+ s\.\n$`,
			} {
				if !regexp.MustCompile(pattern).MatchString(got.Out) {
					t.Errorf("no %s in\n%s", pattern, got.Out)
				}
			}
		})
	}
}

func TestDemoExit_JSON(t *testing.T) {
	t.Parallel()
	steps := clitest.FromJSON[[]struct {
		Name  string `json:"step"`
		Error string
	}](t, must(t, "demo", "--exit", "--json"))
	if len(steps) != 7 || steps[6].Name != "paid and closed" || steps[6].Error != "" {
		t.Errorf("demo --exit --json prints %+v", steps)
	}
}

func TestDemoExit_200Restaurants(t *testing.T) {
	t.Parallel()
	out := must(t, "demo", "--exit", "--restaurants", "200")
	if !strings.Contains(out, "menus of other restaurants: 199") {
		t.Errorf("demo of 200 restaurants:\n%s", out)
	}
}

// runningDemo starts a demo with additional environment variables and returns the
// addresses of larder and its sandbox.
func runningDemo(t *testing.T, env ...string) (base, kitchen string, r *clitest.Running) {
	t.Helper()
	quiet := []string{"LARDER_RESTAURANTS_0_SCHEDULE=@every 48h", "LARDER_SYNC_SCHEDULE=@every 48h"} // no scheduled sync during the test
	r = command{env: append(quiet, env...)}.start(t, "demo", "--listen", "127.0.0.1:0", "--sandbox-listen", "127.0.0.1:0")
	base = r.Out.Find(t, `(http://\S+)/v1/restaurants\n`)[1]
	kitchen = r.Out.Find(t, `(http://\S+)/sandbox/orders   what`)[1]
	return base, kitchen, r
}

// TestDemo_PrintedCommandsWork runs the commands of the banner as printed.
func TestDemo_PrintedCommandsWork(t *testing.T) {
	t.Parallel()
	_, _, r := runningDemo(t)
	_, lines, found := strings.Cut(r.Out.Find(t, `(?s)Try\n.*sync\?wait=30s'\n`)[0], "Try\n")
	if !found {
		t.Fatalf("no lines to try in\n%s", r.Out)
	}
	output, err := exec.CommandContext(t.Context(), "sh", "-e", "-c", lines).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s\n%s", err, lines, output)
	}
	for _, part := range []string{`"valid":false`, `"group_min"`, `"state":"placed"`, `"raw":"{`, `"outcome":"unchanged"`} {
		if !strings.Contains(string(output), part) {
			t.Errorf("no %s in the answers:\n%s", part, output)
		}
	}
}

// TestCommandsAgainstARunningDaemon runs every command that calls a daemon.
func TestCommandsAgainstARunningDaemon(t *testing.T) {
	t.Parallel()
	base, kitchen, _ := runningDemo(t)
	ops := []string{"--url", base, "--client-id", "ops", "--client-secret", "ops-secret"}
	shop := []string{"--url", base, "--client-id", "storefront", "--client-secret", "storefront-secret"}
	good, bad, err := demo.SampleOrders(sandbox.Bistro(sandbox.BistroID, kitchen), sandbox.BistroID)
	if err != nil {
		t.Fatal(err)
	}
	goodFile, badFile := clitest.WriteFile(t, "good.json", string(good)), clitest.WriteFile(t, "bad.json", string(bad))
	with := func(flags []string, args ...string) []string { return append(args, flags...) }

	t.Run("status", func(t *testing.T) {
		t.Parallel()
		out := must(t, "status", "--url", base)
		if !strings.HasPrefix(out, base+": ") || !strings.Contains(out, "redis") || !strings.Contains(out, "connections main") {
			t.Errorf("status prints %q", out)
		}
		if r := clitest.FromJSON[struct{ Status string }](t, must(t, "status", "--url", base, "--json")); r.Status == "" {
			t.Errorf("status --json prints %+v", r)
		}
	})
	t.Run("restaurant list", func(t *testing.T) {
		t.Parallel()
		out := must(t, with(ops, "restaurant", "list", "--search", "bistro")...)
		row := regexp.MustCompile(`\nLarder Bistro +[a-z, ]+ +\d+[sm] +20\d\d-\d\d-\d\d \d\d:\d\d:\d\d +[a-z]+ +` + sandbox.BistroID + `\n$`)
		if !row.MatchString(out) {
			t.Errorf("restaurant list prints %q", out)
		}
		if out := must(t, with(ops, "menu", "versions", "larder bistro")...); !strings.Contains(out, "served now") {
			t.Errorf("menu versions of a name prints %q", out)
		}
		if out := must(t, "menu", "show", "Larder Bistro", "--url", base); !strings.HasPrefix(out, "Larder Bistro, ") {
			t.Errorf("menu show of a name prints %.100q", out)
		}
		if got := larder(t, with(shop, "restaurant", "list")...); got.Status != cli.StatusFailed || !strings.Contains(got.Err, "403 forbidden") {
			t.Errorf("restaurant list by a client without the scope: %+v", got)
		}
	})
	t.Run("sync", func(t *testing.T) {
		t.Parallel()
		if out := must(t, with(ops, "sync", sandbox.BistroID)...); !strings.Contains(out, "Larder Bistro ("+sandbox.BistroID+")  unchanged  version ") {
			t.Errorf("sync prints %q", out)
		}
		all := clitest.FromJSON[runlog.Batch](t, must(t, with(ops, "sync", "--all", "--force", "--json")...))
		if all.Total != 1 || all.Done != 1 || all.Outcomes[runlog.OutcomeUpdated] != 1 || !all.Force {
			t.Errorf("sync --all --force --json prints %+v", all)
		}
		got := command{terminal: true}.run(t, with(ops, "sync", "--all")...)
		if !strings.Contains(got.Err, "syncing") || !strings.HasPrefix(got.Out, "1 restaurant: 1 ") {
			t.Errorf("sync on a terminal: %+v, want a bar on stderr and a line on stdout", got)
		}
		got = larder(t, with(ops, "sync", "nowhere", sandbox.BistroID)...)
		if got.Status != cli.StatusFailed || !strings.Contains(got.Out, "nowhere  failed") || !strings.Contains(got.Out, "restaurant_not_found") {
			t.Errorf("sync of an unknown restaurant: %+v", got)
		}
		if got := larder(t, with(shop, "sync", sandbox.BistroID)...); got.Status != cli.StatusFailed || !strings.Contains(got.Err, "403") {
			t.Errorf("sync by a client without the scope: %+v", got)
		}
		if got := larder(t, "sync", "x", "--url", base, "--client-id", "ops", "--client-secret", "wrong"); got.Status != cli.StatusFailed || !strings.Contains(got.Err, "unknown client or wrong secret") {
			t.Errorf("sync with a wrong secret: %+v", got)
		}
	})
	t.Run("order validate", func(t *testing.T) {
		t.Parallel()
		if out := must(t, "order", "validate", goodFile, "--url", base); !strings.HasPrefix(out, "valid, total ") {
			t.Errorf("order validate prints %q", out)
		}
		got := command{in: string(bad)}.run(t, "order", "validate", "-", "--url", base)
		if got.Status != cli.StatusFailed || !strings.HasPrefix(got.Out, "not valid: 4 violations\n") || !strings.Contains(got.Out, "/paymentTypeID  value_not_allowed") {
			t.Errorf("order validate of a bad order: %+v", got)
		}
		v := clitest.FromJSON[struct {
			Result struct {
				Valid bool
				Order json.RawMessage
			}
		}](t, must(t, "order", "validate", goodFile, "--url", base, "--json", "--restaurant", sandbox.BistroID))
		if !v.Result.Valid || len(v.Result.Order) == 0 {
			t.Errorf("order validate --json prints %+v", v)
		}
		file := clitest.WriteFile(t, "bad.json", "{\n  \"dishList\": [}\n")
		if got := larder(t, "order", "validate", file, "--url", base); got.Status != cli.StatusFailed ||
			!strings.Contains(got.Err, file+":2:16: malformed JSON: invalid character '}'") || !strings.HasSuffix(got.Err, ". Correct the input.\n") {
			t.Errorf("validate of a file that is not JSON: %+v", got)
		}
		if got := (command{in: `{"dishList":[`}).run(t, "order", "validate", "-", "--url", base); got.Status != cli.StatusFailed || !strings.Contains(got.Err, "malformed_json") {
			t.Errorf("order validate of broken JSON: %+v", got)
		}
	})
	t.Run("order place", func(t *testing.T) {
		t.Parallel()
		if out := must(t, with(shop, "order", "place", goodFile, "--key", "cli-1")...); !regexp.MustCompile(`^placed: order \d+, total [\d.]+, ref `).MatchString(out) {
			t.Errorf("order place prints %q", out)
		} else if again := must(t, with(shop, "order", "place", goodFile, "--key", "cli-1")...); again != strings.TrimSuffix(out, "\n")+"; it was sent before with this key\n" {
			t.Errorf("order place prints %q, and again with its key %q", out, again)
		}
		p := clitest.FromJSON[struct{ Result cli.OrderRecord }](t, must(t, with(shop, "order", "place", goodFile, "--json")...))
		if p.Result.State != "placed" || p.Result.OrderID == "" {
			t.Errorf("order place --json prints %+v", p)
		}
		got := larder(t, with(shop, "order", "place", badFile)...)
		if got.Status != cli.StatusFailed || !strings.HasPrefix(got.Out, "not placed: ") || !strings.Contains(got.Out, "group_min") {
			t.Errorf("order place of a bad order: %+v", got)
		}
		got = larder(t, with(shop, "order", "place", badFile, "--json")...)
		if refused := clitest.FromJSON[client.Error](t, got.Out); got.Status != cli.StatusFailed || len(refused.Errors) != 4 {
			t.Errorf("order place --json of a bad order: %+v", got)
		}
		if got := larder(t, "order", "place", goodFile, "--url", base); got.Status != cli.StatusFailed || !strings.Contains(got.Err, "Use --config FILE of this daemon") {
			t.Errorf("order place without a token: %+v", got)
		}
	})
	t.Run("menu", func(t *testing.T) {
		t.Parallel()
		if got := larder(t, with(ops, "menu", "lint", sandbox.BistroID)...); !strings.Contains(got.Out, " warning") {
			t.Errorf("menu lint of a restaurant: %+v", got)
		}
		if out := must(t, "menu", "show", sandbox.BistroID, "--url", base); !strings.HasPrefix(out, "Larder Bistro, menu view ") {
			t.Errorf("menu show of a restaurant prints %.200q", out)
		}
		served := json.RawMessage(must(t, "menu", "show", sandbox.BistroID, "--url", base, "--json"))
		if !json.Valid(served) {
			t.Errorf("menu show --json prints no JSON")
		}
		env := []string{"LARDER_CONNECTIONS_0_BASE_URL=" + kitchen, "LARDER_CONNECTIONS_0_AUTH_URL=" + kitchen}
		file := clitest.WriteFile(t, "bistro.json", string(sandbox.Bistro(sandbox.BistroID, "/photos")))
		got := command{env: env}.run(t, "menu", "diff", "--config", "../../configs/demo.yaml", "--restaurant", sandbox.BistroID, file, sandbox.BistroID)
		if got.Status != cli.StatusDone || got.Out != "no difference\n" {
			t.Errorf("menu diff of a file and the service: %+v", got)
		}
		got = command{env: env}.run(t, "menu", "diff", "--config", "../../configs/demo.yaml", file, "elsewhere")
		if got.Status != cli.StatusFailed || !strings.Contains(got.Err, "the nearest of 1: Larder Bistro ("+sandbox.BistroID+")") {
			t.Errorf("menu diff of an unknown restaurant: %+v", got)
		}
	})
	t.Run("check --online", func(t *testing.T) {
		t.Parallel()
		env := []string{"LARDER_CONNECTIONS_0_BASE_URL=" + kitchen, "LARDER_CONNECTIONS_0_AUTH_URL=" + kitchen}
		got := command{env: env}.run(t, "check", "--online", "--config", "../../configs/demo.yaml")
		if got.Status != cli.StatusDone || !strings.Contains(got.Out, "ok      redis: answers: embedded, miniredis\nok      orders: can be placed\n") || !strings.Contains(got.Out, "connection main token: token_request document works") || !regexp.MustCompile(`main menu: \d+ dishes`).MatchString(got.Out) {
			t.Errorf("check --online: %+v", got)
		}
		const unknown = "86439fb3-c0c4-42ca-a269-64f031a6a33b"
		got = command{env: append(slices.Clone(env), "LARDER_RESTAURANTS_0_ID="+unknown)}.run(t, "check", "--online", "--config", "../../configs/demo.yaml")
		if got.Status != cli.StatusFailed || !strings.Contains(got.Out, "FAILED  connection main menu of restaurant "+unknown+": ") || !strings.Contains(got.Out, "; correct restaurants[0].id, or the base_url of its connection\n") {
			t.Errorf("check --online of a restaurant that the service does not have: %+v", got)
		}
		got = command{env: append(slices.Clone(env), "LARDER_ORDERING_ALLOW_NON_DURABLE=false")}.run(t, "check", "--online", "--config", "../../configs/demo.yaml")
		if got.Status != cli.StatusFailed || !strings.Contains(got.Out, "FAILED  orders: cannot be placed: the embedded Redis keeps orders in memory only") {
			t.Errorf("check --online where orders would be forgotten: %+v", got)
		}
		durable := append(slices.Clone(env), "LARDER_ORDERING_ALLOW_NON_DURABLE=false", "LARDER_REDIS_URL="+redistest.Start(t, redistest.AppendOnly()).URL())
		got = command{env: durable}.run(t, "check", "--online", "--config", "../../configs/demo.yaml")
		if !regexp.MustCompile(`(?m)^ok      redis: answers: single, \w+ \d.*\nok      orders: can be placed; `).MatchString(got.Out) {
			t.Errorf("check --online of a Redis on disk: %+v", got)
		}
		env = append(env, "LARDER_CONNECTIONS_0_CLIENT_SECRET=wrong", "LARDER_REDIS_URL=redis://127.0.0.1:1")
		got = command{env: env}.run(t, "check", "--online", "--config", "../../configs/demo.yaml")
		if got.Status != cli.StatusFailed || !strings.Contains(got.Out, "FAILED  redis: ") || !strings.Contains(got.Out, "FAILED  connection main token: ") ||
			!strings.Contains(got.Out, "token_request document and oauth: token: status 401") ||
			!strings.Contains(got.Out, "; check connections[0].client_id and client_secret\n") ||
			!strings.Contains(got.Out, "FAILED  redis: no Redis answers at 127.0.0.1:1 (connection refused): start it, or correct redis.url\nFAILED  orders: not tested: Redis does not answer\n") ||
			strings.Contains(got.Out, ": upstream: ") ||
			!strings.Contains(got.Out, "FAILED  connection main menu: not tested: there is no token") {
			t.Errorf("check --online of what does not work: %+v", got)
		}
	})
}

// If other machines can reach larder or the ordering service, the demo generates and
// prints its own secrets (policy H4).
func TestDemo_RandomSecretsOffLoopback(t *testing.T) {
	t.Parallel()
	for name, listen := range map[string][2]string{
		"larder": {"0.0.0.0:0", "127.0.0.1:0"}, "the sandbox": {"127.0.0.1:0", "0.0.0.0:0"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := command{}.start(t, "demo", "--listen", listen[0], "--sandbox-listen", listen[1])
			for _, printed := range []string{`client_secret=(\S+) -d scope=orders`, `client_secret=(\S+) -d scope=ops`, `client demo, secret (\S+)`, `client ops, secret (\S+)`} {
				if secret := r.Out.Find(t, printed)[1]; strings.HasSuffix(secret, "-secret") || len(secret) < 16 {
					t.Errorf("the published secret %q is used", secret)
				}
			}
			service := "http://127.0.0.1:" + r.Out.Find(t, `:(\d+)/connect/token   the ordering service.s tokens`)[1]
			for secret, want := range map[string]bool{"demo-secret": false, r.Out.Find(t, `client demo, secret (\S+)`)[1]: true} {
				form := url.Values{
					"client_ID":     {"demo"},
					"client_secret": {secret},
					"grant_type":    {"client_credentials"},
					"scopes":        {"orders"},
				}
				request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, service+"/connect/token", strings.NewReader(form.Encode()))
				if err != nil {
					t.Fatal(err)
				}
				request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
				response, err := http.DefaultClient.Do(request)
				if err != nil {
					t.Fatal(err)
				}
				if _ = response.Body.Close(); (response.StatusCode == http.StatusOK) != want {
					t.Errorf("the ordering service answers %d to the secret %q", response.StatusCode, secret)
				}
			}
		})
	}
}

// An invalid value of a flag is reported before the program listens, even if the port
// is in use.
func TestDemoChecksItsFlagsBeforeItListens(t *testing.T) {
	t.Parallel()
	taken := strings.TrimPrefix(newService(t).URL, "http://")
	for _, args := range [][]string{
		{"demo", "--exit", "--products", "0", "--sandbox-listen", taken},
		{"sandbox", "--products", "0", "--listen", taken},
	} {
		if got := larder(t, args...); got.Status != cli.StatusUsage || !strings.Contains(got.Err, "--products must be between 1 and 10000") {
			t.Errorf("larder %v: %+v, want 2 and the range", args, got)
		}
	}
	got := larder(t, "demo", "--exit", "--origin", "https://shop.example", "--origin", "http://127.0.0.1:3000/", "--sandbox-listen", taken)
	if got.Status != cli.StatusUsage || !strings.Contains(got.Err, `--origin: "http://127.0.0.1:3000/" is not a valid origin; write only scheme and host`) {
		t.Errorf("larder demo with a path in --origin: %+v", got)
	}
}

func TestDemo_InvalidSetting(t *testing.T) {
	t.Parallel()
	got := command{env: []string{"LARDER_SYNC_HISTORY=many"}}.run(t, "demo", "--exit")
	if got.Status != cli.StatusFailed || !strings.Contains(got.Err, `environment LARDER_SYNC_HISTORY: sync.history: "many" must be an integer`) {
		t.Errorf("demo with a wrong setting: %+v, want 1 and the variable", got)
	}
}

func TestDemo_ProductsWithoutRestaurants(t *testing.T) {
	t.Parallel()
	out := must(t, "demo", "--exit", "--products", "25")
	if !strings.Contains(out, "25 dishes") || !strings.Contains(out, "Restaurant 1: version 1") {
		t.Errorf("demo --products 25:\n%s", out)
	}
}

func TestSandbox_PrintsItsRestaurants(t *testing.T) {
	t.Parallel()
	corner, own := clitest.WriteFile(t, "corner.json", clitest.LunchMenu), clitest.WriteFile(t, "default.json", clitest.LunchMenu)
	for name, tc := range map[string]struct {
		args []string
		want string
	}{
		"the bistro":         {nil, `\n1 restaurant: ` + sandbox.BistroID + `\n`},
		"files":              {[]string{"--menu", corner, "--menu", own}, `\n1 restaurant: corner\n`},
		"the own menu alone": {[]string{"--menu", own}, `\nno restaurants, only the default menu\n`},
		"many":               {[]string{"--restaurants", "200"}, `\n200 restaurants: ([0-9a-f-]{36}, ){5}… \(195 more\); --json lists them all\n`},
		"products alone":     {[]string{"--products", "5"}, `\n1 restaurant: [0-9a-f-]{36}\n`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := command{}.start(t, append([]string{"sandbox", "--listen", "127.0.0.1:0"}, tc.args...)...)
			r.Out.Find(t, tc.want)
		})
	}
}

func TestSandbox_WarnsOfAnInvalidMenu(t *testing.T) {
	t.Parallel()
	file := clitest.WriteFile(t, "broken.json", `{"products":[}`)
	r := command{}.start(t, "sandbox", "--listen", "127.0.0.1:0", "--menu", file)
	base := r.Out.Find(t, `ordering service on (\S+) `)[1]
	r.Err.Find(t, `line 1.*"event":"sandbox.menu_issue","file":"[^"]*broken.json","level":"warning"`)
	if status, body := clitest.Fetch(t, base+"/sandbox/menus/broken"); status != 200 || !strings.Contains(body, `{"products":[}`) {
		t.Errorf("the sandbox answers %d %.200s, want the broken menu as it is", status, body)
	}
}

func TestSandboxServesMenusFromFiles(t *testing.T) {
	t.Parallel()
	file := clitest.WriteFile(t, "corner.json", clitest.LunchMenu)
	r := command{}.start(t, "sandbox", "--listen", "127.0.0.1:0", "--menu", file)
	base := r.Out.Find(t, `ordering service on (\S+) `)[1]
	if status, body := clitest.Fetch(t, base+"/sandbox/menus/corner"); status != 200 || !strings.Contains(body, "Pepper") {
		t.Errorf("the sandbox answers %d %.200s", status, body)
	}
}
