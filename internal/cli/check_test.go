package cli

import (
	"slices"
	"strings"
	"testing"

	"larder/configs"
	"larder/internal/testkit/clitest"
)

func TestConfigPrint(t *testing.T) {
	t.Parallel()
	out := must(t, "config", "print", "--config", "../../configs/demo.yaml")
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

func TestCheck(t *testing.T) {
	t.Parallel()
	out := must(t, "check", "--config", "../../configs/demo.yaml")
	if want := "ok      configuration: valid: 1 connection, 1 restaurant, 2 clients\n"; out != want {
		t.Errorf("check prints %q, want %q", out, want)
	}
	findings := clitest.FromJSON[[]finding](t, command{env: []string{"LARDER_HTTP_LITSEN=x"}}.run(t, "check", "--json", "--config", "../../configs/demo.yaml").Out)
	if len(findings) != 2 || findings[1].Subject != "warning" {
		t.Errorf("check of an environment with a typing error gives %+v", findings)
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
	file := clitest.WriteFile(t, "larder.yaml", "sync: {history: many}\nhttp: {metrics: some}\n")
	got := larder(t, "check", "--json", "--config", file)
	findings := clitest.FromJSON[[]finding](t, got.Out)
	want := []finding{
		{Subject: "configuration", Msg: `"many" must be an integer`, Place: configs.Place{File: file, Line: 1, Column: 17}, Key: "sync.history"},
		{Subject: "configuration", Msg: `unknown value "some" (valid: open, ops, off)`, Place: configs.Place{File: file, Line: 2, Column: 17}, Key: "http.metrics"},
	}
	if got.Status != StatusFailed || !slices.Equal(findings, want) {
		t.Errorf("check --json of a wrong file: status %d, %+v; want 1 and %+v", got.Status, findings, want)
	}
}
