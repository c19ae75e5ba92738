package main

import (
	"bytes"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"larder/internal/cli"
	"larder/internal/menu"
	"larder/internal/sandbox"
	"larder/internal/testkit/clitest"
	"larder/sync/runlog"
)

func TestMenuRollbackAndRelease(t *testing.T) {
	t.Parallel()
	base, kitchen, _ := runningDemo(t)
	ops := func(args ...string) string { return must(t, clitest.AsOps(base, args...)...) }
	const id = sandbox.BistroID
	raw := sandbox.Bistro(id, "/photos")
	first := regexp.MustCompile(`"price": ?[0-9.]+`).Find(raw)
	if first == nil {
		t.Fatal("the bistro's menu has no price")
	}
	ops("sync", id)
	serveMenu(t, kitchen, id, bytes.Replace(raw, first, []byte(`"price": 12345`), 1))
	ops("sync", id)

	if out := ops("menu", "versions", id); strings.Count(out, "\n") != 3 || !strings.HasPrefix(out, "VERSION  PUBLISHED (UTC)") || !strings.Contains(out, "  served now\n") {
		t.Errorf("menu versions prints %q", out)
	}
	diff := ops("menu", "diff", id, "--from", "1")
	if !strings.HasPrefix(diff, "~ ") || !strings.HasSuffix(diff, " → 12345\n") || diff != ops("menu", "diff", id, "--from", "1", "--to", "2") {
		t.Errorf("menu diff --from prints %q", diff)
	}
	if changes := clitest.FromJSON[menu.Changes](t, ops("menu", "diff", id, "--from", "2", "--json")); !changes.Empty() {
		t.Errorf("menu diff of the current version with itself: %+v", changes)
	}

	if out := ops("menu", "rollback", id, "1", "--hold", "released"); !strings.HasPrefix(out, id+"  updated  version 3  ") {
		t.Errorf("menu rollback prints %q", out)
	}
	if out := ops("menu", "versions", id); !strings.Contains(out, "  served now, held until released\n") {
		t.Errorf("menu versions prints %q", out)
	}
	if out := must(t, "status", "--url", base); !strings.Contains(out, "1 held (Larder Bistro ("+id+"))") {
		t.Errorf("status prints %q", out)
	}
	if out := ops("menu", "diff", id, "--from", "1"); out != "no difference\n" {
		t.Errorf("what is held differs: %q", out)
	}
	if out := ops("menu", "release", id); !strings.HasPrefix(out, id+"  updated  version 4  ") {
		t.Errorf("menu release prints %q", out)
	}
	run := clitest.FromJSON[runlog.Run](t, ops("menu", "rollback", id, "1", "--json"))
	if run.Rollback == nil || run.Rollback.Version != 1 || run.Version != 5 {
		t.Errorf("menu rollback --json prints %+v", run)
	}
	if out := ops("menu", "versions", id); !strings.Contains(out, "  served now, held until the service publishes another menu\n") {
		t.Errorf("menu versions prints %q", out)
	}
	if got := larder(t, clitest.AsOps(base, "menu", "rollback", id, "77")...); got.Status != cli.StatusFailed || !strings.Contains(got.Err, "404 version_not_found: version 77 is not in the history") {
		t.Errorf("menu rollback to a version that never was: %+v", got)
	}
	if got := larder(t, "menu", "release", id, "--url", base); got.Status != cli.StatusFailed || !strings.Contains(got.Err, "401 unauthorized") {
		t.Errorf("menu release without a token: %+v", got)
	}
}

// serveMenu sets a menu of the sandbox.
func serveMenu(t *testing.T, kitchen, id string, raw []byte) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPut, kitchen+"/sandbox/menus/"+id, bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		t.Fatalf("the sandbox takes the menu with %s", response.Status)
	}
}

func TestWrongUsageOfVersions(t *testing.T) {
	t.Parallel()
	for name, args := range map[string][]string{
		"no version":             {"menu", "rollback", "one"},
		"a word":                 {"menu", "rollback", "one", "first"},
		"version 0":              {"menu", "rollback", "one", "0"},
		"another hold":           {"menu", "rollback", "one", "1", "--hold", "never"},
		"one menu":               {"menu", "diff", "one"},
		"two menus and --from":   {"menu", "diff", "one", "two", "--from", "1"},
		"--to alone":             {"menu", "diff", "one", "--to", "1"},
		"a version before all":   {"menu", "diff", "one", "--from", "-1"},
		"versions of nothing":    {"menu", "versions"},
		"release of nothing":     {"menu", "release"},
		"no number after --to":   {"menu", "diff", "one", "--from", "1", "--to", "x"},
		"no number after --from": {"menu", "diff", "one", "--from", "x"},
	} {
		if got := larder(t, args...); got.Status != cli.StatusUsage || got.Err == "" {
			t.Errorf("%s: %+v, want 2", name, got)
		}
	}
}
