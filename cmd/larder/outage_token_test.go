package main

import (
	"io"
	"net/http"
	"os"
	"strings"
	"testing"

	"larder/internal/testkit/clitest"
	"larder/internal/testkit/metrics"
)

// While Redis is unavailable, a token is valid on every instance, even on one that has
// not seen a token before, because each instance has the signing key.
func TestTokensDuringARedisOutage(t *testing.T) {
	t.Parallel()
	o := newOutage(t)
	text, err := os.ReadFile(o.config)
	if err != nil {
		t.Fatal(err)
	}
	o.config = clitest.WriteFile(t, "larder.yaml", strings.NewReplacer(
		"auth:\n", "auth:\n  open_menu: false\n",
		"deadline: 3s", "deadline: 1m", // no run fails on a busy machine
	).Replace(string(text)))
	// The second instance gets no request with a token before the outage. It starts alone, so that it has the menus
	// in memory: it published them itself.
	second := o.start(t)
	bases := []string{"", second.url(t)}
	waitReady(t, bases[1])
	o.until(t, bases[1], "every menu is published", func(s metrics.Sample) bool {
		return s.Sum("larder_sync_runs_total", `outcome="updated"`) == float64(len(o.restaurants))
	})
	first := o.start(t)
	bases[0] = first.url(t)
	waitReady(t, bases[0])
	client := shopper(t, bases[0])
	read := func(base string) (status int, body string) {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, base+"/v1/restaurants/"+o.restaurants[0]+"/menu", http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		response, err := client.Authorized.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(response.Body)
		if closed := response.Body.Close(); err != nil || closed != nil {
			t.Fatal(err, closed)
		}
		return response.StatusCode, string(content)
	}
	if status, body := read(bases[0]); status != http.StatusOK { // the client gets its token
		t.Fatalf("the first larder with Redis: %d %s", status, body)
	}
	o.toRedis.Refuse()
	for i, p := range []*process{first, second} {
		p.log.Find(t, `"event":"sync.paused"`)
		if status, body := read(bases[i]); status != http.StatusOK {
			t.Errorf("larder %d without Redis: %d %s, want its menu from memory", i+1, status, body)
		}
	}
}
