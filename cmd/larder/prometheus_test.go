package main

import (
	"flag"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"
	"golang.org/x/oauth2/clientcredentials"

	"larder.local/internal/testkit/clitest"
)

var withPrometheus = flag.Bool("prometheus", false, "let a Prometheus read the metrics, as make prometheus does")

// The shipped Prometheus configuration reads the metrics of an instance with the
// shipped configuration (policy H8). Only addresses, intervals and paths of files are
// changed.
func TestPrometheusReadsShippedLarder(t *testing.T) {
	t.Parallel()
	path, _ := secretsOf(t, "compose/larder.yaml")
	larder := startProcess(t, []string{
		"LARDER_LOG_FORMAT=json", "LARDER_HTTP_LISTEN=127.0.0.1:0", "LARDER_HTTP_OPS_LISTEN=127.0.0.1:0", "LARDER_REDIS_URL=embedded",
		"LARDER_CONNECTIONS_0_BASE_URL=http://127.0.0.1:9", "LARDER_CONNECTIONS_0_AUTH_URL=http://127.0.0.1:9",
	}, "serve", "--config", path)
	ops := larder.log.Find(t, `"opsAddr":"([^"]+)"`)[1]

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

// If operators use the same listener as guests, Prometheus gets tokens as described in
// docs/metrics.md.
func TestPrometheusReadsMetricsWithAToken(t *testing.T) {
	t.Parallel()
	larder := startProcess(t, newService(t).env(), "serve")
	address := strings.TrimPrefix(larder.url(t), "http://")
	if status, _ := clitest.Fetch(t, "http://"+address+"/metrics"); status != 401 {
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
		"/etc/prometheus/larder-ops-secret\n": clitest.WriteFile(t, "secret", "ops-secret") + "\n",
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

// adapted replaces texts. Each must occur exactly once.
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

// scrapes reads the metrics with this configuration. With -prometheus a real
// Prometheus reads them, which waits for five seconds before its first scrape.
func scrapes(t *testing.T, config string) {
	t.Helper()
	path := clitest.WriteFile(t, "prometheus.yaml", config)
	if *withPrometheus {
		scrapedByPrometheus(t, path)
		return
	}
	if said, err := exec.CommandContext(t.Context(), installed(t, "promtool"), "check", "config", path).CombinedOutput(); err != nil {
		t.Fatalf("promtool check config: %v\n%s", err, said)
	}
	var cfg struct {
		Jobs []struct {
			Static []struct{ Targets []string } `yaml:"static_configs"`
			OAuth2 *struct {
				ClientID   string   `yaml:"client_id"`
				SecretFile string   `yaml:"client_secret_file"`
				TokenURL   string   `yaml:"token_url"`
				Scopes     []string `yaml:"scopes"`
			} `yaml:"oauth2"`
		} `yaml:"scrape_configs"`
	}
	if err := yaml.Unmarshal([]byte(config), &cfg); err != nil {
		t.Fatal(err)
	}
	if len(cfg.Jobs) != 1 || len(cfg.Jobs[0].Static) != 1 || len(cfg.Jobs[0].Static[0].Targets) != 1 {
		t.Fatalf("want one job with one target:\n%s", config)
	}
	client := http.DefaultClient
	if auth := cfg.Jobs[0].OAuth2; auth != nil {
		credentials := clientcredentials.Config{
			ClientID:     auth.ClientID,
			ClientSecret: strings.TrimSpace(readText(t, auth.SecretFile)),
			TokenURL:     auth.TokenURL,
			Scopes:       auth.Scopes,
		}
		client = credentials.Client(t.Context())
	}
	metrics, err := client.Get("http://" + cfg.Jobs[0].Static[0].Targets[0] + "/metrics") //nolint:noctx // the server ends with the test
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = metrics.Body.Close() }()
	body, err := io.ReadAll(metrics.Body)
	if err != nil || metrics.StatusCode != http.StatusOK || !strings.Contains(string(body), "\nlarder_build_info{") {
		t.Fatalf("/metrics: status %d, %v\n%.300s", metrics.StatusCode, err, body)
	}
}

// scrapedByPrometheus runs a Prometheus until it has read the metrics of its one
// target.
func scrapedByPrometheus(t *testing.T, path string) {
	t.Helper()
	log := clitest.NewWatched()
	p := &process{cmd: exec.CommandContext(t.Context(), installed(t, "prometheus"), "--config.file="+path,
		"--storage.tsdb.path="+t.TempDir(), "--web.listen-address=127.0.0.1:0"), log: log}
	p.cmd.Stderr = log
	p.start(t)
	base := "http://" + log.Find(t, `Listening on".* address="?(127\.0\.0\.1:\d+)`)[1]
	last := ""
	defer func() {
		if t.Failed() {
			t.Logf("the targets:\n%s\nits log:\n%s", last, log)
		}
	}()
	clitest.Eventually(t, "Prometheus has read the metrics", func() bool {
		_, last = clitest.Fetch(t, base+"/api/v1/targets?state=active")
		_, body := clitest.Fetch(t, base+"/api/v1/query?query=larder_build_info")
		return strings.Contains(body, `"job":"larder"`)
	})
}
