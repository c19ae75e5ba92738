package main

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"larder.local/tools/bench/compare"
)

// compareBuilds compares this build with itself; the newer side has more environment variables.
func compareBuilds(t *testing.T, env ...string) compare.Report {
	t.Helper()
	program, err := filepath.Abs(built)
	if err != nil {
		t.Fatal(err)
	}
	report, err := compare.Plan{
		Old: program, New: program, Dir: t.TempDir(), Orders: 150, Menus: 6, Configs: 6, Seed: 1, NewEnv: env,
		Say: func(string, ...any) {},
	}.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return report
}

func TestCompareABuildWithItself(t *testing.T) {
	t.Parallel()
	report := compareBuilds(t)
	if len(report.Differences) > 0 || report.Orders != 150 || report.Menus != 6 || report.Configs != 6 || report.Calls == 0 {
		t.Errorf("the report of a build and itself: %s", report.Text())
	}
	if report.Statuses[201] == 0 || report.Statuses[422] == 0 {
		t.Errorf("statuses: %v, want placed and invalid orders", report.Statuses)
	}
}

func TestCompareFindsAnotherRule(t *testing.T) {
	t.Parallel()
	report := compareBuilds(t, "LARDER_ORDERING_PRICE_DIGITS=0", "LARDER_ORDERING_MAX_QUANTITY=1")
	found := report.Text()
	if len(report.Differences) == 0 || !strings.Contains(found, "/orders") || !strings.Contains(found, "old: ") {
		t.Errorf("the report of two rules: %s", found)
	}
	decided := report.Without([]*regexp.Regexp{regexp.MustCompile(`(?s).`)})
	if len(decided.Differences) != 0 || decided.Orders != report.Orders {
		t.Errorf("without what is decided: %s", decided.Text())
	}
}

func TestWhatIsDecidedIsRemovedFromBothSides(t *testing.T) {
	t.Parallel()
	decided, err := decidedDifferences("known: [a-z, ]+|GET lists them\n,\"more\":\\[\\]\n(?s)\\Aone error\\n=>\\n.*two errors\\z\n")
	if err != nil {
		t.Fatal(err)
	}
	const earlier, later = "2026-05-01T10:00:00Z", "2026-05-01T10:00:01.5Z"
	for name, c := range map[string]struct {
		old, new string
		shown    string // empty: decided
	}{
		"other words":                     {"no. known: large, small", "no. GET lists them", ""},
		"a new member, and another time":  {`{"at":"` + earlier + `"}`, `{"at":"` + later + `","more":[]}`, ""},
		"both sides":                      {"one error", "line 1: two errors", ""},
		"a new member that says more":     {`{"a":1}`, `{"a":1,"more":[2]}`, `more`},
		"another difference beside it":    {`{"a":1}`, `{"a":2,"more":[]}`, `new: "{\"a\":2}"`},
		"a difference after another time": {earlier + ` {"a":1}`, later + ` {"a":2}`, `new: "TIME {\"a\":2}"`},
		"only one of both sides":          {"one error", "nothing", "one error"},
		"one side is empty":               {"", "a line\n", "a line"},
	} {
		report := compare.Report{Differences: []compare.Difference{{Where: "a step", Old: c.old, New: c.new}}}.Without(decided)
		if found := report.Text(); (len(report.Differences) == 0) != (c.shown == "") || !strings.Contains(found, c.shown) {
			t.Errorf("%s: %s", name, found)
		}
	}
}

func TestDecidedDifferences(t *testing.T) {
	t.Parallel()
	if _, err := decidedDifferences(decidedText); err != nil {
		t.Error(err)
	}
	found, err := decidedDifferences("# a reason\n\n order 1[0-9] \nmetric\n")
	if err != nil || len(found) != 2 || !found[0].MatchString("order 17") {
		t.Errorf("%v, %v", found, err)
	}
	if _, err := decidedDifferences("("); err == nil {
		t.Error("( is a pattern")
	}
}
