package main

import (
	"strings"
	"syscall"
	"testing"

	"larder/internal/cli"
	"larder/internal/sandbox"
	"larder/internal/testkit/clitest"
)

// An older version starts and reloads with the configuration of a newer one. The
// commands that call it work with this file too.
func TestServe_AllowUnknownKeys(t *testing.T) {
	t.Parallel()
	generate := sandbox.Generate{Restaurants: 1, Products: 3}
	file := newScaled(t, newSandboxOf(t, generate))
	restaurant := `  - {id: "` + generate.RestaurantID(0) + `"}`
	file.head = "telepathy: {range: 10}\n" + file.head
	file.write(t, restaurant)
	warning := file.path + `:1:1: unknown key "telepathy" in the configuration is ignored`

	refused := larder(t, "serve", "--config", file.path)
	if refused.Status != cli.StatusFailed || !strings.Contains(refused.Err, `unknown key "telepathy"`) || !strings.Contains(refused.Err, "Correct the key. ") ||
		!strings.Contains(refused.Err, "--allow-unknown-keys") {
		t.Errorf("serve without the flag: %+v", refused)
	}
	if out := must(t, "check", "--allow-unknown-keys", "--config", file.path); !strings.Contains(out, "warning "+warning+"\n") {
		t.Errorf("check --allow-unknown-keys prints\n%s", out)
	}
	if got := larder(t, "config", "print", "--allow-unknown-keys", "--config", file.path); got.Status != cli.StatusDone ||
		got.Err != "warning: "+warning+"\n" || strings.Contains(got.Out, "telepathy") {
		t.Errorf("config print --allow-unknown-keys: %+v", got)
	}

	p := startProcess(t, []string{"LARDER_LOG_FORMAT=json"}, "serve", "--allow-unknown-keys", "--config", file.path)
	base := p.url(t)
	waitReady(t, base)
	p.log.Find(t, `"event":"config.warning".*larder.yaml:1:1: unknown key \\"telepathy\\"`)
	must(t, "status", "--config", file.path, "--url", base)

	file.write(t, strings.Replace(restaurant, "}", ", colour: x}", 1))
	p.signal(t, syscall.SIGHUP)
	p.log.Find(t, `"event":"config.warning".*unknown key \\"colour\\" in restaurants\[0\] is ignored`)
	p.log.Find(t, `"event":"config.reloaded"`)

	file.head = "auth: {require_second_factor: true}\n" + file.head
	file.write(t, restaurant)
	p.signal(t, syscall.SIGHUP)
	p.log.Find(t, `"error":"[^"]*:1:8: unknown key \\"require_second_factor\\" in auth: [^"]*`+
		`under auth this is an error even with --allow-unknown-keys: correct or remove the key".*"event":"config.error"`)
	p.log.Find(t, `"event":"config.reload_rejected"`)
	p.signal(t, syscall.SIGTERM)
	if status := p.status(t); status != cli.StatusDone {
		t.Errorf("status %d, want 0\n%s", status, p.log)
	}
}

// The flag does not help with keys under auth, so it is not suggested for them.
func TestCheck_UnknownKeyUnderAuth(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"in auth":     "auth: {require_second_factor: true}\n",
		"of a client": "auth: {clients: [{id: a, networks: [10.0.0.0/8]}]}\n",
		"indented":    "http:\n  listen: 127.0.0.1:8080\n  auth: {clients: []}\n",
	} {
		path := clitest.WriteFile(t, "larder.yaml", text)
		for _, args := range [][]string{{"check"}, {"check", "--allow-unknown-keys"}, {"serve", "--allow-unknown-keys"}} {
			got := larder(t, append(args, "--config", path)...)
			_, try, _ := strings.Cut(got.Err, "correct or remove it")
			if got.Status != cli.StatusFailed || !strings.Contains(got.Err, "under auth this is an error even with --allow-unknown-keys: correct or remove the key") ||
				strings.Contains(try, "allow-unknown-keys") {
				t.Errorf("%s, %s: %+v", name, args, got)
			}
		}
	}
}
