package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"larder/internal/sandbox"
	"larder/internal/testkit/clitest"
	"larder/internal/testkit/redistest"
)

// set changes the settings of the ordering service.
func (s *service) set(t *testing.T, settings string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPut, s.URL+"/sandbox/settings", strings.NewReader(settings))
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	if response.StatusCode != http.StatusOK {
		t.Fatalf("settings %s: %d", settings, response.StatusCode)
	}
}

// If the service disables its rejection reasons, orders can be rejected at once. If it
// enables them again, a forced sync fetches them (policy S5a). There are no scheduled
// syncs in this test.
func TestRejectionReasonsFollowTheService_S5a(t *testing.T) {
	t.Parallel()
	service := newService(t)
	p := startProcess(t, service.env("LARDER_SYNC_SCHEDULE=@every 24h"), "serve")
	base := p.url(t)
	waitReady(t, base)
	reasons := func() (list []json.RawMessage) {
		status, body := clitest.Fetch(t, base+"/v1/rejection-reasons")
		if status != http.StatusOK {
			return nil
		}
		return clitest.FromJSON[struct{ Result []json.RawMessage }](t, body).Result
	}
	clitest.Eventually(t, "the reasons are pulled", func() bool { return len(reasons()) > 0 })
	guest := newGuest(t, base)
	reject := guest.call(t, "reject")

	service.set(t, `{"rejectionReasons": false}`)
	without := reject
	without.key, without.body = "without-a-reason", []byte(`{"rejectionReasonID":"","rejectionReasonText":""}`)
	if status, body, err := guest.send(t, without); err != nil || status != http.StatusOK {
		t.Errorf("rejected without a reason: %d %s, %v; want 200", status, body, err)
	}
	if list := reasons(); len(list) != 0 {
		t.Errorf("reasons %s after the service turned them off", list)
	}

	service.set(t, `{"rejectionReasons": true}`)
	must(t, "sync", sandbox.BistroID, "--force", "--url", base, "--client-id", "ops", "--client-secret", "ops-secret")
	list := reasons()
	if len(list) == 0 {
		t.Fatal("no reasons after a forced sync")
	}
	if !bytes.Contains(reject.body, []byte(clitest.FromJSON[struct{ ID string }](t, string(list[0])).ID)) {
		t.Errorf("reasons %s, want those that were listed before", list)
	}
}

// The compatible menu view and the rejection reasons are served while Redis is
// unavailable, even if nobody has read them before.
func TestFirstReadsWithoutRedis(t *testing.T) {
	t.Parallel()
	service, server := newService(t), redistest.Start(t)
	p := startProcess(t, service.env("LARDER_REDIS_URL="+server.URL(), "LARDER_SYNC_SCHEDULE=@every 24h", "LARDER_CACHE_POLL=100ms"), "serve")
	base := p.url(t)
	waitReady(t, base)
	client := server.Client()
	clitest.Eventually(t, "the reasons are pulled", func() bool { return len(client.Keys(t.Context(), "larder:{k:main}:s:*:f1:reasons").Val()) == 1 })
	readTwice(t, server.Addr(), `:reasons" "reasons"`) // when the second poll reads the reasons, the first one has stored them
	guest := newGuest(t, base)
	read := func(path string) (int, string) {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, base+path, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		status, body, err := guest.do(request)
		if err != nil {
			t.Fatal(err)
		}
		return status, body
	}
	server.Stop()
	for path, part := range map[string]string{
		"/orders/api/v1/menu/view?restaurantId=" + sandbox.BistroID: `dish-cappuccino`,
		"/orders/api/v1/menu/view":                                  `dish-cappuccino`,
		"/orders/api/v1/rejectionReasons":                           `"isPossibleDelete"`,
		"/v1/rejection-reasons":                                     `"isPossibleDelete"`,
	} {
		if status, body := read(path); status != http.StatusOK || !strings.Contains(body, part) {
			t.Errorf("%s: %d %.200s; want 200 from memory", path, status, body)
		}
	}
}

// readTwice waits until Redis has executed two HMGET of this key and field.
func readTwice(t *testing.T, addr, key string) {
	t.Helper()
	connection, err := new(net.Dialer).DialContext(t.Context(), "tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = connection.Close() }()
	_ = connection.SetDeadline(time.Now().Add(30 * time.Second))
	if _, err := connection.Write([]byte("MONITOR\r\n")); err != nil {
		t.Fatal(err)
	}
	seen, lines := 0, bufio.NewScanner(connection)
	for seen < 2 && lines.Scan() {
		if strings.Contains(lines.Text(), `"hmget"`) && strings.Contains(lines.Text(), key) {
			seen++
		}
	}
	if seen < 2 {
		t.Fatalf("%d times HMGET %s, %v", seen, key, lines.Err())
	}
}
