package httpapi_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"larder.local/httpapi"
	"larder.local/internal/testkit/apitest"
)

// largeMenu returns a menu that compresses badly: its body has more than 100 KB in every encoding.
func largeMenu() string {
	products := make([]string, 3000)
	for i := range products {
		sum := sha256.Sum256([]byte{byte(i), byte(i >> 8)})
		products[i] = fmt.Sprintf(`{"id": "d%d", "externalId": "x%d", "name": %q, "price": %d}`, i, i, hex.EncodeToString(sum[:]), i)
	}
	return fmt.Sprintf(`{"name": "large", "categories": [], "products": [%s], "ingredientsSchemes": [], "ingredientsGroups": [], "ingredients": []}`, strings.Join(products, ","))
}

// A response of the fast path needs no heap allocation on a real connection: reading the request,
// finding, writing and counting the response.
func TestFastPathDoesNotAllocate(t *testing.T) { //nolint:paralleltest // counts what the process allocates
	w := newFixture(t, apitest.AnyMenu, func(p *apitest.Plan) { p.HTTP.AccessLog = httpapi.LogErrors }) // a log line needs many allocations
	w.Service.SetMenu(apitest.North, largeMenu())
	w.SyncOnce(apitest.North)
	w.SyncOnce("@main")
	p := newPorts(t, w, readsOf(w))
	token := "Authorization: " + w.As(apitest.ClientShop)[1]
	const large = "/v1/restaurants/" + apitest.North + "/menu"
	for name, parts := range map[string][]string{
		"304":                   {apitest.MenuPath, "If-None-Match: *"},
		"304 since":             {apitest.MenuPath, "If-Modified-Since: Fri, 01 Jan 2100 00:00:00 GMT"},
		"product":               {productPath},
		"product, a browser":    {productPath, browser},
		"product by externalId": {"/v1/restaurants/bistro/products/e1?by=externalId"},
		"menu":                  {apitest.MenuPath},
		"menu, a page":          {apitest.MenuPath, "Origin: https://shop.example", "X-Request-Id: x"},
		"menu with a token":     {apitest.MenuPath, token},
		"large menu":            {large},
		"view":                  {apitest.ViewPath, token},
		"view of a restaurant":  {apitest.ViewPath + "?restaurantId=bistro", token},
	} {
		for _, coding := range []string{"identity", "gzip", "zstd", "br"} {
			request := rawGet(parts[0], append(parts[1:], "Accept-Encoding: "+coding)...)
			answer := exchangePieces(t, p.plain, []string{request}) // caches the body
			if coding != "identity" && statusOf(answer) == "200" && !strings.Contains(answer, "\r\nContent-Encoding: "+coding+"\r\n") {
				t.Fatalf("%s, %s: got %.500q", name, coding, answer)
			}
			if parts[0] == large && len(answer) < 100_000 {
				t.Fatalf("%s, %s: %d bytes are not large", name, coding, len(answer))
			}
			before := p.fell.Load()
			took, err := allocations(t, p.fast, request, len(answer))
			if err != nil || took > 0 {
				t.Errorf("%s, %s: %v allocations for each answer, %v", name, coding, took, err)
			}
			if p.fell.Load() != before {
				t.Errorf("%s, %s: net/http answered", name, coding)
			}
		}
	}
}

// allocations returns the average number of allocations per response of that length, at both ends.
// The client's part makes none. The result is rounded down, because the process may allocate for
// other reasons, and the race detector drops some pooled objects.
func allocations(t *testing.T, address, request string, length int) (float64, error) {
	t.Helper()
	var dialer net.Dialer
	conn, err := dialer.DialContext(t.Context(), "tcp", address)
	if err != nil {
		return 0, err
	}
	defer func() { _ = conn.Close() }()
	if err := conn.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		return 0, err
	}
	send, answer := []byte(request), make([]byte, length)
	took := testing.AllocsPerRun(100, func() {
		if err != nil {
			return
		}
		if _, err = conn.Write(send); err == nil {
			_, err = io.ReadFull(conn, answer)
		}
	})
	return took, err
}
