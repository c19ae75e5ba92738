package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// findingsOf returns the findings in files of these names.
func findingsOf(t *testing.T, files map[string]string) []string {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	findings, err := check(root)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, found := range findings {
		got = append(got, found.String())
	}
	return got
}

// Each case is the body of a test that starts in line 4, or a whole file, with the beginning
// of each finding.
func TestFindingsInGo(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		body string
		want []string
	}{
		"sleep":             {"time.Sleep(d)", []string{"4: time.Sleep: "}},
		"sleep in a loop":   {"for ; !done(); time.Sleep(time.Millisecond) {\n}", []string{"4: time.Sleep: "}},
		"pause":             {"<-time.After(time.Minute)", []string{"4: <-time.After is a sleep: "}},
		"fake clock":        {"synctest.Test(t, func(t *testing.T) {\ntime.Sleep(d)\n<-time.After(time.Second)\n})\ntime.Sleep(d)", []string{"8: time.Sleep: "}},
		"context":           {"context.WithTimeout(ctx, 9*time.Second)\ncontext.WithTimeout(ctx, 10*time.Second)", []string{"4: context.WithTimeout with a limit of 9s: "}},
		"expired context":   {"context.WithTimeout(ctx, 0*time.Second)\ncontext.WithDeadline(ctx, time.Now().Add(-time.Second))", nil},
		"case of a select":  {"select {\ncase <-time.After(2 * time.Second):\ncase <-time.After(time.Minute):\n}", []string{"5: time.After with a limit of 2s: "}},
		"deadline":          {"c.SetDeadline(time.Now().Add(time.Second))\nc.SetReadDeadline(begun.Add(time.Second))", []string{"4: time.Now().Add with a limit of 1s: ", "5: c.SetReadDeadline with a limit of 1s: "}},
		"timer":             {"time.NewTimer(1.5 * 1e9)\ntime.NewTimer(time.Duration(1_500) * time.Millisecond)", []string{"5: time.NewTimer with a limit of 1.5s: "}},
		"client":            {"c := http.Client{Timeout: time.Second}\nd := http.Server{IdleTimeout: time.Second}", []string{"4: a client with a timeout of 1s: "}},
		"elapsed":           {"if time.Since(start) > 2*time.Second {\n}\nif time.Minute < end.Sub(start) || time.Second <= end.Sub(start) {\n}", []string{"4: fails after 2s: ", "6: fails after 1s: "}},
		"elapsed, named":    {"took := time.Since(start)\nif err != nil || took >= time.Second {\n}", []string{"5: fails after 1s: "}},
		"at least":          {"took := time.Since(start)\nif took < time.Second {\n}", nil},
		"loop":              {"for time.Since(start) < time.Second {\n}", []string{"4: a loop that ends after 1s: "}},
		"setting":           {"if cfg.Timeout > time.Second {\n}\nrun(config{Timeout: time.Second})", nil},
		"local constant":    {"const limit = time.Second\ntime.After(limit * 2)", []string{"5: time.After with a limit of 2s: "}},
		"package constant":  {"time.After(patience / 60)\ntime.After(patience)", []string{"4: time.After with a limit of 1s: "}},
		"of another use":    {"wait := time.Minute\ntime.After(wait)\nwait = time.Second\ntime.After(wait)", []string{"7: time.After with a limit of 1s: "}},
		"unknown":           {"time.After(limit())\ntime.After(cfg.Limit)", nil},
		"function":          {"within(t, time.Second, done)\nwithin(t, time.Minute, done)\npause(time.Second)", []string{"4: within with a limit of 1s: "}},
		"port":              {"net.Listen(\"tcp\", \"127.0.0.1:8080\")\nnet.Listen(\"tcp\", \"127.0.0.1:0\")", []string{"4: port 8080 may be in use: "}},
		"server":            {"http.ListenAndServe(\":8080\", nil)\ns := http.Server{Addr: \":8081\"}", []string{"4: port 8080 may", "5: port 8081 may"}},
		"port of a program": {"run(\"--listen\", \"127.0.0.1:8080\", \"--port\", \"0\", \"--sandbox-listen=:81\")\nrun([]string{\"-port\", \"82\"})", []string{"4: port 8080 may", "4: port 81 may", "5: port 82 may"}},
		"sample":            {"load(\"http: {listen: 127.0.0.1:8080}\")\ndial(\"127.0.0.1:1\", \"--url\", \"http://localhost:8080\")", nil},
		"exception":         {"time.Sleep(d) //testwaits:allow the service is slow", nil},
		"exception above":   {"// Some text.\n//testwaits:allow the service is slow\n// and says so\ntime.Sleep(d)\ntime.Sleep(d)", []string{"8: time.Sleep: "}},
		"on another line":   {"call() //testwaits:allow the service is slow\ntime.Sleep(d)", []string{"4: an exception without a finding: ", "5: time.Sleep: "}},
		"without a reason":  {"time.Sleep(d) //testwaits:allow", []string{"4: an exception without a reason: "}},
		"without a finding": {"//testwaits:allow the service is slow\ncall()", []string{"4: an exception without a finding: "}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			helpers := "\nfunc within(t *testing.T, limit time.Duration, so func() bool) {\nctx, cancel := context.WithTimeout(ctx, limit)\n}\nfunc pause(d time.Duration) { time.NewTimer(d) }\n"
			got := findingsOf(t, map[string]string{
				"a/a.go":      "package a\n\nconst patience = time.Minute\n\nfunc b() { time.Sleep(time.Second) }\n",
				"a/a_test.go": "package a\n\nfunc TestA(t *testing.T) {\n" + test.body + "\n}\n" + helpers,
			})
			same := slices.EqualFunc(got, test.want, func(got, want string) bool { return strings.HasPrefix(got, "a/a_test.go:"+want) })
			if !same {
				t.Errorf("findings %q, want %q", got, test.want)
			}
		})
	}
}

// Code that only tests use is checked like tests. Other code, generated folders and data are not.
func TestCheckedFiles(t *testing.T) {
	t.Parallel()
	const sleeps, pauses = "package a\n\nfunc a() { time.Sleep(d) }\n", "await page.waitForTimeout(200);\n"
	got := findingsOf(t, map[string]string{
		"a/a.go": sleeps, "a/a_test.go": sleeps, "internal/testkit/a/a.go": sleeps, "tools/bench/a/a.go": sleeps, "tools/bench/a/a_test.go": sleeps,
		".cache/a_test.go": sleeps, "a/testdata/a_test.go": sleeps,
		"tools/browser/a/a.mjs": pauses, "tools/browser/node_modules/a.mjs": pauses, "tools/api/a.mjs": pauses,
	})
	for i, want := range []string{"a/a_test.go:3: ", "internal/testkit/a/a.go:3: ", "tools/bench/a/a_test.go:3: ", "tools/browser/a/a.mjs:1: "} {
		if len(got) != 4 || !strings.HasPrefix(got[i], want) {
			t.Fatalf("findings %q, want 4, number %d in %s", got, i, want)
		}
	}
}

func TestFindingsInBrowserScenarios(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		text string
		want []string
	}{
		"waitForTimeout":    {"await page.click('a');\nawait page.waitForTimeout(200);", []string{"2: a sleep: "}},
		"promise":           {"await new Promise((resolve) => setTimeout(resolve, 50));\nawait new Promise(r => {\n  setTimeout(r, 50);\n});", []string{"1: a sleep: ", "2: a sleep: "}},
		"timers/promises":   {"await setTimeout(50);", []string{"1: a sleep: "}},
		"no sleep":          {"setTimeout(() => element.open('dish'));\nawait page.waitForFunction(() => ready);", nil},
		"exception":         {"await page.waitForTimeout(200); //testwaits:allow the browser reports no end", nil},
		"exception above":   {"//testwaits:allow the browser reports no end\n// of this\nawait page.waitForTimeout(200);", nil},
		"without a reason":  {"await page.waitForTimeout(200); //testwaits:allow ", []string{"1: an exception without a reason: "}},
		"without a finding": {"await page.click('a'); //testwaits:allow the browser is slow", []string{"1: an exception without a finding: "}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := findingsOf(t, map[string]string{"tools/browser/a.mjs": test.text})
			if !slices.EqualFunc(got, test.want, func(got, want string) bool { return strings.HasPrefix(got, "tools/browser/a.mjs:"+want) }) {
				t.Errorf("findings %q, want %q", got, test.want)
			}
		})
	}
}
