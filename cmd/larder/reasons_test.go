package main

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"larder/internal/sandbox"
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

// When the service turns its rejection reasons off, orders can be rejected at
// once, and when it turns them on again a forced sync shows them (policy S5a).
// The schedule does not come round in this test.
func TestRejectionReasonsFollowTheService(t *testing.T) {
	t.Parallel()
	service := newService(t)
	p := startProcess(t, service.env("LARDER_SYNC_SCHEDULE=@every 24h"), "serve")
	base := p.url(t)
	waitReady(t, base)
	reasons := func() (list []json.RawMessage) {
		status, body := fetch(t, base+"/v1/rejection-reasons")
		if status != http.StatusOK {
			return nil
		}
		return fromJSON[struct{ Result []json.RawMessage }](t, body).Result
	}
	eventually(t, "the reasons are pulled", func() bool { return len(reasons()) > 0 })
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
	if !bytes.Contains(reject.body, []byte(fromJSON[struct{ ID string }](t, string(list[0])).ID)) {
		t.Errorf("reasons %s, want those that were listed before", list)
	}
}
