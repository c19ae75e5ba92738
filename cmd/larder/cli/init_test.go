package cli

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"larder.local/configs"
	"larder.local/internal/sandbox"
	"larder.local/internal/testkit/clitest"
)

// written returns the file that init wrote, which must be private and valid.
func written(t *testing.T, file string, env ...string) (*configs.Config, string) {
	t.Helper()
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode().Perm() != 0o600 {
		t.Errorf("%s has mode %v: it holds secrets", file, info.Mode())
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	cfg, err := configs.Load(file, env)
	if err != nil {
		t.Fatalf("larder does not take what init wrote: %v\n%s", err, text)
	}
	return cfg, string(text)
}

func TestInitAsks(t *testing.T) {
	t.Parallel()
	url := clitest.OrderingService(t, sandbox.Config{})
	file := filepath.Join(t.TempDir(), "larder.yaml")
	answers := strings.Join([]string{
		"S3CRET",                // asked again, and not shown
		url + "/orders/api/v1/", // as in the documentation
		"",                      // the token endpoint has the same address
		"demo", "demo-secret",
		sandbox.BistroID, "The Bistro: \"best\" for ${5}",
		"embedded", "",
	}, "\n")
	got := command{in: answers}.run(t, "init", file)
	if got.Status != StatusDone || !strings.Contains(got.Out, "larder serve --config "+file+"\n") {
		t.Fatalf("init: %+v", got)
	}
	if strings.Contains(got.Err, "S3CRET") || !strings.Contains(got.Err, notAddress("--base-url")) {
		t.Errorf("init shows what may be a secret: %s", got.Err)
	}
	for _, said := range []string{"ok  token: works with token_request document", "ok  menu without a restaurant: ", "ok  menu of " + sandbox.BistroID} {
		if !strings.Contains(got.Err, said) {
			t.Errorf("init does not say %q:\n%s", said, got.Err)
		}
	}
	cfg, text := written(t, file)
	c, r := cfg.Connections[0], cfg.Restaurants[0]
	if c.BaseURL != url || c.AuthURL != url || c.ClientID != "demo" || c.ClientSecret != "demo-secret" || r.ID != sandbox.BistroID || r.Name != `The Bistro: "best" for ${5}` {
		t.Errorf("init wrote\n%s", text)
	}
	if len(cfg.Auth.Clients) != 2 || len(cfg.Auth.Clients[0].Secret) < 16 || cfg.Auth.Clients[0].Secret == cfg.Auth.Clients[1].Secret {
		t.Errorf("the clients that init made: %+v", cfg.Auth.Clients)
	}
	if got := larder(t, "check", "--online", "--config", file); got.Status != StatusDone || strings.Contains(got.Out, "FAILED") {
		t.Errorf("check of what init wrote: %+v", got)
	}
}

func TestInitAsksAgainWhatDoesNotWork(t *testing.T) {
	t.Parallel()
	url := clitest.OrderingService(t, sandbox.Config{})
	file := filepath.Join(t.TempDir(), "larder.yaml")
	answers := strings.Join([]string{
		url, "", "demo", "wrong",
		"n",                       // not kept: asked again, Enter keeps the value
		"", "", "", "demo-secret", //
		"no-such-place", "n",
		"a/b", "n",
		sandbox.BistroID, "",
		"redis:/oops", "n",
		"embedded",
	}, "\n")
	got := command{in: answers}.run(t, "init", file)
	for _, said := range []string{
		"FAILED  token: ", "token_request document and oauth: ", "; check client_id and client_secret", "; correct the id", "FAILED  menu of no-such-place",
		`FAILED  restaurants[0].id: "a/b"`, "FAILED  redis.url: ",
	} {
		if !strings.Contains(got.Err, said) {
			t.Errorf("init does not say %q:\n%s", said, got.Err)
		}
	}
	if got.Status != StatusDone || strings.Contains(got.Err+got.Out, "demo-secret") {
		t.Fatalf("init: %+v", got)
	}
	if cfg, text := written(t, file); cfg.Connections[0].ClientSecret != "demo-secret" || len(cfg.Restaurants) != 1 || strings.Contains(text, "wrong") {
		t.Errorf("init wrote\n%s", text)
	}
}

// Values can be kept after a failed test: the service may be unreachable from here.
func TestInitKeepsWhatDoesNotWork(t *testing.T) {
	t.Parallel()
	const url = "http://127.0.0.1:1"
	file := filepath.Join(t.TempDir(), "larder.yaml")
	got := command{in: strings.Join([]string{url, "", "demo", "demo-secret", "y", "north", "North", "redis://127.0.0.1:1", "y", ""}, "\n")}.run(t, "init", file)
	if got.Status != StatusDone || strings.Count(got.Err, "FAILED") != 2 || !strings.Contains(got.Out, "appendonly yes\n  maxmemory-policy noeviction") {
		t.Fatalf("init: %+v", got)
	}
	if cfg, text := written(t, file); cfg.Connections[0].BaseURL != url || cfg.Restaurants[0].Name != "North" || !strings.Contains(text, "Not tried yet") {
		t.Errorf("init wrote\n%s", text)
	}
}

// unattended returns the flags of a complete init without questions.
func unattended(url, file string, more ...string) []string {
	return append([]string{
		"init", file, "--yes", "--base-url", url, "--client-id", "demo", "--restaurant", sandbox.BistroID, "--redis", "embedded",
	}, more...)
}

func TestInitUnattended(t *testing.T) {
	t.Parallel()
	url := clitest.OrderingService(t, sandbox.Config{ClientSecret: "with ${NAME} inside"})
	dir := t.TempDir()
	secret := filepath.Join(dir, "secret")
	if err := os.WriteFile(secret, []byte("with ${NAME} inside\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		args, env []string
		has       string // in the file
	}{
		"the secret itself, by its variable": {nil, []string{"LARDER_INIT_CLIENT_SECRET=with ${NAME} inside"}, `client_secret: "with $${NAME} inside"`},
		"a file":                             {[]string{"--client-secret-file", secret}, nil, `client_secret_file: "` + secret + `"`},
		"a variable":                         {[]string{"--client-secret-env", "ORDERS_SECRET"}, []string{"ORDERS_SECRET=with ${NAME} inside"}, `client_secret: ${ORDERS_SECRET}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "larder.yaml")
			got := command{env: tc.env}.run(t, unattended(url, file, tc.args...)...)
			if got.Status != StatusDone || strings.Contains(got.Err, "FAILED") || !strings.Contains(got.Err, "ok  menu of "+sandbox.BistroID) {
				t.Fatalf("init --yes: %+v", got)
			}
			cfg, text := written(t, file, tc.env...)
			if !strings.Contains(text, tc.has) || !strings.Contains(text, "\n    token_request: document\n") || len(cfg.Restaurants) != 1 || cfg.Connections[0].ClientSecret != "with ${NAME} inside" {
				t.Errorf("no %q in\n%s", tc.has, text)
			}
		})
	}
}

// A service without a default menu is no failure; one that does not answer is.
func TestInitWithoutADefaultMenu(t *testing.T) {
	t.Parallel()
	for status, want := range map[int]int{http.StatusNotFound: StatusDone, http.StatusBadRequest: StatusDone, http.StatusBadGateway: StatusFailed} {
		service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			switch {
			case r.URL.Path == "/connect/token":
				_, _ = io.WriteString(w, `{"access_token":"t","expires_in":3600,"token_type":"Bearer"}`)
			case r.URL.Query().Get("restaurantId") != "":
				_, _ = io.WriteString(w, `{"result":{"products":[]}}`)
			default:
				w.WriteHeader(status)
			}
		}))
		t.Cleanup(service.Close)
		file := filepath.Join(t.TempDir(), "larder.yaml")
		got := command{env: []string{"LARDER_INIT_CLIENT_SECRET=demo-secret"}}.run(t, unattended(service.URL, file)...)
		if got.Status != want || (want == StatusDone) != strings.Contains(got.Err, "ok  menu without a restaurant: none") || (want == StatusDone) == strings.Contains(got.Err, "FAILED") {
			t.Errorf("init --yes, default menu %d: %+v", status, got)
		}
		if want == StatusDone {
			if cfg, text := written(t, file); cfg.Connections[0].KeepsDefaultMenu() {
				t.Errorf("init wrote\n%s", text)
			}
		}
	}
}

func TestInitPrintsJSON(t *testing.T) {
	t.Parallel()
	url := clitest.OrderingService(t, sandbox.Config{})
	for name, tc := range map[string]struct {
		args  []string
		form  string
		tried []string
	}{
		"tried":   {nil, "document", []string{"token", "menu without a restaurant", "menu of " + sandbox.BistroID}},
		"untried": {[]string{"--offline"}, "", []string{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "larder.yaml")
			env := []string{"LARDER_INIT_CLIENT_SECRET=demo-secret"}
			got := command{env: env}.run(t, unattended(url, file, append(tc.args, "--json")...)...)
			if got.Status != StatusDone {
				t.Fatalf("init --json: %+v", got)
			}
			result := clitest.FromJSON[initResult](t, got.Out)
			tried := []string{}
			for _, f := range result.Tried {
				tried = append(tried, f.Subject)
			}
			if result.File != file || result.TokenRequest != tc.form || result.Redis != "embedded" ||
				!slices.Equal(result.Restaurants, []string{sandbox.BistroID}) || !slices.Equal(tried, tc.tried) || len(result.Next) != 3 {
				t.Errorf("init --json printed\n%s", got.Out)
			}
			if strings.Contains(got.Out, "demo-secret") {
				t.Error("the secret is printed")
			}
		})
	}
}

func TestInitUnattendedFailsAndWritesNothing(t *testing.T) {
	t.Parallel()
	url := clitest.OrderingService(t, sandbox.Config{})
	secret := []string{"LARDER_INIT_CLIENT_SECRET=demo-secret"}
	for name, tc := range map[string]struct {
		args, env []string
		status    int
		says      string
	}{
		"wrong credentials": {nil, []string{"LARDER_INIT_CLIENT_SECRET=wrong"}, StatusFailed, "invalid_client"},
		"no secret":         {nil, nil, StatusUsage, "LARDER_INIT_CLIENT_SECRET, --client-secret-file or --client-secret-env"},
		"nobody there":      {[]string{"--base-url", "http://127.0.0.1:1"}, secret, StatusFailed, "connection refused"},
		"a secret as URL":   {[]string{"--base-url", "S3CRET"}, secret, StatusUsage, "--base-url: not a valid URL: start it with http:// or https:// (the input is not shown"},
		"a secret as Redis": {[]string{"--redis", "S3CRET"}, secret, StatusUsage, "--redis: not a valid URL: write embedded or redis://host:6379 (the input is not shown"},
		"no address":        {[]string{"--base-url", ""}, secret, StatusUsage, "--base-url is missing"},
		"no such place":     {[]string{"--restaurant", "nowhere"}, secret, StatusFailed, "menu of nowhere"},
		"no restaurant id":  {[]string{"--restaurant", "a b"}, secret, StatusFailed, "a b"},
		"no Redis there":    {[]string{"--redis", "redis://127.0.0.1:1"}, secret, StatusFailed, "redis: "},
		"no such variable":  {[]string{"--client-secret-env", "NOTHING"}, nil, StatusFailed, "NOTHING is not set"},
		"no such file":      {[]string{"--client-secret-file", "/nothing"}, nil, StatusFailed, "no such file"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "larder.yaml")
			got := command{env: tc.env}.run(t, unattended(url, file, tc.args...)...)
			if got.Status != tc.status || !strings.Contains(got.Err, tc.says) || tc.status == StatusFailed && !strings.Contains(got.Err, "nothing was written. Use ") {
				t.Errorf("init: %+v, want %d and %q", got, tc.status, tc.says)
			}
			if strings.Contains(got.Err, "S3CRET") {
				t.Errorf("init shows what may be a secret: %s", got.Err)
			}
			if _, err := os.Stat(file); !os.IsNotExist(err) {
				t.Errorf("there is a file all the same: %v", err)
			}
		})
	}
}

func TestInitNeverOverwritesWithoutBeingTold(t *testing.T) {
	t.Parallel()
	url := clitest.OrderingService(t, sandbox.Config{})
	file := clitest.WriteFile(t, "larder.yaml", "mine\n")
	env := []string{"LARDER_INIT_CLIENT_SECRET=demo-secret"}
	for name, tc := range map[string]struct {
		in   string
		args []string
	}{
		"unattended": {"", unattended(url, file)},
		"asking":     {"y\n", []string{"init", file}},
	} {
		got := command{env: env, in: tc.in}.run(t, tc.args...)
		if text, err := os.ReadFile(file); err != nil || string(text) != "mine\n" || got.Status == StatusDone {
			t.Errorf("%s: %+v; the file is %q, %v", name, got, text, err)
		}
	}
	if got := (command{env: env}).run(t, unattended(url, file, "--overwrite")...); got.Status != StatusDone {
		t.Errorf("init --overwrite: %+v", got)
	}
	written(t, file)
	if left, err := os.ReadDir(filepath.Dir(file)); err != nil || len(left) != 1 {
		t.Errorf("init leaves %v behind, %v", left, err)
	}
	if got := larder(t, "init", filepath.Dir(file)); got.Status != StatusFailed || !strings.Contains(got.Err, "already exists") {
		t.Errorf("init of a folder: %+v", got)
	}
}

func TestInitOfflineAsksNobody(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "larder.yaml")
	got := command{env: []string{"LARDER_INIT_CLIENT_SECRET=x"}}.run(t, unattended("https://orders.example", file, "--offline")...)
	if got.Status != StatusDone {
		t.Fatalf("init --offline: %+v", got)
	}
	if cfg, text := written(t, file); cfg.Connections[0].BaseURL != "https://orders.example" || !strings.Contains(text, "Not tried yet") {
		t.Errorf("init --offline wrote\n%s", text)
	}
}
