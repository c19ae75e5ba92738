package httpapi_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"flag"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"larder.local/internal/testkit/apitest"
)

var swapsFor = flag.Duration("swaps", 3*time.Second, "how long TestSwapsUnderSixtyFourConnections publishes; 2s with -short")

// tagged reads one route in one encoding, over one connection at a time.
type tagged struct {
	apitest.Unpacker

	transport              *http.Transport
	address, coding, token string
	last                   int // the version of the last read
	reads                  int
}

var editions = regexp.MustCompile(`edition (\d+)`)

// read reads once. The body decompresses to the bytes that its ETag identifies. All of them belong
// to the edition of that version, and the version does not go back.
func (r *tagged) read(ctx context.Context) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, r.address, http.NoBody)
	if err != nil {
		return err
	}
	request.Header.Set("Accept-Encoding", r.coding)
	if r.token != "" {
		request.Header.Set("Authorization", r.token)
	}
	response, err := r.transport.RoundTrip(request)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	raw, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	body, err := r.Unpack(raw, response.Header.Get("Content-Encoding"))
	if err != nil {
		return fmt.Errorf("%s in %s: %w", r.address, r.coding, err)
	}
	tag, sum := response.Header.Get("Etag"), sha256.Sum256(body)
	var version int
	if _, err := fmt.Sscanf(tag, `W/"%d-`, &version); err != nil || version < r.last {
		return fmt.Errorf("%s in %s: status %d, tag %s after version %d: %w", r.address, r.coding, response.StatusCode, tag, r.last, err)
	}
	if want := fmt.Sprintf(`W/"%d-%s"`, version, hex.EncodeToString(sum[:4])); tag != want {
		return fmt.Errorf("%s in %s: a body of the tag %s came with %s", r.address, r.coding, want, tag)
	}
	found := editions.FindAllSubmatch(body, -1)
	if len(found) == 0 {
		return fmt.Errorf("%s in %s: version %d names no edition", r.address, r.coding, version)
	}
	for _, edition := range found {
		if string(edition[1]) != strconv.Itoa(version) {
			return fmt.Errorf("%s in %s: version %d holds %s", r.address, r.coding, version, edition[0])
		}
	}
	r.last = version
	if r.reads++; r.reads%50 == 0 { // connections that net/http got do not come back
		r.transport.CloseIdleConnections()
	}
	return nil
}

// Sixty-four connections read menus, menu views and products in all four encodings without pause,
// while a version is published every 100 ms. All bodies are complete and belong to the version of
// their ETag.
func TestSwapsUnderSixtyFourConnections(t *testing.T) {
	t.Parallel()
	const connections = 64
	lasts := *swapsFor
	if testing.Short() {
		lasts = min(lasts, 2*time.Second)
	}
	w := newFixture(t, func(p *apitest.Plan) { p.Unsynced = true })
	w.Service.SetMenu(apitest.Bistro, apitest.Edition(1))
	w.SyncOnce(apitest.Bistro)
	p := newPorts(t, w, w.Server.Handler().ServeHTTP)
	token := w.As(apitest.ClientShop)[1]
	ctx, cancel := context.WithCancel(t.Context())
	var behind, group errgroup.Group
	behind.Go(func() error { return w.Replica.Run(ctx) })
	var done atomic.Bool
	readers := make([]*tagged, connections)
	for n := range readers {
		r := &tagged{transport: &http.Transport{MaxConnsPerHost: 1, DisableCompression: true}}
		t.Cleanup(r.transport.CloseIdleConnections)
		r.address = "http://" + p.fast + []string{apitest.MenuPath, apitest.ViewPath + "?restaurantId=bistro", "/v1/restaurants/bistro/products/d3"}[n%3]
		r.coding = []string{"identity", "gzip", "zstd", "br"}[n/3%4]
		if n%3 == 1 {
			r.token = token
		}
		readers[n] = r
		group.Go(func() error {
			for !done.Load() {
				if err := r.read(ctx); err != nil {
					return err
				}
			}
			return r.read(ctx) // the last version
		})
	}
	published, tick := 1, time.NewTicker(100*time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(lasts); published < 5 || time.Now().Before(end); <-tick.C {
		published++
		w.Service.SetMenu(apitest.Bistro, apitest.Edition(published))
		if run := w.SyncOnce(apitest.Bistro); run.Version != int64(published) {
			t.Errorf("publish %d: got %+v", published, run)
			break
		}
	}
	done.Store(true)
	if err := group.Wait(); err != nil {
		t.Error(err)
	}
	cancel()
	if err := behind.Wait(); err != nil {
		t.Error(err)
	}
	reads := 0
	for _, r := range readers {
		if reads += r.reads; r.last != published && !t.Failed() {
			t.Errorf("%s in %s ended with version %d after %d reads, want %d", r.address, r.coding, r.last, r.reads, published)
		}
	}
	if fell := p.fell.Load(); fell > int64(reads)/2 || published < 5 {
		t.Errorf("of %d reads %d got to net/http, in %d versions: this proves little", reads, fell, published)
	}
	t.Logf("%d reads of %d versions, %d of them by net/http", reads, published, p.fell.Load())
}
