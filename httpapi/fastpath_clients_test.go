package httpapi_test

import (
	"os"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"larder.local/internal/testkit/apitest"
)

// recorded is a request in the exact form of a well-known client.
type recorded struct {
	client, request string
	fast            bool   // the fast path answers it; otherwise net/http
	status          string //
}

// recordedRequests reads testdata/clients.txt, whose first lines describe its format.
func recordedRequests(t *testing.T, names *strings.Replacer) (requests []recorded) {
	t.Helper()
	raw, err := os.ReadFile("testdata/clients.txt")
	if err != nil {
		t.Fatal(err)
	}
	for block := range strings.SplitSeq(string(raw), "\n== ") {
		title, request, _ := strings.Cut(block, "\n")
		if strings.HasPrefix(title, "#") {
			continue
		}
		client, rest, _ := strings.Cut(title, ": ")
		path, status, ok := strings.Cut(rest, " ")
		if !ok || path != "fast" && path != "net/http" {
			t.Fatalf("testdata/clients.txt: %q is no title", title)
		}
		head, body, _ := strings.Cut(names.Replace(request), "\n\n")
		requests = append(requests, recorded{
			client, strings.ReplaceAll(head, "\n", "\r\n") + "\r\n\r\n" + strings.TrimSuffix(body, "\n"), path == "fast", status,
		})
	}
	return requests
}

// Requests of well-known clients, proxies and health checkers get the same response on both ports,
// whatever the pieces in which they arrive. Each path gets the requests that belong to it.
func TestRecordedClientsOverTCP(t *testing.T) {
	t.Parallel()
	w := newFixture(t, func(p *apitest.Plan) { p.HTTP.CORSOrigins = []string{"https://shop.example"} })
	w.SyncOnce("@main")
	p := newPorts(t, w, readsOf(w))
	token := w.As(apitest.ClientShop)[1]
	exchangePieces(t, p.plain, []string{rawGet(apitest.ViewPath, "Authorization: "+token)})
	tag := etagOf(t, exchangePieces(t, p.plain, []string{rawGet(apitest.MenuPath)}))
	requests := recordedRequests(t, strings.NewReplacer("{menu}", apitest.MenuPath, "{product}", productPath, "{view}", apitest.ViewPath, "{token}", token, "{tag}", tag))
	if len(requests) < 40 {
		t.Fatalf("%d requests are recorded", len(requests))
	}
	for _, c := range requests {
		got, fell := p.same(t, []string{c.request})
		if statusOf(got) != c.status || (fell == 0) != c.fast {
			t.Errorf("%s: answered %q with %d requests to net/http, want %s and %v", c.client, statusOf(got), fell, c.status, !c.fast)
		}
	}
	if t.Failed() {
		return
	}
	rapid.Check(t, func(r *rapid.T) {
		var stream strings.Builder
		for _, c := range rapid.SliceOfN(rapid.SampledFrom(requests), 1, 5).Draw(r, "requests") {
			stream.WriteString(c.request)
		}
		p.same(t, cuts(r, stream.String()))
	})
}
