package cli

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"larder.local/internal/testkit/clitest"
)

// completed is the completion that a shell gets: words and a directive.
func completed(t *testing.T, args ...string) (words []string, directive string) {
	t.Helper()
	lines := strings.Split(strings.TrimSpace(must(t, append([]string{"__complete"}, args...)...)), "\n")
	return lines[:len(lines)-1], lines[len(lines)-1]
}

// The directives of cobra that the tests use.
const (
	filesToo   = ":0"
	wordsAlone = ":4"
	byEnding   = ":8"
)

func TestCompletionOfWords(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		args      []string
		words     string
		directive string
	}{
		"log levels":         {[]string{"serve", "--log-level", ""}, "debug info warn error", wordsAlone},
		"states of orders":   {[]string{"order", "list", "--state", ""}, strings.Join(stateNames(), " "), wordsAlone},
		"states of menus":    {[]string{"restaurant", "list", "--state", ""}, strings.Join(restaurantStates(), " "), wordsAlone},
		"orders of a list":   {[]string{"restaurant", "list", "--sort", ""}, "name state age last-run", wordsAlone},
		"how it is resolved": {[]string{"order", "resolve", "--outcome", ""}, "done not_done send_again", wordsAlone},
		"configurations":     {[]string{"serve", "--config", ""}, "yaml yml", byEnding},
		"after an argument":  {[]string{"order", "place", "a.json", "--config", ""}, "yaml yml", byEnding},
		"orders of files":    {[]string{"order", "place", ""}, "json", byEnding},
		"one order alone":    {[]string{"order", "place", "a.json", ""}, "", wordsAlone},
		"a new one":          {[]string{"init", ""}, "yaml yml", byEnding},
		"an address":         {[]string{"status", "--url", ""}, "", wordsAlone},
		"nothing":            {[]string{"version", ""}, "", wordsAlone},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			words, directive := completed(t, tc.args...)
			if strings.Join(words, " ") != tc.words || directive != tc.directive {
				t.Errorf("%v offers %q %s, want %q %s", tc.args, words, directive, tc.words, tc.directive)
			}
		})
	}
}

func TestCompletionAsksTheRunningLarder(t *testing.T) {
	t.Parallel()
	base := clitest.Daemon(t, map[string]http.HandlerFunc{
		"GET /v1/restaurants": clitest.Says(200, `{"result":[{"id":"north","name":"North Pier"},{"id":"northern","name":"northern"},{"id":"south","name":"by the north sea"}],"next":null}`),
	})
	for name, tc := range map[string]struct {
		args      []string
		words     string
		directive string
	}{
		"those that begin so":           {[]string{"sync", "--url", base, "nor"}, "north\tNorth Pier|northern\tnorthern", wordsAlone},
		"not one that is there already": {[]string{"sync", "--url", base, "north", "nor"}, "northern\tnorthern", wordsAlone},
		"one alone":                     {[]string{"menu", "versions", "--url", base, "north", ""}, "", wordsAlone},
		"files where none begins so":    {[]string{"menu", "show", "--url", base, "./"}, "", filesToo},
		"a flag's":                      {[]string{"order", "place", "--url", base, "--restaurant", "s"}, "south\tby the north sea", wordsAlone},
		"nobody answers":                {[]string{"sync", "--url", "http://127.0.0.1:1", ""}, "", wordsAlone},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			words, directive := completed(t, tc.args...)
			if got := strings.Join(words, "|"); got != tc.words || directive != tc.directive {
				t.Errorf("%v offers %q %s, want %q %s", tc.args, got, directive, tc.words, tc.directive)
			}
		})
	}
}

// A shell must not wait for a daemon that does not respond.
func TestCompletionIsBounded(t *testing.T) {
	t.Parallel()
	base := clitest.Daemon(t, map[string]http.HandlerFunc{
		"GET /v1/restaurants": func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
	})
	began := time.Now()
	if words, _ := completed(t, "sync", "--url", base, ""); len(words) > 0 {
		t.Errorf("offers %q", words)
	}
	if took := time.Since(began); took > 10*completionLimit {
		t.Errorf("took %v, want about %v", took, completionLimit)
	}
}
