package upstream_test

import (
	"slices"
	"testing"

	"larder.local/internal/upstream"
)

// Policy O16: the source is the host, port and path of base_url and the client_id.
func TestSource(t *testing.T) {
	t.Parallel()
	const same = "pos.example/api c"
	for address, want := range map[string]string{
		"https://pos.example/api":          same,
		"http://pos.example/api":           same, // http and https are the same
		"https://POS.example:443/API/":     same, // lower case, no default port, no final /
		"http://pos.example:80/api":        same,
		"http://pos.example:443/api":       same,
		"https://pos.example:8443/api":     "pos.example:8443/api c",
		"https://pos.example":              "pos.example c",
		"https://pos.example/":             "pos.example c",
		"https://other.example/api":        "other.example/api c",
		"http://[::1]:80/api":              "[::1]/api c",
		"http://[::1]:9000/api":            "[::1]:9000/api c",
		"https://pos.example/api/branch-2": "pos.example/api/branch-2 c",
	} {
		if got := upstream.Source(upstream.Config{BaseURL: address, ClientID: "c"}); got != want {
			t.Errorf("Source(%s) = %q, want %q", address, got, want)
		}
	}
	if got := upstream.Source(upstream.Config{BaseURL: "https://pos.example/api", ClientID: "D"}); got != "pos.example/api D" {
		t.Errorf("another client at the same address: %q", got)
	}
}

// former_urls and former_client_ids are the same source everywhere.
func TestFormerSources(t *testing.T) {
	t.Parallel()
	sources := upstream.NewSources([]upstream.Config{{
		Name: "main", BaseURL: "https://new.example", ClientID: "new",
		FormerURLs: []string{"http://old.example/"}, FormerClientIDs: []string{"old"},
	}})
	want := []string{"new.example new", "old.example new", "new.example old", "old.example old"}
	if got := sources.Names("main"); !slices.Equal(got, want) {
		t.Errorf("Names = %q, want %q", got, want)
	}
	for source, same := range map[string]bool{"new.example new": true, "old.example old": true, "old.example other": false, "": false} {
		if sources.Same("main", source) != same {
			t.Errorf("Same(%q) = %v", source, !same)
		}
	}
	if sources.Same("gone", "new.example new") {
		t.Error("a connection that is not configured has a source")
	}
	if address, client := upstream.SourceParts("old.example/api old"); address != "old.example/api" || client != "old" {
		t.Errorf("SourceParts = %q, %q", address, client)
	}
}
