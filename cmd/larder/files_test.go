package main

import (
	"strings"
	"testing"

	"larder/internal/menu"
)

const soup = `{"result":{"name":"Lunch","categories":[{"id":"1","name":"Soups"}],"products":[
 {"id":"s","externalId":"e1","categoryId":"1","name":"Soup","price":4.5,"schemeId":"x"},
 {"id":"b","externalId":"e2","categoryId":"9","name":"Bread","price":1,"isContainInStopList":["north"]}],
"ingredientsSchemes":[{"id":"x","ingredientsGroups":[{"id":"g","minCount":1,"maxCount":2}]}],
"ingredientsGroups":[{"id":"g","name":"Spice","ingredients":["p"]}],
"ingredients":[{"id":"p","externalId":"e3","name":"Pepper","price":0}]}}`

func TestMenuLintOfAFile(t *testing.T) {
	t.Parallel()
	file := write(t, "menu.json", soup)
	got := larder(t, "menu", "lint", file)
	if !strings.Contains(got.out, "category_unknown") || !strings.Contains(got.out, " error") {
		t.Errorf("menu lint: %+v, want the unknown category", got)
	}
	findings := fromJSON[[]menu.Finding](t, larder(t, "menu", "lint", "--json", file).out)
	if len(findings) == 0 || findings[0].Products[0] != "b" {
		t.Errorf("menu lint --json: %+v, want the dish b", findings)
	}
	clean := command{in: strings.ReplaceAll(soup, `"categoryId":"9"`, `"categoryId":"1"`)}.run(t, "menu", "lint", "-")
	if clean.status != statusDone || clean.out != "0 errors, 0 warnings\n" {
		t.Errorf("menu lint of a menu without faults: %+v", clean)
	}
	if got := (command{in: `{"products":[}`}).run(t, "menu", "lint", "-"); got.status != statusFailed || !strings.Contains(got.err, "line 1") {
		t.Errorf("menu lint of broken JSON: %+v, want the line", got)
	}
}

func TestMenuShowOfAFile(t *testing.T) {
	t.Parallel()
	out := must(t, "menu", "show", "--restaurant", "north", write(t, "menu.json", soup))
	for _, part := range []string{`menu view "Lunch": 1 category, 2 dishes`, "\nSoups\n", "Spice: 1 to 2 of 1", "(no category)", "stopped"} {
		if !strings.Contains(out, part) {
			t.Errorf("no %q in\n%s", part, out)
		}
	}
	shown := command{in: soup}.run(t, "menu", "show", "--json", "-")
	if s := fromJSON[struct{ Result storefront }](t, shown.out); len(s.Result.Products) != 2 {
		t.Errorf("menu show --json: %+v", s)
	}
}

func TestMenuDiffOfFiles(t *testing.T) {
	t.Parallel()
	file := write(t, "menu.json", soup)
	changed := strings.NewReplacer(`"price":4.5`, `"price":5`, `"id":"b"`, `"id":"c"`, `["north"]`, `true`).Replace(soup)
	got := command{in: changed}.run(t, "menu", "diff", file, "-")
	want := "+ c  Bread\n− b  Bread\n~ s  Soup: price\n"
	if got.status != statusDone || got.out != want {
		t.Errorf("menu diff: %+v, want %q", got, want)
	}
	stopped := command{in: strings.ReplaceAll(soup, `["north"]`, "true")}.run(t, "menu", "diff", file, "-")
	if stopped.out != "! b  Bread: stopped\n" {
		t.Errorf("menu diff of a stop: %+v", stopped)
	}
	if out := must(t, "menu", "diff", file, file); out != "no difference\n" {
		t.Errorf("menu diff of a menu with itself: %q", out)
	}
	if changes := fromJSON[menu.Changes](t, command{in: changed}.run(t, "menu", "diff", "--json", file, "-").out); len(changes.Added) != 1 {
		t.Errorf("menu diff --json: %+v", changes)
	}
}

func TestChoose(t *testing.T) {
	t.Parallel()
	two := 2
	for want, got := range map[string]string{
		"any number": choose(0, nil), "at least 1": choose(1, nil), "2": choose(2, &two), "up to 2": choose(0, &two), "1 to 2": choose(1, &two),
	} {
		if got != want {
			t.Errorf("choose gives %q, want %q", got, want)
		}
	}
}
