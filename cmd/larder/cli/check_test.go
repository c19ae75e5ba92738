package cli

import (
	"cmp"
	"net/http"
	"slices"
	"strings"
	"syscall"
	"testing"

	"larder.local/configs"
	"larder.local/internal/testkit/clitest"
	"larder.local/internal/upstream"
)

func TestConfigPrint(t *testing.T) {
	t.Parallel()
	out := must(t, "config", "print", "--config", "../../../configs/demo.yaml")
	for _, line := range []string{"  listen: 127.0.0.1:8080", `    client_secret: "[redacted]"`, "  memory: 512MiB"} {
		if !strings.Contains(out, line+"\n") {
			t.Errorf("no line %q in\n%s", line, out)
		}
	}
	effective := clitest.FromJSON[struct {
		Redis struct{ Prefix string }
	}](t, command{env: []string{"LARDER_REDIS_PREFIX=mine"}}.run(t, "config", "print", "--json").Out)
	if effective.Redis.Prefix != "mine" {
		t.Errorf("config print --json gives %+v, want the environment's prefix", effective)
	}
	if got := must(t, "config", "sample"); got != string(configs.Sample()) {
		t.Error("config sample is not configs/larder.yaml")
	}
}

// A name that changes the writing direction must not change how a terminal shows the configuration.
func TestConfigPrintEscapes(t *testing.T) {
	t.Parallel()
	const name = "Caf\u00e9 \u202e\u200b\u2066 live"
	same := "" // what --json prints of either form
	for _, args := range [][]string{{"config", "print", "--json"}, {"config", "print"}} {
		out := command{env: []string{"LARDER_RESTAURANTS_0_NAME=" + name}}.run(t, append(args, "--config", "../../../configs/demo.yaml")...).Out
		if strings.ContainsAny(out, "\u202e\u200b\u2066") || !strings.Contains(strings.ToLower(out), `\u202e\u200b\u2066 live`) || !strings.Contains(out, "Caf\u00e9") {
			t.Errorf("%v prints %q", args, out)
		}
		printed := clitest.WriteFile(t, "larder.yaml", out)
		if again := larder(t, append(args, "--config", printed)...).Out; again != out {
			t.Errorf("%v of what it has printed prints %q, want %q", args, again, out)
		}
		values := larder(t, "config", "print", "--json", "--config", printed).Out
		if same = cmp.Or(same, values); values != same {
			t.Errorf("what %v has printed is read as %q, want %q", args, values, same)
		}
		wrong := command{env: []string{"LARDER_SYNC_SCHEDULE=@every 2m\u202e\u009b\x7f"}}.run(t, append(args, "--config", "../../../configs/demo.yaml")...)
		if wrong.Status != StatusFailed || strings.ContainsAny(wrong.Out+wrong.Err, "\u202e\u009b\x7f") || !strings.Contains(wrong.Err, `\u202e`) {
			t.Errorf("%v with a wrong schedule: %+v", args, wrong)
		}
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	out := must(t, "check", "--config", "../../../configs/demo.yaml")
	if want := "ok      configuration: valid: 1 connection, 1 restaurant, 3 clients\n"; out != want {
		t.Errorf("check prints %q, want %q", out, want)
	}
	findings := clitest.FromJSON[[]finding](t, command{env: []string{"LARDER_HTTP_LITSEN=x"}}.run(t, "check", "--json", "--config", "../../../configs/demo.yaml").Out)
	if len(findings) != 2 || findings[1].Subject != "warning" {
		t.Errorf("check of an environment with a typing error gives %+v", findings)
	}
}

// A wrong mount must not look like a success.
func TestCheckOfAnEmptyFile(t *testing.T) {
	t.Parallel()
	file := clitest.WriteFile(t, "larder.yaml", "")
	const msg = "is empty, so there is nothing to serve: add a connection, or check that this is the right file"
	got := larder(t, "check", "--config", file)
	if got.Status != StatusFailed || !strings.HasPrefix(got.Err, "larder: "+file+":1:1: connections: "+msg+". Fix the configuration") {
		t.Errorf("check: %+v", got)
	}
	want := []finding{{Subject: "configuration", Msg: msg, Position: configs.Position{File: file, Line: 1, Column: 1}, Key: "connections"}}
	got = larder(t, "check", "--json", "--config", file)
	if findings := clitest.FromJSON[[]finding](t, got.Out); got.Status != StatusFailed || !slices.Equal(findings, want) {
		t.Errorf("check --json: %+v", got)
	}
	got = larder(t, "check", "--config", clitest.WriteFile(t, "larder.yaml", "conections: []\n"))
	if !strings.Contains(got.Err, `did you mean "connections"? Fix the configuration`) {
		t.Errorf("check of a misspelled section: %+v", got)
	}
}

func TestTheEnvironmentAloneMayBeAConfiguration(t *testing.T) {
	t.Parallel()
	env := []string{"LARDER_CONNECTIONS_0_NAME=main", "LARDER_CONNECTIONS_0_BASE_URL=http://127.0.0.1:1", "LARDER_CONNECTIONS_0_AUTH_URL=http://127.0.0.1:1", "LARDER_CONNECTIONS_0_CLIENT_ID=a", "LARDER_CONNECTIONS_0_CLIENT_SECRET=b"}
	if got := (command{env: env}).run(t, "check"); got.Status != StatusDone || !strings.Contains(got.Out, "valid: 1 connection, 0 restaurants") {
		t.Errorf("check of an environment: %+v", got)
	}
}

func TestCheckAsJSONNamesPlaces(t *testing.T) {
	t.Parallel()
	file := clitest.WriteFile(t, "larder.yaml", "sync: {history: many}\nhttp: {metrics: some}\nconnections: []\n")
	got := larder(t, "check", "--json", "--config", file)
	findings := clitest.FromJSON[[]finding](t, got.Out)
	want := []finding{
		{Subject: "configuration", Msg: `"many" must be an integer`, Position: configs.Position{File: file, Line: 1, Column: 17}, Key: "sync.history"},
		{Subject: "configuration", Msg: `unknown value "some" (valid: open, ops, off)`, Position: configs.Position{File: file, Line: 2, Column: 17}, Key: "http.metrics"},
		{
			Subject: "configuration", Msg: "is empty, so there is nothing to serve: add a connection, or check that this is the right file",
			Position: configs.Position{File: file, Line: 3, Column: 14}, Key: "connections",
		},
	}
	if got.Status != StatusFailed || !slices.Equal(findings, want) {
		t.Errorf("check --json of a wrong file: status %d, %+v; want 1 and %+v", got.Status, findings, want)
	}
}

func TestProbesThatFailAlikeAreReportedOnce(t *testing.T) {
	t.Parallel()
	form := func(name string) (form upstream.TokenRequest) {
		if err := form.UnmarshalText([]byte(name)); err != nil {
			t.Fatal(err)
		}
		return form
	}
	refused := &upstream.Error{Operation: upstream.OpToken, Status: http.StatusUnauthorized}
	down := &upstream.Error{Operation: upstream.OpToken, Err: syscall.ECONNREFUSED}
	broken := &upstream.Error{Operation: upstream.OpToken, Status: http.StatusBadGateway}
	for want, errs := range map[string][2]error{
		"token_request document and oauth: token: status 401 Unauthorized; check connections[0].client_id and client_secret":                   {refused, refused},
		"token_request document and oauth: token: connection refused; check connections[0].auth_url":                                           {down, down},
		"token_request document and oauth: token: status 502 Bad Gateway":                                                                      {broken, broken},
		"token_request document: token: status 401 Unauthorized; token_request oauth works: change the configuration":                          {refused, nil},
		"token_request document: token: connection refused; token_request oauth: token: status 502 Bad Gateway; check connections[0].auth_url": {down, broken},
	} {
		probes := []upstream.Probe{{Request: form("document"), Err: errs[0]}, {Request: form("oauth"), Err: errs[1]}}
		if got := probeText(probes, "connections[0]."); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}
