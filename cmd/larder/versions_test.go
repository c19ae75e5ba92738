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

// Policy S4a: an operator looks at the quarantined menu before forcing it.
func TestTheQuarantinedMenuOnTheCommandLine_S4a(t *testing.T) {
	t.Parallel()
	base, kitchen, _ := runningDemo(t)
	ops := func(args ...string) string { return must(t, clitest.AsOps(base, args...)...) }
	const id = sandbox.BistroID
	ops("sync", id)
	serveMenu(t, kitchen, id, []byte(`{"result":{"categories":[],"products":[{"id":"new","externalId":"n","name":"New dish","price":5}],`+
		`"ingredientsSchemes":[],"ingredientsGroups":[],"ingredients":[]}}`))
	if got := larder(t, clitest.AsOps(base, "sync", id)...); !strings.Contains(got.Out, "dishes are gone (sync.guard.ids)") {
		t.Fatalf("sync prints %+v, want quarantined", got)
	}
	if diff := ops("menu", "diff", id, "--quarantined"); !strings.HasPrefix(diff, "+ new  New dish\n− ") {
		t.Errorf("menu diff prints %q", diff)
	}
	if changes := clitest.FromJSON[menu.Changes](t, ops("menu", "diff", id, "--quarantined", "--json")); len(changes.Added) != 1 || len(changes.Removed) == 0 {
		t.Errorf("menu diff --json: %+v", changes)
	}
	if show := ops("menu", "show", id, "--quarantined"); !strings.Contains(show, "New dish") || !strings.Contains(show, "1 dish") {
		t.Errorf("menu show prints %q", show)
	}
	if lint := ops("menu", "lint", id, "--quarantined"); !strings.Contains(lint, "category_missing") {
		t.Errorf("menu lint prints %q", lint)
	}
	ops("sync", "--force", id)
	for _, args := range [][]string{{"menu", "diff", id}, {"menu", "show", id}, {"menu", "lint", id}} {
		if got := larder(t, clitest.AsOps(base, append(args, "--quarantined")...)...); got.Status != cli.StatusFailed || !strings.Contains(got.Err, "there was no space for it") {
			t.Errorf("%v after a good run: %+v", args, got)
		}
	}
}

func TestWrongUsageOfVersions(t *testing.T) {
	t.Parallel()
	for name, args := range map[string][]string{
		"no version":               {"menu", "rollback", "one"},
		"a word":                   {"menu", "rollback", "one", "first"},
		"version 0":                {"menu", "rollback", "one", "0"},
		"another hold":             {"menu", "rollback", "one", "1", "--hold", "never"},
		"one menu":                 {"menu", "diff", "one"},
		"two menus and --from":     {"menu", "diff", "one", "two", "--from", "1"},
		"--to alone":               {"menu", "diff", "one", "--to", "1"},
		"a version before all":     {"menu", "diff", "one", "--from", "-1"},
		"versions of nothing":      {"menu", "versions"},
		"release of nothing":       {"menu", "release"},
		"--quarantined and --from": {"menu", "diff", "one", "--from", "1", "--quarantined"},
		"--quarantined of two":     {"menu", "diff", "one", "two", "--quarantined"},
		"no number after --to":     {"menu", "diff", "one", "--from", "1", "--to", "x"},
		"no number after --from":   {"menu", "diff", "one", "--from", "x"},
	} {
		if got := larder(t, args...); got.Status != cli.StatusUsage || got.Err == "" {
			t.Errorf("%s: %+v, want 2", name, got)
		}
	}
}
