package main

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"larder/internal/cli"
	"larder/internal/testkit/clitest"
)

// pipeInstead replaces a file by a pipe to which nobody writes.
func pipeInstead(t *testing.T, name string) {
	t.Helper()
	if err := os.Remove(name); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(name, 0o600); err != nil {
		t.Fatal(err)
	}
}

// A pipe in the place of a secret file costs neither menus nor the next reload nor the end of larder (policy H12).
func TestAPipeInPlaceOfASecret_H12(t *testing.T) {
	t.Parallel()
	s := &troubled{good: "secret-number-1"}
	p, base, secret := s.start(t, 1)
	pipeInstead(t, secret)
	p.signal(t, syscall.SIGHUP)
	p.log.Find(t, `pipe, socket or device","event":"config.error"`)
	p.log.Find(t, `"event":"config.reload_rejected"`)
	asStorefront := bearer(t, base, "storefront", "storefront-secret")
	if status, _, _ := fetchAs(t, asStorefront, http.MethodGet, base+"/v1/restaurants/r1/menu", ""); status != http.StatusOK {
		t.Errorf("a menu: status %d", status)
	}
	if run := larder(t, "check", "--config", filepath.Join(filepath.Dir(secret), "larder.yaml")); run.Status != cli.StatusFailed {
		t.Errorf("check: %+v", run)
	}
	if err := os.Remove(secret); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(secret, []byte("secret-number-1\r\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p.signal(t, syscall.SIGHUP)
	p.log.Find(t, `"event":"config.reloaded"`)
	p.signal(t, syscall.SIGTERM)
	if status := p.status(t); status != 0 {
		t.Errorf("status %d after SIGTERM\n%s", status, p.log)
	}
}

// A reload that waits for a slow file does not delay the end of larder (policy H12).
func TestASlowReloadDoesNotDelayTheEnd_H12(t *testing.T) {
	t.Parallel()
	s := &troubled{good: "secret-number-1"}
	p, _, secret := s.start(t, 1)
	config := filepath.Join(filepath.Dir(secret), "larder.yaml")
	pipeInstead(t, config)
	p.signal(t, syscall.SIGHUP)
	clitest.Eventually(t, "the reload reads the pipe", func() bool {
		file, err := os.OpenFile(config, os.O_WRONLY|syscall.O_NONBLOCK, 0) // fails while nobody reads
		if err == nil {
			t.Cleanup(func() { _ = file.Close() }) // an open pipe without content
		}
		return err == nil
	})
	p.signal(t, syscall.SIGTERM)
	if status := p.status(t); status != 0 || strings.Contains(fmt.Sprint(p.log), "config.reload_rejected") {
		t.Errorf("status %d, or the end has waited for the reload\n%s", status, p.log)
	}
}
