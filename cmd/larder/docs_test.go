package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"larder.local/configs"
	"larder.local/internal/sandbox"
	"larder.local/internal/testkit/clitest"
	"larder.local/internal/testkit/doctest"
	"larder.local/internal/testkit/redistest"
)

// root is the folder of the project.
const root = "../.."

// notRun has the valid reasons for blocks that are not run (<!-- not run: docker -->).
// The tests of deploy/ cover such blocks as far as possible.
func notRun() map[string]string {
	return map[string]string{
		"docker":     "needs a container engine, and images from a registry",
		"kubernetes": "needs a cluster",
		"systemd":    "needs root and a machine that systemd has started",
		"long":       "takes minutes",
		"root":       "changes the machine",
		"sentinel":   "needs a Sentinel; TestDocumentedRedisRights_H14 runs it",
		"person":     "asks questions, or does not end by itself",
	}
}

// TestDocs runs each command and sends each request in the README, docs/ and deploy/
// as written. Each page has its own instances. The test compares the results with the
// page. With -update it writes the output of commands into the pages.
func TestDocs(t *testing.T) {
	t.Parallel()
	pages, err := doctest.Find(root, "README.md", "docs", "deploy")
	if err != nil {
		t.Fatal(err)
	}
	run := 0
	for _, page := range pages {
		steps, err := page.Steps()
		if err != nil {
			t.Error(err)
		}
		if len(steps) == 0 {
			continue
		}
		run += len(steps)
		t.Run(page.Path, func(t *testing.T) {
			t.Parallel()
			w := setup(t, page.Setup)
			page.Run(t, w, notRun())
			if left, err := os.ReadDir(w.Folder); page.Path == "README.md" && (err != nil || len(left) > 0) {
				t.Errorf("the README's commands leave %v behind, %v", left, err)
			}
		})
	}
	if least := 15; run < least {
		t.Errorf("%d steps found, there were %d once", run, least)
	}
}

// setup starts the demo for a page ("", "demo"), or a demo with its own Redis and
// redis-cli ("redis").
func setup(t *testing.T, name string) *doctest.World {
	t.Helper()
	program := built
	w := &doctest.World{
		Folder:   t.TempDir(),
		Commands: map[string]string{"larder": "exec " + program + ` "$@"`},
		Texts:    [][2]string{{"go run ./cmd/larder", program}},
	}
	var more []string // environment variables of the demo
	switch name {
	case "", "demo":
	case "redis":
		server := redistest.Start(t, redistest.AppendOnly())
		more = []string{"LARDER_REDIS_URL=" + server.URL()}
		cli, err := exec.LookPath("redis-cli")
		if err != nil {
			t.Fatalf("%v: sudo apt-get install --no-install-recommends redis-tools", err)
		}
		w.Commands["redis-cli"] = "exec " + cli + ` -u ` + server.URL() + ` "$@"`
		w.Addresses = [][2]string{{"127.0.0.1:6379", server.Addr()}}
	default:
		t.Fatalf("no page can be set up with %q", name)
	}
	base, kitchen, _ := runningDemo(t, more...)
	config := strings.NewReplacer("http://127.0.0.1:8080", base, "http://127.0.0.1:9090", kitchen).Replace(string(configs.Demo()))
	w.Texts = append(w.Texts, [2]string{"configs/demo.yaml", clitest.WriteFile(t, "demo.yaml", config)})
	w.Addresses = append([][2]string{{"127.0.0.1:8080", hostOf(t, base)}, {"127.0.0.1:9090", hostOf(t, kitchen)}}, w.Addresses...)
	w.Env = append(more, "LARDER_URL="+base)
	w.Token = func(ctx context.Context, client string) (string, error) { return demoToken(ctx, base, client) }
	return w
}

func hostOf(t *testing.T, address string) string {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	return u.Host
}

// demoToken requests a token as a client of demo.yaml.
func demoToken(ctx context.Context, base, client string) (string, error) {
	form := url.Values{"grant_type": {"client_credentials"}, "client_id": {client}, "client_secret": {client + "-secret"}}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, base+"/connect/token", strings.NewReader(form.Encode()))
	if err != nil {
		return "", err
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return "", err
	}
	defer func() { _ = response.Body.Close() }() // the body was read to its end, or the test fails
	var answer struct {
		Token string `json:"access_token"`
	}
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil || answer.Token == "" {
		return "", fmt.Errorf("no token for the client %q: %s: %w", client, response.Status, err)
	}
	return answer.Token, nil
}

// documentedKey is a key or channel with a section in docs/redis.md.
type documentedKey struct{ name, kind, chapter string }

var (
	keyChapter = regexp.MustCompile("(?m)^### `(\\S+)` \\((\\w+)\\)[^\n]*\n")
	fieldRow   = regexp.MustCompile("(?m)^\\| `(\\w+)` \\|")
)

// documentedKeys are the keys that other programs may read.
func documentedKeys(t *testing.T) []documentedKey {
	t.Helper()
	page, err := os.ReadFile(filepath.Join(root, "docs/redis.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(page), "\n## Keys\n")
	text, _, _ = strings.Cut(text, "\n## ")
	var keys []documentedKey
	chapters := keyChapter.FindAllStringSubmatchIndex(text, -1)
	for i, at := range chapters {
		end := len(text)
		if i+1 < len(chapters) {
			end = chapters[i+1][0]
		}
		keys = append(keys, documentedKey{text[at[2]:at[3]], text[at[4]:at[5]], text[at[1]:end]})
	}
	if least := 7; len(keys) < least {
		t.Fatalf("%d documented keys found, there were %d once", len(keys), least)
	}
	return keys
}

// TestDocumentedRedisKeys reads all keys that docs/redis.md documents for other
// programs from a real Redis, with the commands of the page, and subscribes to all
// channels.
func TestDocumentedRedisKeys(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), clitest.WaitLimit)
	defer cancel()
	server := redistest.Start(t, redistest.AppendOnly())
	base, _, _ := runningDemo(t, "LARDER_REDIS_URL="+server.URL())
	client := server.Client()
	keys := documentedKeys(t)

	subscribed := map[string]*redis.PubSub{}
	for _, key := range keys {
		if key.kind == "channel" {
			subscribed[key.name] = client.Subscribe(ctx, key.name)
			if _, err := subscribed[key.name].Receive(ctx); err != nil {
				t.Fatal(err)
			}
		}
	}
	ops := []string{"--url", base, "--client-id", "ops", "--client-secret", "ops-secret"}
	must(t, append([]string{"menu", "rollback", sandbox.BistroID, "1"}, ops...)...) // another version, and a hold

	current := client.HGetAll(ctx, "larder:{r:"+sandbox.BistroID+"}:current").Val()
	named := strings.NewReplacer("ID", sandbox.BistroID, "<index>", current["index"], "<version>", current["version"])
	for _, key := range keys {
		name := named.Replace(key.name)
		switch key.kind {
		case "channel":
			message, err := subscribed[key.name].ReceiveMessage(ctx)
			if err != nil || message.Payload == "" {
				t.Errorf("%s: heard %v, %v", name, message, err)
			}
			if err := subscribed[key.name].Close(); err != nil {
				t.Error(err)
			}
		default:
			if kind := client.Type(ctx, name).Val(); kind != key.kind {
				t.Errorf("%s is a %s, but a %s in docs/redis.md", name, kind, key.kind)
			}
		}
		if !strings.HasSuffix(key.name, ":current") {
			continue
		}
		for _, row := range fieldRow.FindAllStringSubmatch(key.chapter, -1) {
			if _, there := current[row[1]]; !there {
				t.Errorf("%s has no field %s; it has %v", name, row[1], current)
			}
		}
	}
}
