package configs

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

const ofNewerLarder = `http:
  listen: 127.0.0.1:8080
  hologram: {beams: 3}
connections:
  - name: main
    base_url: http://127.0.0.1:9
    auth_url: http://127.0.0.1:9
    client_id: a
    client_secret: b
    token_request: {encoding: urlencoded, audience_field: audience}
restaurants:
  - {id: a, ordering: {courses: 4}}
telepathy:
  range: 10
sync:
  history: 3
`

// An older version starts with the configuration of a newer one.
func TestAllowUnknownKeys(t *testing.T) {
	t.Parallel()
	if _, err := Parse("larder.yaml", []byte(ofNewerLarder), nil); err == nil {
		t.Error("without the option unknown keys are no error")
	}
	cfg, err := Parse("larder.yaml", []byte(ofNewerLarder), nil, AllowUnknownKeys)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		`larder.yaml:13:1: unknown key "telepathy" in the configuration is ignored`,
		`larder.yaml:3:3: unknown key "hologram" in http is ignored`,
		`larder.yaml:10:43: unknown key "audience_field" in connections[0].token_request is ignored`,
		`larder.yaml:12:24: unknown key "courses" in restaurants[0].ordering is ignored`,
	}
	if got := cfg.Warnings(); !slices.Equal(got, want) {
		t.Errorf("the warnings are\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if request := cfg.Connections[0].TokenRequest; cfg.Sync.History != 3 || request.Encoding != "urlencoded" || request.ClientIDField != "client_id" {
		t.Errorf("the keys beside the unknown ones are not read: history %d, token request %v", cfg.Sync.History, request)
	}
}

func TestAllowUnknownKeys_NotForTyposAndAuth(t *testing.T) {
	t.Parallel()
	for text, says := range map[string]string{
		"http: {lisen: x}":                                 `larder.yaml:1:8: unknown key "lisen" in http: did you mean "listen"?`,
		"sync: {Shrink-Limit: 0.5}":                        `unknown key "Shrink-Limit" in sync: did you mean "shrink_limit"?`,
		"connections: [{client_secret_fle: x}]":            `did you mean "client_secret_file"?`,
		"connections: [{token_request: {scope_feild: x}}]": `unknown key "scope_feild" in connections[0].token_request: did you mean "scope_field"?`,
		"auht: {}":                            `unknown key "auht" in the configuration: did you mean "auth"?`,
		"auth: {require_second_factor: true}": `larder.yaml:1:8: unknown key "require_second_factor" in auth: the keys are `,
		"auth: {clients: [{id: a, networks: [10.0.0.0/8]}]}":     `unknown key "networks" in auth.clients[0]: the keys are `,
		"http:\n  listen: 127.0.0.1:8080\n  auth: {clients: []}": `larder.yaml:3:3: unknown key "auth" in http: `, // indented by mistake
	} {
		if _, err := Parse("larder.yaml", []byte(text+"\n"), nil, AllowUnknownKeys); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want %s", text, err, says)
		}
	}
}

// Under auth an unknown key is an error even with the option. The message says so.
func TestUnknownKeyUnderAuth_AlwaysAnError(t *testing.T) {
	t.Parallel()
	const always = "under auth this is an error even with --allow-unknown-keys: correct or remove the key"
	for text, underAuth := range map[string]bool{
		"auth: {require_second_factor: true}":                    true,
		"auth: {clents: []}":                                     true,
		"auth: {clients: [{id: a, networks: [10.0.0.0/8]}]}":     true,
		"http:\n  listen: 127.0.0.1:8080\n  auth: {clients: []}": true,
		"telepathy: {range: 10}":                                 false,
		"http: {hologram: {}}":                                   false,
	} {
		for _, options := range [][]Option{nil, {AllowUnknownKeys}} {
			_, err := Parse("larder.yaml", []byte(text+"\n"), nil, options...)
			var problems Errors
			errors.As(err, &problems)
			at := slices.IndexFunc(problems, func(f *Error) bool { return strings.Contains(f.Msg, "unknown key") })
			if at < 0 {
				if underAuth || options == nil {
					t.Errorf("%s: %v, want an unknown key", text, err)
				}
				continue
			}
			if got := problems[at]; strings.Contains(got.Msg, always) != underAuth || got.Ignorable == underAuth {
				t.Errorf("%s: %+v, want it under auth: %v", text, got, underAuth)
			}
		}
	}
}

func TestIsTypo(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, known string
		want        bool
	}{
		{"listen", "Listen", true},
		{"litsen", "listen", true},
		{"uri", "url", true},
		{"max_conections", "max_connections", true},
		{"max_conectoins", "max_connections", true},
		{"state_dir", "data_dir", false},
		{"hosts", "docs", false},
		{"guest_phone", "phone", false},
		{"ip", "id", false},
		{"x", "", false},
	} {
		if got := isTypo(c.name, c.known); got != c.want {
			t.Errorf("isTypo(%q, %q) = %v", c.name, c.known, got)
		}
	}
}

func TestReload_AllowsUnknownKeys(t *testing.T) {
	t.Parallel()
	text := running + "telepathy: {range: 10}\n"
	if _, _, err := reloaded(t, runningConfig(t), text); err == nil {
		t.Error("without the option an unknown key is no error")
	}
	next, _, err := reloaded(t, runningConfig(t), text, AllowUnknownKeys)
	if err != nil || len(next.Warnings()) != 1 || !strings.Contains(next.Warnings()[0], "/larder.yaml:7:1: ") {
		t.Errorf("Reload: %v, %v", next, err)
	}
}

// An unknown variable is a warning with and without the option, because a cluster may
// set other variables, and they must not block a rollback.
func TestAllowUnknownKeys_LeavesVariablesAsTheyAre(t *testing.T) {
	t.Parallel()
	for _, options := range [][]Option{nil, {AllowUnknownKeys}} {
		cfg, err := Load("", []string{"LARDER_HTTP_HOLOGRAM=1"}, options...)
		if err != nil || !slices.Equal(cfg.Warnings(), []string{"environment LARDER_HTTP_HOLOGRAM is not a setting and is ignored"}) {
			t.Errorf("Load: %v, %v", cfg, err)
		}
	}
}

// The error of a removed value names the replacement.
func TestRemovedValue(t *testing.T) {
	t.Parallel()
	const want = `larder.yaml:2:8: redis.url: "managed" was removed because larder does not start a redis-server; ` +
		`run Redis as a separate service; write "embedded", redis://`
	if got := problemsOf(t, "redis:\n  url: managed\n"); len(got) != 1 || !strings.HasPrefix(got[0], want) {
		t.Errorf("%q, want %s", got, want)
	}
}
