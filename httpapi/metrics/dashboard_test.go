package metrics_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const dashboardFile = "../../deploy/grafana/larder.json"

// dashboard has the fields of dashboardFile that the tests read.
type dashboard struct {
	UID, Title string
	Panels     []struct {
		ID      int
		Type    string
		Title   string
		GridPos struct{ X, Y, W, H int }
		Targets []struct{ Expr, LegendFormat string }
	}
	Templating struct {
		List []struct{ Name, Type string }
	}
}

func readDashboard(t *testing.T) (d dashboard) {
	t.Helper()
	text, err := os.ReadFile(dashboardFile)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	return d
}

// panels returns the expressions of the dashboard by the titles of their panels.
func panels(t *testing.T) map[string][]string {
	t.Helper()
	all := map[string][]string{}
	for _, panel := range readDashboard(t).Panels {
		for _, target := range panel.Targets {
			all[panel.Title] = append(all[panel.Title], target.Expr)
		}
	}
	return all
}

// Prometheus can parse every expression of the dashboard.
func TestDashboardIsRead(t *testing.T) {
	t.Parallel()
	var rules strings.Builder
	rules.WriteString("groups:\n  - name: dashboard\n    rules:\n")
	variables := strings.NewReplacer("$__rate_interval", "5m", "$job", "larder", "$instance", ".*", "${datasource}", "")
	count := 0
	for title, expressions := range panels(t) {
		for _, expression := range expressions {
			text, err := json.Marshal(variables.Replace(expression)) // YAML can read JSON
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(string(text), "$") {
				t.Errorf("%s: %s has a variable that the dashboard does not", title, expression)
			}
			fmt.Fprintf(&rules, "      - {record: panel:%d, expr: %s}\n", count, text)
			count++
		}
	}
	if count < 20 {
		t.Fatalf("%d expressions", count)
	}
	path := filepath.Join(t.TempDir(), "rules.yaml")
	if err := os.WriteFile(path, []byte(rules.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	promtool(t, "check", "rules", "--lint=none", path)
}

// The dashboard has its rows, each panel has its own id, and no panel overlaps another.
func TestDashboardIsComplete(t *testing.T) {
	t.Parallel()
	d := readDashboard(t)
	rows, numbers, taken := map[string]bool{}, map[int]bool{}, map[[2]int]string{}
	for _, panel := range d.Panels {
		if numbers[panel.ID] {
			t.Errorf("two panels have the number %d", panel.ID)
		}
		numbers[panel.ID] = true
		if panel.Type == "row" {
			rows[panel.Title] = true
		} else if len(panel.Targets) == 0 {
			t.Errorf("the panel %s shows nothing", panel.Title)
		}
		at := panel.GridPos
		if at.X+at.W > 24 || at.W == 0 || at.H == 0 {
			t.Errorf("the panel %s stands at %+v of a grid of 24 columns", panel.Title, at)
		}
		for x := at.X; x < at.X+at.W; x++ {
			for y := at.Y; y < at.Y+at.H; y++ {
				if other, ok := taken[[2]int{x, y}]; ok {
					t.Fatalf("the panel %s stands over %s", panel.Title, other)
				}
				taken[[2]int{x, y}] = panel.Title
			}
		}
	}
	for _, row := range []string{"Reads", "Orders", "Syncs", "Ordering service", "Redis", "Process"} {
		if !rows[row] {
			t.Errorf("there is no row %s", row)
		}
	}
	if d.UID == "" || d.Title == "" {
		t.Errorf("the dashboard has uid %q and title %q", d.UID, d.Title)
	}
}
