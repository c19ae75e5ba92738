package cli

import (
	"net/http"
	"strings"
	"testing"

	"larder.local/internal/menu"
	"larder.local/internal/testkit/clitest"
)

func TestMenuLintOfAFile(t *testing.T) {
	t.Parallel()
	file := clitest.WriteFile(t, "menu.json", clitest.LunchMenu)
	got := larder(t, "menu", "lint", file)
	if !strings.Contains(got.Out, "category_unknown") || !strings.Contains(got.Out, " error") {
		t.Errorf("menu lint: %+v, want the unknown category", got)
	}
	findings := clitest.FromJSON[[]menu.Finding](t, larder(t, "menu", "lint", "--json", file).Out)
	if len(findings) == 0 || findings[0].Products[0] != "b" {
		t.Errorf("menu lint --json: %+v, want the dish b", findings)
	}
	clean := command{in: strings.ReplaceAll(clitest.LunchMenu, `"categoryId":"9"`, `"categoryId":"1"`)}.run(t, "menu", "lint", "-")
	if clean.Status != StatusDone || clean.Out != "0 errors, 0 warnings\n" {
		t.Errorf("menu lint of a menu without faults: %+v", clean)
	}
	if got := (command{in: `{"products":[}`}).run(t, "menu", "lint", "-"); got.Status != StatusFailed || !strings.Contains(got.Err, "line 1") {
		t.Errorf("menu lint of broken JSON: %+v, want the line", got)
	}
}

func TestMenuShowOfAFile(t *testing.T) {
	t.Parallel()
	out := must(t, "menu", "show", "--restaurant", "north", clitest.WriteFile(t, "menu.json", clitest.LunchMenu))
	for _, part := range []string{`menu view "Lunch": 1 category, 2 dishes`, "\nSoups\n", "Spice: 1 to 2 of 1", "(no category)", "out of stock"} {
		if !strings.Contains(out, part) {
			t.Errorf("no %q in\n%s", part, out)
		}
	}
	twice := strings.Replace(clitest.LunchMenu, `"name":"Bread","price":1`, `"name":"Bread","price":1},{"id":"s","categoryId":"2"`, 1)
	twice = strings.Replace(twice, `"name":"Soups"}`, `"name":"Soups"},{"id":"2","name":"Lunch"}`, 1)
	if out := (command{in: twice}).run(t, "menu", "show", "-").Out; strings.Count(out, "  Soup ") != 2 || !strings.Contains(out, "\nLunch\n") {
		t.Errorf("a dish in two categories is not shown in both:\n%s", out)
	}
	unpriced := strings.Replace(clitest.LunchMenu, `"price":4.5`, `"price":"4,5"`, 1)
	if out := (command{in: unpriced}).run(t, "menu", "show", "-").Out; !strings.Contains(out, "  no price  not orderable") {
		t.Errorf("a price that cannot be read:\n%s", out)
	}
	if out := must(t, "menu", "diff", clitest.WriteFile(t, "a.json", clitest.LunchMenu), clitest.WriteFile(t, "b.json", unpriced)); !strings.Contains(out, "price 4.5 → no price") {
		t.Errorf("a price that can no longer be read:\n%s", out)
	}
	shown := command{in: clitest.LunchMenu}.run(t, "menu", "show", "--json", "-")
	if s := clitest.FromJSON[struct{ Result Storefront }](t, shown.Out); len(s.Result.Products) != 2 {
		t.Errorf("menu show --json: %+v", s)
	}
}

func TestAMenuOfAFileHasNoTimeOfASync(t *testing.T) {
	t.Parallel()
	shown := command{in: clitest.LunchMenu}.run(t, "menu", "show", "--json", "-")
	answer := clitest.FromJSON[struct{ Result map[string]any }](t, shown.Out)
	if at, there := answer.Result["syncedAt"]; !there || at != nil {
		t.Errorf("menu show --json of a file has syncedAt %v, want null", at)
	}
}

func TestAnArgumentThatIsNeitherFileNorRestaurant(t *testing.T) {
	t.Parallel()
	gone := clitest.Says(404, `{"status":404,"code":"restaurant_not_found","msg":"the restaurant does not exist; known restaurants: one"}`)
	base := clitest.Daemon(t, map[string]http.HandlerFunc{
		"GET /v1/ops/restaurants/{id}/lint": clitest.Says(401, `{"status":401,"code":"unauthorized","msg":"a valid bearer token is required"}`),
		"GET /v1/restaurants/{id}/menu":     gone,
		"GET /v1/restaurants/one/menu":      clitest.Says(200, `{}`),
	})
	want := `"nosuchfile.json" is not a file, and the restaurant does not exist; known restaurants: one (larder at ` + base + "). Use an id or a name"
	for _, verb := range []string{"lint", "show"} {
		if got := larder(t, "menu", verb, "nosuchfile.json", "--url", base); got.Status != StatusFailed || !strings.Contains(got.Err, want) {
			t.Errorf("menu %s of nothing: %+v, want %q", verb, got, want)
		}
		got := larder(t, "menu", verb, "nosuchfile.json", "--url", "http://127.0.0.1:1")
		if got.Status != StatusFailed || !strings.Contains(got.Err, `"nosuchfile.json" is not a file, and the list of restaurants is not available: larder at`) {
			t.Errorf("menu %s of nothing without a daemon: %+v", verb, got)
		}
	}
	if got := larder(t, "menu", "lint", "one", "--url", base); !strings.Contains(got.Err, "401 unauthorized") {
		t.Errorf("menu lint of a restaurant without a token: %+v, want to be asked for one", got)
	}
}

func TestMenuDiffOfFiles(t *testing.T) {
	t.Parallel()
	file := clitest.WriteFile(t, "menu.json", clitest.LunchMenu)
	changed := strings.NewReplacer(`"Soup"`, `"Broth"`, `"price":4.5`, `"price":5`, `"id":"b"`, `"id":"c"`, `["north"]`, `true`).Replace(clitest.LunchMenu)
	got := command{in: changed}.run(t, "menu", "diff", file, "-")
	want := "+ c  Bread\n− b  Bread\n~ s  Broth: name \"Soup\" → \"Broth\", price 4.5 → 5\n"
	if got.Status != StatusDone || got.Out != want {
		t.Errorf("menu diff: %+v, want %q", got, want)
	}
	stopped := command{in: strings.ReplaceAll(clitest.LunchMenu, `["north"]`, "true")}.run(t, "menu", "diff", file, "-")
	if stopped.Out != "! b  Bread: out of stock\n" {
		t.Errorf("menu diff of a stop: %+v", stopped)
	}
	if out := must(t, "menu", "diff", file, file); out != "no difference\n" {
		t.Errorf("menu diff of a menu with itself: %q", out)
	}
	if changes := clitest.FromJSON[menu.Changes](t, command{in: changed}.run(t, "menu", "diff", "--json", file, "-").Out); len(changes.Added) != 1 {
		t.Errorf("menu diff --json: %+v", changes)
	}
}

func TestChoose(t *testing.T) {
	t.Parallel()
	two := 2
	for want, got := range map[string]string{
		"any number": quantityRange(0, nil), "at least 1": quantityRange(1, nil), "2": quantityRange(2, &two), "up to 2": quantityRange(0, &two), "1 to 2": quantityRange(1, &two),
	} {
		if got != want {
			t.Errorf("choose gives %q, want %q", got, want)
		}
	}
}
