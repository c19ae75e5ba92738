package main

import (
	"fmt"
	"net/http"
	"strings"
	"syscall"
	"testing"

	"larder/internal/sandbox"
)

// Where other machines can reach larder, SIGHUP does not apply a configuration with a guessable secret. The running
// clients stay (policy H8).
func TestSIGHUPRejectsAWeakSecret_H8(t *testing.T) {
	t.Parallel()
	const strong, weak = "q8Zr0tKcV2mXw5Ea", "restaurant-password"
	generate := sandbox.Generate{Restaurants: 1, Products: 3}
	file := newScaled(t, newSandboxOf(t, generate))
	head := strings.Replace(file.head, "demo-secret", strong, 1)
	client := func(id, secret string) {
		file.head = fmt.Sprintf("auth: {clients: [{id: %s, secret: %q, scopes: [ops]}]}\n", id, secret) + head
		file.write(t, fmt.Sprintf("  - {id: %q}", generate.RestaurantID(0)))
	}
	client("anna", strong)
	p := startProcess(t, []string{"LARDER_CONFIG=" + file.path, "LARDER_LOG_FORMAT=json", "LARDER_HTTP_TRUSTED_PROXIES=127.0.0.1"}, "serve")
	base := p.url(t)
	if got, _ := signIn(t, base, "anna", strong); got != http.StatusOK {
		t.Fatalf("anna before: %d", got)
	}
	client("bert", weak)
	p.signal(t, syscall.SIGHUP)
	p.log.Find(t, `auth\.clients\[0\]\.secret: can be guessed.*"event":"config\.error"`)
	p.log.Find(t, `"event":"config\.reload_rejected"`)
	if got, _ := signIn(t, base, "anna", strong); got != http.StatusOK {
		t.Errorf("anna after a rejected reload: %d, want 200", got)
	}
	if got, _ := signIn(t, base, "bert", weak); got != http.StatusUnauthorized {
		t.Errorf("bert, with a weak secret: %d, want 401", got)
	}
	client("bert", strong)
	p.signal(t, syscall.SIGHUP)
	p.log.Find(t, `"event":"config.reloaded"`)
	if got, _ := signIn(t, base, "bert", strong); got != http.StatusOK {
		t.Errorf("bert, with a strong secret: %d, want 200", got)
	}
}
