package configs

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const running = `http: {listen: "127.0.0.1:8080"}
connections:
  - {name: main, base_url: "http://127.0.0.1:9", auth_url: "http://127.0.0.1:9", client_id: a, client_secret: b}
restaurants:
  - {id: a, name: A}
  - {id: b, schedule: "@hourly"}
`

func runningConfig(t *testing.T) *Config {
	t.Helper()
	cfg, err := Parse("larder.yaml", []byte(running), nil)
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

// reloaded returns the result of a reload of old with this text. Its places begin with
// larder.yaml.
func reloaded(t *testing.T, old *Config, text string, options ...Option) (*Config, []string, error) {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, "larder.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	next, restart, err := old.Reload(path, nil, options...)
	if problems, ok := errors.AsType[Errors](err); ok {
		for _, problem := range problems {
			problem.File = strings.TrimPrefix(problem.File, dir+"/")
		}
	}
	return next, restart, err
}

func TestReloadTakesRestaurantsAndSchedules(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change  []string // pairs: old text, new text
		ids     string
		restart []string
	}{
		"nothing":               {ids: "a b"},
		"a restaurant more":     {change: []string{"  - {id: a, name: A}\n", "  - {id: a, name: A}\n  - {id: c}\n"}, ids: "a c b"},
		"a restaurant less":     {change: []string{"  - {id: a, name: A}\n", ""}, ids: "b"},
		"the default schedule":  {change: []string{"http: {", "sync: {schedule: \"@every 9m\"}\nhttp: {"}, ids: "a b"},
		"a client more":         {change: []string{"restaurants:\n", "auth: {clients: [{id: ops, secret: s, scopes: [ops]}]}\nrestaurants:\n"}, ids: "a b"},
		"a former url":          {change: []string{"client_id: a", "former_urls: [\"http://127.0.0.1:8\"], client_id: a"}, ids: "a b"},
		"a secret":              {change: []string{"client_secret: b", "client_secret: c"}, ids: "a b"},
		"a client id":           {change: []string{"client_id: a", "client_id: other"}, ids: "a b", restart: []string{"connections"}},
		"two sections and more": {change: []string{"8080", "8081", "http: {", "sync: {deadline: 9s}\nhttp: {", "id: b", "id: d"}, ids: "a d", restart: []string{"http", "sync"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			old := runningConfig(t)
			text := strings.NewReplacer(c.change...).Replace(running)
			next, restart, err := reloaded(t, old, text)
			if err != nil {
				t.Fatal(err)
			}
			var ids []string
			for _, r := range next.Restaurants {
				ids = append(ids, string(r.ID))
			}
			if got := strings.Join(ids, " "); got != c.ids {
				t.Errorf("restaurants %s, want %s", got, c.ids)
			}
			if diff := cmp.Diff(c.restart, restart); diff != "" {
				t.Errorf("sections that take a restart (-want +got):\n%s", diff)
			}
			if next.HTTP.Listen != old.HTTP.Listen || next.Sync.Deadline != old.Sync.Deadline ||
				next.Connections[0].ClientID != old.Connections[0].ClientID {
				t.Error("a section that takes a restart was changed")
			}
			if changed := name == "a secret"; (next.Connections[0].ClientSecret == "c") != changed {
				t.Errorf("the secret is %s", next.Connections[0].ClientSecret)
			}
			if clients := len(next.Auth.Clients); (clients == 1) != (name == "a client more") {
				t.Errorf("%d clients", clients)
			}
			if scheduled := name == "the default schedule"; (next.Sync.Schedule == "@every 9m") != scheduled {
				t.Errorf("sync.schedule is %s", next.Sync.Schedule)
			}
		})
	}
}

func TestReloadRejectsAConfigurationWithErrors(t *testing.T) {
	t.Parallel()
	text := strings.NewReplacer("8080", "nowhere", "@hourly", "now and then", "id: a,", "id: a/b,").Replace(running) + "sync: {runs: -1}\n"
	_, _, err := reloaded(t, runningConfig(t), text)
	var problems Errors
	if !errors.As(err, &problems) {
		t.Fatalf("reload: %v, want Errors", err)
	}
	got := make([]string, 0, len(problems))
	for _, problem := range problems {
		got = append(got, problem.Position.String()+" "+problem.Key)
	}
	want := []string{
		"larder.yaml:1:16 http.listen", "larder.yaml:5:10 restaurants[0].id",
		"larder.yaml:6:23 restaurants[1].schedule", "larder.yaml:7:14 sync.runs",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("problems (-want +got):\n%s\n%v", diff, err)
	}
}

func TestReloadRejectsANewConnection(t *testing.T) {
	t.Parallel()
	text := strings.Replace(running, "restaurants:\n", `  - {name: new, base_url: "http://127.0.0.1:9", auth_url: "http://127.0.0.1:9", client_id: a, client_secret: b}
restaurants:
  - {id: z, connection: new}
`, 1)
	text = strings.NewReplacer("name: A}", "connection: main}", `"@hourly"`, `"@hourly", connection: main`).Replace(text)
	_, _, err := reloaded(t, runningConfig(t), text)
	want := `larder.yaml:6:25: restaurants[0].connection: the connection "new" is new: restart larder to use it`
	if err == nil || err.Error() != want {
		t.Errorf("got %v\nwant %s", err, want)
	}
}

// Clients are checked against the listeners and connections that larder runs with.
func TestReloadRejectsInvalidClients(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ listen, clients, want string }{
		"of a new connection": {
			"8080", "{id: ops, secret: s, scopes: [ops], connection: new}",
			`larder.yaml:5:66: auth.clients[0].connection: the connection "new" is new: restart larder to use it`,
		},
		"with a short secret": {
			"8080", "{id: ops, secret: s, scopes: [ops]}",
			`larder.yaml:4:36: auth.clients[0].secret: is shorter than 16 bytes, which is not allowed because http.listen (0.0.0.0:8080) ` +
				"is reachable from other machines; create a random one with `openssl rand -base64 32`",
		},
		"H8: with a guessable secret": {
			"8080", "{id: ops, secret: larder-ops-secret, scopes: [ops]}",
			`larder.yaml:4:36: auth.clients[0].secret: can be guessed: it has words, names, dates, repeated characters or rows of keys, and too little else, ` +
				"which is not allowed because http.listen (0.0.0.0:8080) is reachable from other machines; create a random one with `openssl rand -base64 32`",
		},
		"with a short secret behind a proxy": {
			"8080", "{id: ops, secret: s, scopes: [ops]}",
			`larder.yaml:4:36: auth.clients[0].secret: is shorter than 16 bytes, which is not allowed because http.trusted_proxies lists a proxy, ` +
				"which forwards requests from other machines; create a random one with `openssl rand -base64 32`",
		},
	} {
		running := running
		if name == "with a short secret" || name == "H8: with a guessable secret" { // although the new file has a loopback listener
			running = strings.Replace(running, "127.0.0.1:8080", "0.0.0.0:8080", 1)
		}
		if name == "with a short secret behind a proxy" {
			running = strings.Replace(running, `8080"}`, `8080", trusted_proxies: [127.0.0.1]}`, 1)
		}
		old, err := Parse("larder.yaml", []byte(running), nil)
		if err != nil {
			t.Fatal(err)
		}
		text := strings.NewReplacer("0.0.0.0", "127.0.0.1", "restaurants:\n", "auth: {clients: ["+c.clients+"]}\nrestaurants:\n").Replace(running)
		if name == "of a new connection" {
			text = strings.Replace(text, "auth:", `  - {name: new, base_url: "http://127.0.0.1:9", auth_url: "http://127.0.0.1:9", client_id: a, client_secret: b}
auth:`, 1)
			text = strings.NewReplacer("name: A}", "connection: main}", `"@hourly"`, `"@hourly", connection: main`).Replace(text)
		}
		if _, _, err = reloaded(t, old, text); err == nil || err.Error() != c.want {
			t.Errorf("%s: %v\nwant %s", name, err, c.want)
		}
	}
}

func TestReloadOfAMissingFileKeepsWhatThereIs(t *testing.T) {
	t.Parallel()
	if _, _, err := runningConfig(t).Reload("no/such.yaml", nil); !errors.As(err, new(Errors)) {
		t.Errorf("Reload: %v, want Errors", err)
	}
}
