package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"larder.local/internal/testkit/redistest"
)

// Policy W15a: six menus of up to 990,000 short elements raise the memory of a real process by at
// most 600 MiB, together. Each is fetched and quarantined. The menu that takes longest needs LARDER_THOROUGH.
func TestMemoryOfHostileMenus(t *testing.T) { //nolint:tparallel // one process after the other needs much memory
	t.Parallel()
	const most, restaurants = 600 << 20, 6
	menus := map[string]string{
		"empty dishes":         `{"result":{"products":[` + strings.Repeat(`{},`, 989_999) + `{}]}}`,
		"empty ingredients":    `{"result":{"products":[],"ingredients":[` + strings.Repeat(`{},`, 989_999) + `{}]}}`,
		"empty groups":         `{"result":{"products":[],"ingredientsGroups":[` + strings.Repeat(`{},`, 989_999) + `{}]}}`,
		"one dish, many times": `{"result":{"products":[` + strings.Repeat(`{"id":"1"},`, 989_999) + `{"id":"1"}]}}`,
		"unknown ingredients": `{"result":{"products":[],"ingredientsGroups":[{"id":"g","ingredients":[` +
			strings.Repeat(`"a","b",`, 494_999) + `"c"]}]}}`,
		"150,000 dishes": distinctDishes(150_000),
	}
	if os.Getenv("LARDER_THOROUGH") != "" {
		menus["990,000 dishes"] = distinctDishes(990_000)
	}
	for name, menu := range menus { //nolint:paralleltest // as above
		t.Run(name, func(t *testing.T) {
			service, asked, open := hostileService(t, menu)
			config := fmt.Sprintf("http: {listen: \"127.0.0.1:0\"}\nredis: {url: %q}\nordering: {allow_non_durable: true}\n"+
				"connections: [{name: main, base_url: %q, auth_url: %q, client_id: c, client_secret: s, default_menu: false}]\n"+
				"sync: {schedule: \"@every 24h\", deadline: 10m, lease: 5m}\nrestaurants:\n", redistest.Start(t).URL(), service, service)
			ids := make([]string, restaurants)
			for i := range ids {
				ids[i] = fmt.Sprintf("  - {id: r%d}\n", i)
			}
			config += strings.Join(ids, "")
			file := filepath.Join(t.TempDir(), "larder.yaml")
			if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
				t.Fatal(err)
			}
			p := startProcess(t, []string{"LARDER_CONFIG=" + file, "LARDER_LOG_FORMAT=json"}, "serve")
			<-asked
			folder := fmt.Sprintf("/proc/%d/", p.cmd.Process.Pid)
			idle := memoryOf(t, folder, "VmRSS")
			open()
			for i := range restaurants {
				p.log.Find(t, fmt.Sprintf(`"event":"sync.quarantined"[^\n]*"restaurant":"r%d"`, i))
			}
			more := memoryOf(t, folder, "VmHWM") - idle
			t.Logf("%d MiB above %d MiB", more>>20, idle>>20)
			if more > most {
				t.Errorf("%d MiB more, at most %d MiB are allowed", more>>20, most>>20)
			}
		})
	}
}

// distinctDishes returns a menu of n dishes that have nothing but different ids.
func distinctDishes(n int) string {
	var b strings.Builder
	b.WriteString(`{"result":{"products":[{"id":"-"}`)
	for i := range n - 1 {
		fmt.Fprintf(&b, `,{"id":"%x"}`, i)
	}
	return b.String() + `]}}`
}

// hostileService is an ordering service that compresses one menu for all restaurants. It responds after open, so that all runs
// wait for it at the same time.
func hostileService(t *testing.T, menu string) (url string, asked <-chan struct{}, open func()) {
	t.Helper()
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	if _, err := w.Write([]byte(menu)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	requests, gate := make(chan struct{}, 100), make(chan struct{})
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		switch r.URL.Path {
		case "/connect/token":
			_, _ = w.Write([]byte(`{"access_token":"t","expires_in":3600}`))
		case "/orders/api/v1/menu/view":
			requests <- struct{}{}
			<-gate
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = w.Write(packed.Bytes())
		default:
			_, _ = w.Write([]byte(`{"result":[]}`))
		}
	}))
	t.Cleanup(service.Close)
	return service.URL, requests, sync.OnceFunc(func() { close(gate) })
}
