package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The shipped Prometheus configuration reads the metrics of a larder with the
// shipped configuration (policy H8). Of both only addresses, intervals and the
// places of files are changed.
func TestShippedPrometheusReadsShippedLarder(t *testing.T) {
	t.Parallel()
	path, _ := secretsOf(t, "compose/larder.yaml")
	larder := startProcess(t, []string{
		"LARDER_LOG_FORMAT=json", "LARDER_HTTP_LISTEN=127.0.0.1:0", "LARDER_HTTP_OPS_LISTEN=127.0.0.1:0", "LARDER_REDIS_URL=embedded",
		"LARDER_CONNECTIONS_0_BASE_URL=http://127.0.0.1:9", "LARDER_CONNECTIONS_0_AUTH_URL=http://127.0.0.1:9",
	}, "serve", "--config", path)
	ops := larder.log.find(t, `"opsAddr":"([^"]+)"`)[1]

	_, port, _ := strings.Cut(deployed(t, "compose/larder.yaml").HTTP.OpsListen, ":")
	rules, err := filepath.Abs("../../deploy/prometheus/alerts.yaml")
	if err != nil {
		t.Fatal(err)
	}
	scrapes(t, adapted(t, readText(t, "../../deploy/compose/prometheus.yaml"), map[string]string{
		"dns_sd_configs:": "static_configs:",
		"{names: [larder], type: A, port: " + port + ", refresh_interval: 15s}": `{targets: ["` + ops + `"]}`,
		"/etc/prometheus/alerts.yaml":                                           rules,
		"scrape_interval: 15s":                                                  "scrape_interval: 1s",
	}))
}

// Where operators share the guests' listener, Prometheus gets tokens as
// docs/metrics.md says.
func TestPrometheusReadsMetricsWithAToken(t *testing.T) {
	t.Parallel()
	larder := startProcess(t, newService(t).env(), "serve")
	address := strings.TrimPrefix(larder.url(t), "http://")
	if status, _ := fetch(t, "http://"+address+"/metrics"); status != 401 {
		t.Fatalf("/metrics without a token: %d, want 401", status)
	}
	_, rest, _ := strings.Cut(readText(t, "../../docs/metrics.md"), "```yaml\n")
	example, _, found := strings.Cut(rest, "```\n")
	if !found {
		t.Fatal("docs/metrics.md has no example of a Prometheus configuration")
	}
	scrapes(t, "global: {scrape_interval: 1s}\n"+adapted(t, example, map[string]string{
		`"larder.example:8080"`:               `"` + address + `"`,
		"http://larder.example:8080":          "http://" + address,
		"/etc/prometheus/larder-ops-secret\n": write(t, "secret", "ops-secret") + "\n",
	}))
}

func readText(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// adapted replaces texts, each of which must be there once.
func adapted(t *testing.T, text string, changes map[string]string) string {
	t.Helper()
	for from, to := range changes {
		if strings.Count(text, from) != 1 {
			t.Fatalf("%q is not there once in:\n%s", from, text)
		}
		text = strings.Replace(text, from, to, 1)
	}
	return text
}

// scrapes runs a Prometheus until it has read the metrics of its one larder.
func scrapes(t *testing.T, config string) {
	t.Helper()
	path, err := exec.LookPath("prometheus")
	if err != nil {
		t.Fatal("prometheus is missing: apt-get install --no-install-recommends prometheus (tools/test-needs does it)")
	}
	log := newWatched()
	p := &process{cmd: exec.CommandContext(t.Context(), path, "--config.file="+write(t, "prometheus.yaml", config),
		"--storage.tsdb.path="+t.TempDir(), "--web.listen-address=127.0.0.1:0"), log: log}
	p.cmd.Stderr = log
	p.start(t)
	base := "http://" + log.find(t, `Listening on".* address="?(127\.0\.0\.1:\d+)`)[1]
	last := ""
	defer func() {
		if t.Failed() {
			t.Logf("the targets:\n%s\nits log:\n%s", last, log)
		}
	}()
	eventually(t, "Prometheus has read the metrics", func() bool {
		_, last = fetch(t, base+"/api/v1/targets?state=active")
		_, body := fetch(t, base+"/api/v1/query?query=larder_build_info")
		return strings.Contains(body, `"job":"larder"`)
	})
}
