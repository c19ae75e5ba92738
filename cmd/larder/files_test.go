package main

import (
	"bytes"
	"crypto/tls"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"larder.local/cmd/larder/cli"
	"larder.local/internal/testkit/clitest"
	"larder.local/internal/testkit/tlstest"
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

// certified notes with which certificate each order and each menu was requested.
type certified struct {
	troubled

	notes  sync.Mutex
	orders []string
	menus  []string
}

func (s *certified) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.notes.Lock()
	defer s.notes.Unlock()
	switch {
	case strings.HasSuffix(r.URL.Path, "/token"):
	case r.Method == http.MethodPost:
		s.orders = append(s.orders, tlstest.SerialOf(r))
		clitest.Says(http.StatusCreated, fmt.Sprintf(`{"result":{"orderID":"%d"}}`, len(s.orders)))(w, r)
		return
	case strings.Contains(r.URL.Path, "/menu/"):
		s.menus = append(s.menus, tlstest.SerialOf(r))
	}
	s.troubled.ServeHTTP(w, r)
}

// The certificate, its key and the authority are renewed on disk. larder uses them after SIGHUP, and not before. With a
// file that cannot be used it keeps what it has, and logs the path. A path may change too (policy H13).
func TestARenewedCertificateAfterSIGHUP_H13(t *testing.T) {
	t.Parallel()
	before, after := tlstest.Authority(t), tlstest.Authority(t)
	old, renewed := before.Issue(t, nil), after.Issue(t, nil)
	var demands atomic.Pointer[tls.Config]
	demands.Store(before.Issue(t, nil).Demanding(t, before))
	s := &certified{troubled: troubled{good: "secret-number-1"}}
	service := tlstest.Serve(t, &tls.Config{
		MinVersion:         tls.VersionTLS12,
		GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) { return demands.Load(), nil },
	}, s, nil)
	config := clitest.WriteFile(t, "larder.yaml", fmt.Sprintf(`http: {listen: "127.0.0.1:0"}
redis: {url: embedded}
ordering: {allow_non_durable: true}
connections:
  - name: main
    base_url: %q
    auth_url: %q
    client_id: demo
    client_secret: secret-number-1
    default_menu: false
    tls: {ca_file: ca.pem, cert_file: own.pem, key_file: own.key}
sync: {schedule: "@every 1h"}
auth:
  clients: [{id: ops, secret: ops-secret, scopes: [menu, orders, ops]}]
restaurants: [{id: r1}]
`, service, service))
	write := func(name string, content []byte) {
		if err := os.WriteFile(filepath.Join(filepath.Dir(config), name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	use := func(authority, own *tlstest.Certificate) {
		write("ca.pem", authority.PEM)
		write("own.pem", own.PEM)
		write("own.key", own.Key)
	}
	use(before, old)
	p := startProcess(t, []string{"LARDER_LOG_FORMAT=json"}, "serve", "--config", config)
	base := p.url(t)
	waitReady(t, base)
	client := bearer(t, base, "ops", "ops-secret")
	order := func(moment string, with *tlstest.Certificate) {
		t.Helper()
		body := fmt.Sprintf(`{"expeditionType":"pickup","soonest":true,"paymentTypeID":"card","comment":%q,"dishList":[{"ID":"a","quantity":1}]}`, moment)
		if status, _, answer := fetchAs(t, client, http.MethodPost, base+"/v1/restaurants/r1/orders", body); status != http.StatusCreated {
			t.Errorf("an order %s: %d %s", moment, status, answer)
		}
		s.notes.Lock()
		defer s.notes.Unlock()
		if got := s.orders[len(s.orders)-1]; got != with.Serial() {
			t.Errorf("an order %s came with the certificate %s, want %s", moment, got, with.Serial())
		}
	}
	order("at the start", old)
	use(after, renewed)
	order("before SIGHUP", old)

	write("own.key", []byte("broken"))
	p.signal(t, syscall.SIGHUP)
	p.log.Find(t, `connections\[0\]\.tls\.cert_file: /\S+/own\.pem cannot be used with tls\.key_file /\S+/own\.key: .*"event":"config\.error"`)
	p.log.Find(t, `"event":"config\.reload_rejected"`)
	order("with a broken file", old)

	write("renewed.key", renewed.Key)
	text, err := os.ReadFile(config)
	if err != nil {
		t.Fatal(err)
	}
	write("larder.yaml", bytes.Replace(text, []byte("own.key"), []byte("renewed.key"), 1))
	demands.Store(after.Issue(t, nil).Demanding(t, after))
	p.signal(t, syscall.SIGHUP)
	p.log.Find(t, `"event":"config\.reloaded"`)
	order("after SIGHUP", renewed)
	must(t, clitest.AsOps(base, "sync", "r1")...)
	s.notes.Lock()
	defer s.notes.Unlock()
	if first, last := s.menus[0], s.menus[len(s.menus)-1]; first != old.Serial() || last != renewed.Serial() {
		t.Errorf("menus were requested with %v, want %s first and %s last", s.menus, old.Serial(), renewed.Serial())
	}
}
