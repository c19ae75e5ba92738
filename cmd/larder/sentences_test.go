package main

import (
	"context"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"larder.local/cmd/larder/cli"
	"larder.local/internal/testkit/clitest"
	"larder.local/internal/testkit/doctest"
)

var (
	flagWord   = regexp.MustCompile(`^--?([a-z-]+)`)
	targetForm = regexp.MustCompile(`(?m)^([a-z-]+):`)
	routeForm  = regexp.MustCompile(`^(GET|HEAD|POST|PUT|PATCH|DELETE) (/[^\s?]+)(\?\S*)?$`)
	partForm   = regexp.MustCompile(`\{[^}]*\}|…`)
)

// TestCommandsInSentences checks that the commands in sentences of pages (`larder sync
// --all`, `make test`) exist. TestDocs runs commands in blocks.
func TestCommandsInSentences(t *testing.T) {
	t.Parallel()
	pages, err := doctest.Find(root, "README.md", "CHANGELOG.md", "docs", "deploy")
	if err != nil {
		t.Fatal(err)
	}
	makefile, err := os.ReadFile(filepath.Join(root, "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	targets := map[string]bool{}
	for _, target := range targetForm.FindAllStringSubmatch(string(makefile), -1) {
		targets[target[1]] = true
	}
	seen := 0
	for _, page := range pages {
		for _, span := range page.Spans() {
			words := strings.Fields(span)
			switch {
			case len(words) < 2 || words[1] == "…":
			case words[0] == "larder":
				seen++
				if wrong := noCommand(words[1:]); wrong != "" {
					t.Errorf("%s: `%s`: %s", page.Path, span, wrong)
				}
			case words[0] == "make" && !targets[words[1]]:
				t.Errorf("%s: `%s`: the Makefile has no such target", page.Path, span)
			}
		}
	}
	if least := 30; seen < least {
		t.Errorf("%d commands found, there were %d once", seen, least)
	}
}

// noCommand returns what larder does not know of a command line, or "".
func noCommand(words []string) string {
	cmd, rest, err := newRoot(&cli.Environment{}).Find(words)
	if err != nil {
		return err.Error()
	}
	cmd.InitDefaultHelpFlag()
	cmd.InitDefaultVersionFlag()
	for _, word := range rest {
		name := flagWord.FindStringSubmatch(word)
		if name == nil {
			if cmd.HasSubCommands() && word == strings.ToLower(word) {
				return cmd.CommandPath() + " has no " + word
			}
			continue
		}
		if cmd.Flags().Lookup(name[1]) == nil && cmd.InheritedFlags().Lookup(name[1]) == nil && cmd.Flags().ShorthandLookup(name[1][:1]) == nil {
			return cmd.CommandPath() + " has no --" + name[1]
		}
	}
	return ""
}

// TestRoutesInSentences requests each route in sentences of pages (`GET
// /v1/orders/{orderID}`) from a demo, which must know the route.
func TestRoutesInSentences(t *testing.T) {
	t.Parallel()
	pages, err := doctest.Find(root, "README.md", "CHANGELOG.md", "docs", "deploy")
	if err != nil {
		t.Fatal(err)
	}
	base, kitchen, _ := runningDemo(t)
	token, err := demoToken(t.Context(), base, "ops")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/v1/nothing", "/sandbox/nothing"} {
		if knowsRoute(t, base, kitchen, token, http.MethodGet, path) {
			t.Fatalf("%s passes for a route", path)
		}
	}
	asked := map[string]bool{}
	for _, page := range pages {
		for _, span := range page.Spans() {
			route := routeForm.FindStringSubmatch(span)
			if route == nil || asked[span] {
				continue
			}
			asked[span] = true
			if path := partForm.ReplaceAllString(route[2], "1"); !knowsRoute(t, base, kitchen, token, route[1], path) {
				t.Errorf("%s: `%s` is no route", page.Path, span)
			}
		}
	}
	if least := 20; len(asked) < least {
		t.Errorf("%d routes found, there were %d once", len(asked), least)
	}
}

// knowsRoute reports whether the response is about a resource, not about an unknown
// path or method.
func knowsRoute(t *testing.T, base, kitchen, token, method, path string) bool {
	t.Helper()
	if strings.HasPrefix(path, "/sandbox") {
		base = kitchen
	}
	ctx, cancel := context.WithTimeout(t.Context(), clitest.WaitLimit)
	defer cancel() // ends streams too
	request, err := http.NewRequestWithContext(ctx, method, base+path, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+token)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	var problem struct {
		Code string `json:"code"`
	}
	if response.StatusCode == http.StatusNotFound {
		_ = json.NewDecoder(response.Body).Decode(&problem) // a response that is not JSON has no code
	}
	return response.StatusCode != http.StatusMethodNotAllowed &&
		(response.StatusCode != http.StatusNotFound || problem.Code != "" && problem.Code != "not_found")
}
