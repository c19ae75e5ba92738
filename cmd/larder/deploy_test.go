package main

import (
	"debug/buildinfo"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"larder.local/cmd/larder/cli"
	"larder.local/configs"
	"larder.local/internal/testkit/clitest"
	"larder.local/internal/testkit/redistest"
)

// credential matches the file of a secret in the configurations of deploy/.
var credential = regexp.MustCompile(`/run/(?:credentials/larder\.service|secrets(?:/larder)?)/([a-z-]+)`)

// secretsOf copies a configuration of deploy/ into a folder of the test, creates files
// for its secrets there, and returns the names of the secrets.
func secretsOf(t *testing.T, file string) (path string, names []string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../../deploy", file))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, found := range credential.FindAllStringSubmatch(string(text), -1) {
		names = append(names, found[1])
		secret := found[1] + "-of-thirty-two-bytes-or-more"
		if found[1] == "redis-url" {
			secret = "redis://user:hush@redis.internal:6379"
		}
		if err := os.WriteFile(filepath.Join(dir, found[1]), []byte(secret+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	path = filepath.Join(dir, "larder.yaml")
	if err := os.WriteFile(path, []byte(credential.ReplaceAllString(string(text), dir+"/$1")), 0o600); err != nil {
		t.Fatal(err)
	}
	slices.Sort(names)
	return path, names
}

// deployed loads a configuration of deploy/.
func deployed(t *testing.T, file string) *configs.Config {
	t.Helper()
	path, _ := secretsOf(t, file)
	cfg, err := configs.Load(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

// shared is the setting for several instances in the manifests.
const shared = "LARDER_REDIS_SHARED=true"

// TestDeployedConfigurations runs `larder check` for each configuration of deploy/,
// with the environment variables of its manifest.
func TestDeployedConfigurations(t *testing.T) {
	t.Parallel()
	for file, test := range map[string]struct {
		env, wants []string
		empty      bool // it has no connection yet, which check rejects
	}{
		"systemd/larder.yaml":            {wants: []string{"ops-secret", "orders-secret", "redis-url", "storefront-secret"}},
		"compose/larder.yaml":            {env: []string{shared}, wants: []string{"ops-secret", "orders-secret", "redis-url", "storefront-secret"}},
		"kubernetes/example/larder.yaml": {env: []string{shared}, wants: []string{"ops-secret", "orders-secret", "redis-url", "storefront-secret"}},
		"kubernetes/base/larder.yaml":    {env: []string{shared}, wants: []string{"redis-url"}, empty: true},
	} {
		path, names := secretsOf(t, file)
		if !slices.Equal(names, test.wants) {
			t.Errorf("%s wants the secrets %q, not %q", file, names, test.wants)
		}
		got := command{env: test.env}.run(t, "check", "--config", path)
		if test.empty {
			if got.Status != cli.StatusFailed || strings.Count(got.Err, "larder.yaml:") != 1 || !strings.Contains(got.Err, ":1:1: connections: is empty, so there is nothing to serve") {
				t.Errorf("larder check of %s: %+v", file, got)
			}
			continue
		}
		if got.Status != cli.StatusDone || !strings.HasPrefix(got.Out, "ok      configuration: valid") || strings.Contains(got.Out, "warning") {
			t.Errorf("larder check of %s: %+v", file, got)
		}
	}
}

// Several instances with an embedded Redis would each have their own orders.
func TestDeployedConfigurations_RejectEmbeddedRedis(t *testing.T) {
	t.Parallel()
	const path = "../../configs/demo.yaml"
	for _, args := range [][]string{{"check", "--config", path}, {"serve", "--config", path}} {
		got := command{env: []string{shared}}.run(t, args...)
		if got.Status != cli.StatusFailed || !strings.Contains(got.Err, `environment LARDER_REDIS_SHARED: redis.shared: instances cannot share an embedded Redis`) {
			t.Errorf("larder %s: %+v", args[0], got)
		}
	}
}

// A proxy on this machine forwards requests of other machines (policy H8).
func TestAWeakSecretBehindALocalProxyIsRejected(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "larder.yaml")
	text := `http: {listen: "127.0.0.1:0", trusted_proxies: [127.0.0.1]}
connections: [{name: main, base_url: "http://127.0.0.1:9", auth_url: "http://127.0.0.1:9", client_id: a, client_secret: b}]
auth: {clients: [{id: ops, secret: x, scopes: [ops]}]}
`
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"check", "serve"} {
		got := command{}.run(t, name, "--config", file)
		if got.Status != cli.StatusFailed || !strings.Contains(got.Err, "auth.clients[0].secret: is shorter than 16 bytes, which is not allowed because http.trusted_proxies") {
			t.Errorf("larder %s: %+v", name, got)
		}
	}
}

// Valkey reads its password from the file that compose.yaml mounts and docs/deploy.md
// creates. Clients without the password are rejected.
func TestValkeyOfComposeHasAPassword(t *testing.T) {
	t.Parallel()
	line := regexp.MustCompile(`(?m)^    command: \[valkey-server, /run/secrets/valkey-auth, (.*)\]$`).FindStringSubmatch(readText(t, "../../deploy/compose.yaml"))
	if line == nil {
		t.Fatal("compose.yaml has no command of Valkey with its password's file")
	}
	if page := readText(t, "../../docs/deploy.md"); !strings.Contains(page, "echo \"requirepass $password\"") || !strings.Contains(page, "echo \"redis://:$password@valkey:6379\"") {
		t.Error("docs/deploy.md does not describe how to create both files")
	}
	if given := deployed(t, "compose/larder.yaml").Redis.URL; !strings.Contains(given, ":hush@") {
		t.Errorf("larder opens %s, not the address of the secret redis-url", given)
	}
	socket := filepath.Join(t.TempDir(), "s")
	args := []string{clitest.WriteFile(t, "valkey-auth", "requirepass hush-hush\n")}
	for word := range strings.SplitSeq(line[1], ", ") {
		args = append(args, strings.Trim(word, `"`))
	}
	p := &process{cmd: exec.CommandContext(t.Context(), redistest.Binary(t), append(args, "--port", "0", "--unixsocket", socket, "--dir", t.TempDir())...), log: clitest.NewWatched()}
	p.cmd.Stdout, p.cmd.Stderr = p.log, p.log
	p.start(t)
	p.log.Find(t, "(?i)ready to accept connections")
	for password, want := range map[string]string{"": "NOAUTH", "wrong": "WRONGPASS", "hush-hush": ""} {
		client := redis.NewClient(&redis.Options{
			Network:    "unix",
			Addr:       socket,
			Password:   password,
			MaxRetries: -1,
		})
		err := client.Ping(t.Context()).Err()
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("with the password %q: %v, want %q", password, err, want)
		}
		_ = client.Close()
	}
}

// TestEachSecretIsGiven checks that systemd and compose provide all secrets that the
// configuration reads.
func TestEachSecretIsGiven(t *testing.T) {
	t.Parallel()
	for file, by := range map[string]struct{ manifest, form string }{
		"systemd/larder.yaml":            {"systemd/larder.service", "\nLoadCredential=%:/etc/larder/secrets/%\n"},
		"compose/larder.yaml":            {"compose.yaml", "\n  %: {file: secrets/%}\n"},
		"kubernetes/example/larder.yaml": {"kubernetes/example/kustomization.yaml", "\n      - secrets/%\n"},
	} {
		manifest, err := os.ReadFile(filepath.Join("../../deploy", by.manifest))
		if err != nil {
			t.Fatal(err)
		}
		_, names := secretsOf(t, file)
		for _, name := range names {
			if line := strings.ReplaceAll(by.form, "%", name); !strings.Contains(string(manifest)+"\n", line) {
				t.Errorf("%s does not provide %s: no line %q", by.manifest, name, strings.TrimSpace(line))
			}
		}
	}
}

// TestManifestsWaitForAStop checks that each manifest waits at least as long as a stop of
// larder can take.
func TestManifestsWaitForAStop(t *testing.T) {
	t.Parallel()
	for file, by := range map[string]struct {
		manifest string
		waits    string // matches the seconds until the process is killed
		before   string // matches the seconds before larder receives the signal
	}{
		"systemd/larder.yaml":            {"systemd/larder.service", `(?m)^TimeoutStopSec=(\d+)$`, ""},
		"compose/larder.yaml":            {"compose.yaml", `(?s)\n  larder:\n.*?stop_grace_period: (\d+)s\n`, ""},
		"kubernetes/example/larder.yaml": {"kubernetes/base/deployment.yaml", `terminationGracePeriodSeconds: (\d+)\n`, `sleep: {seconds: (\d+)}`},
	} {
		text, err := os.ReadFile(filepath.Join("../../deploy", by.manifest))
		if err != nil {
			t.Fatal(err)
		}
		seconds := func(pattern string) time.Duration {
			found := regexp.MustCompile(pattern).FindStringSubmatch(string(text))
			if found == nil {
				t.Fatalf("%s: no %s", by.manifest, pattern)
			}
			n, err := time.ParseDuration(found[1] + "s")
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
		cfg := deployed(t, file)
		need := cfg.HTTP.DrainDelay + cfg.HTTP.DrainTimeout + cfg.Ordering.PlaceTimeout + stopGrace
		if by.before != "" {
			need += seconds(by.before)
		}
		if waits := seconds(by.waits); waits <= need {
			t.Errorf("%s waits %v, and larder may take %v to stop", by.manifest, waits, need)
		}
	}
}

// Scanners report a linked module with a known vulnerability even if larder does not
// use the vulnerable code.
func TestLinkedModulesAreFixed(t *testing.T) {
	t.Parallel()
	info, err := buildinfo.ReadFile(built)
	if err != nil {
		t.Fatal(err)
	}
	least := map[string][]int{"github.com/quic-go/quic-go": {0, 59, 1}} // CVE-2026-40898
	found := 0
	for _, module := range info.Deps {
		want, known := least[module.Path]
		if !known {
			continue
		}
		found++
		version := make([]int, 3)
		if _, err := fmt.Sscanf(module.Version, "v%d.%d.%d", &version[0], &version[1], &version[2]); err != nil {
			t.Fatalf("version %s of %s: %v", module.Version, module.Path, err)
		}
		if slices.Compare(version, want) < 0 {
			t.Errorf("%s %s is linked; it is fixed in v%d.%d.%d", module.Path, module.Version, want[0], want[1], want[2])
		}
	}
	if len(info.Deps) == 0 || found > len(least) {
		t.Errorf("%d of %d modules are looked at", found, len(info.Deps))
	}
}
