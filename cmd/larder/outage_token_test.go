package main

import (
	"net/http"
	"os"
	"strings"
	"testing"

	"larder/internal/testkit/clitest"
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
	o.config = clitest.WriteFile(t, "larder.yaml", strings.Replace(string(text), "auth:\n", "auth:\n  open_menu: false\n", 1))
	first, second := o.start(t), o.start(t)
	bases := []string{o.serving(t, first), o.serving(t, second)}
	client := shopper(t, bases[0])
	read := func(base string) int {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, base+"/v1/restaurants/"+o.restaurants[0]+"/menu", http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		response, err := client.Authorized.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		return response.StatusCode
	}
	if status := read(bases[0]); status != http.StatusOK { // the client gets its token
		t.Fatalf("the first larder with Redis: %d", status)
	}
	o.toRedis.Refuse()
	for i, p := range []*process{first, second} {
		p.log.Find(t, `"event":"sync.paused"`)
		if status := read(bases[i]); status != http.StatusOK {
			t.Errorf("larder %d without Redis: %d, want its menu from memory", i+1, status)
		}
	}
}
