package metrics_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"
)

// The alert rules, their tests, and the folder of their runbook pages.
const (
	alertsFile  = "../../deploy/prometheus/alerts.yaml"
	alertsTests = "../../deploy/prometheus/alerts_test.yaml"
	runbook     = "../../docs/runbook"

	// runbookURL begins every runbook_url: an external label of Prometheus, or a placeholder.
	runbookURL = `{{ or $externalLabels.larder_runbook "https://larder.example/docs/runbook" }}/`
)

// alert is a rule of alertsFile.
type alert struct {
	Name        string `yaml:"alert"`
	Expr        string
	Labels      map[string]string
	Annotations map[string]string
}

func alerts(t *testing.T) (all []alert) {
	t.Helper()
	text, err := os.ReadFile(alertsFile)
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Groups []struct{ Rules []alert } }
	if err := yaml.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	for _, group := range file.Groups {
		all = append(all, group.Rules...)
	}
	if len(all) == 0 {
		t.Fatalf("%s has no rules", alertsFile)
	}
	return all
}

// promtool runs Prometheus' own tool and fails the test if the tool reports a problem.
func promtool(t *testing.T, arguments ...string) {
	t.Helper()
	path, err := exec.LookPath("promtool")
	if err != nil {
		t.Fatal("promtool is missing: apt-get install --no-install-recommends prometheus (tools/test-needs does it)")
	}
	printed, err := exec.CommandContext(t.Context(), path, arguments...).CombinedOutput()
	if err != nil {
		t.Errorf("promtool %s: %v\n%s", strings.Join(arguments, " "), err, printed)
	}
}

// Every rule fires and does not fire as its cases in alerts_test.yaml describe. It has at least one
// case of either kind.
func TestAlertsFireAsTheyShould(t *testing.T) {
	t.Parallel()
	promtool(t, "check", "rules", alertsFile)
	promtool(t, "test", "rules", alertsTests)
	text, err := os.ReadFile(alertsTests)
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Tests []struct {
			Rules []struct {
				Name    string `yaml:"alertname"`
				Expects []any  `yaml:"exp_alerts"`
			} `yaml:"alert_rule_test"`
		}
	}
	if err := yaml.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	fires, rests := map[string]int{}, map[string]int{}
	for _, test := range file.Tests {
		for _, rule := range test.Rules {
			if len(rule.Expects) > 0 {
				fires[rule.Name]++
			} else {
				rests[rule.Name]++
			}
		}
	}
	for _, rule := range alerts(t) {
		if fires[rule.Name] == 0 || rests[rule.Name] == 0 {
			t.Errorf("%s has %d cases in which it fires and %d in which it does not, want both", rule.Name, fires[rule.Name], rests[rule.Name])
		}
	}
}

// Every rule has a severity, a description and a runbook page. Every page has a rule.
func TestAlertsHaveTheirPages(t *testing.T) {
	t.Parallel()
	var wanted []string
	for _, rule := range alerts(t) {
		page := rule.Name + ".md"
		wanted = append(wanted, page)
		if severity := rule.Labels["severity"]; severity != "critical" && severity != "warning" {
			t.Errorf("%s: severity %q is neither critical nor warning", rule.Name, severity)
		}
		if rule.Annotations["summary"] == "" || rule.Annotations["runbook_url"] != runbookURL+page {
			t.Errorf("%s: annotations %v", rule.Name, rule.Annotations)
		}
		text, err := os.ReadFile(filepath.Join(runbook, page))
		if err != nil {
			t.Error(err)
			continue
		}
		for _, chapter := range []string{"# " + rule.Name, "## Impact", "## Diagnosis", "## What to do", "## When the alert ends"} {
			if !strings.Contains("\n"+string(text), "\n"+chapter+"\n\n") {
				t.Errorf("%s has no chapter %q", page, chapter)
			}
		}
		index, err := os.ReadFile(filepath.Join(runbook, "README.md"))
		if row := "| [" + rule.Name + "](" + page + ") | " + rule.Labels["severity"] + " |"; err != nil || !strings.Contains(string(index), row) {
			t.Errorf("%s/README.md has no row %q, %v", runbook, row, err)
		}
	}
	pages, err := filepath.Glob(filepath.Join(runbook, "Larder*.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range pages {
		if !slices.Contains(wanted, filepath.Base(path)) {
			t.Errorf("%s is about no rule", path)
		}
	}
}

// Every metric in a rule, a page or the dashboard is a metric of larder with the labels that they
// use.
func TestWatchedMetricsExist(t *testing.T) {
	t.Parallel()
	shown := describedBy(t, counting(t))
	watched := map[string]string{}
	for _, rule := range alerts(t) {
		watched[rule.Name] = rule.Expr
	}
	for title, expressions := range panels(t) {
		watched["the panel "+title] = strings.Join(expressions, "\n")
	}
	pages, err := filepath.Glob(filepath.Join(runbook, "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range pages {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		watched[path] = strings.Join(regexp.MustCompile("`[^`]*`").FindAllString(string(text), -1), "\n")
	}
	selector := regexp.MustCompile(`\b((?:larder|go|process)_[a-z_]+)(?:\{([^}]*)\})?`)
	label := regexp.MustCompile(`(\w+)\s*(?:=~|!~|!=|=)`)
	for who, expression := range watched {
		for _, found := range selector.FindAllStringSubmatch(expression, -1) {
			name := found[1]
			is, ok := shown[name]
			for _, suffix := range []string{"_bucket", "_sum", "_count"} {
				if base, cut := strings.CutSuffix(name, suffix); cut && !ok {
					is, ok = shown[base]
					ok = ok && (is.kind == "histogram" || is.kind == "summary")
				}
			}
			if !ok {
				t.Errorf("%s names %s, which larder does not show", who, name)
				continue
			}
			for _, asked := range label.FindAllStringSubmatch(found[2], -1) {
				if known := append([]string{"job", "instance", "le"}, is.labels...); !slices.Contains(known, asked[1]) {
					t.Errorf("%s asks %s for the label %s, of %v", who, name, asked[1], known)
				}
			}
		}
	}
}
