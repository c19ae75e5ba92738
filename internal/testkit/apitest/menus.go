package apitest

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"strings"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"

	"larder.local/sync/runlog"
)

// Edition is a menu whose values all contain the number of the edition: its name, the names and
// prices of its dishes, and the number of dishes.
func Edition(n int) string {
	var products []string
	for i := range 20 + n%7 {
		products = append(products,
			fmt.Sprintf(`{"id": "d%d", "externalId": "x%d", "name": "edition %d", "price": %d.50, "schemeId": "s"}`, i, i, n, n))
	}
	return fmt.Sprintf(`{"name": "edition %d", "categories": [], "products": [%s],
"ingredientsSchemes": [{"id": "s", "ingredientsGroups": [{"id": "g", "minCount": 0, "maxCount": 1}]}],
"ingredientsGroups": [{"id": "g", "name": "edition %d", "ingredients": ["i"]}],
"ingredients": [{"id": "i", "externalId": "xi", "name": "edition %d", "price": %d.50}]}`, n, strings.Join(products, ","), n, n, n)
}

// Dishes returns a menu with this number of dishes. Either all of them are stopped or none.
func Dishes(n, price int, stopped bool) string {
	stops := "[]"
	if stopped {
		stops = `["` + Bistro + `"]`
	}
	rows := make([]string, n)
	for i := range rows {
		const row = `{"id":"dish-number-%d","externalId":"e%d","categoryId":"c","name":"Dish %d","price":%d,"isContainInStopList":%s}`
		rows[i] = fmt.Sprintf(row, i, i, i, price, stops)
	}
	return `{"name":"Menu","categories":[{"id":"c","name":"All"}],"products":[` + strings.Join(rows, ",") + `]}`
}

// FullMenu is the menu of the restaurants.
const FullMenu = `{"name": "Dinner", "categories": [{"id": "c1", "name": "Pizza"}, {"id": "c2", "name": "Sweet", "parentId": "c1"}],
"products": [
 {"id": "p1", "externalId": "e1", "categoryId": "c1", "name": "Margherita", "price": 199.90, "schemeId": "s1",
  "description": "tomato & basil"},
 {"id": "p/2 +%", "externalId": "e2", "categoryId": "c2", "name": "Crème brûlée", "price": 90, "description": ""},
 {"id": "p3", "externalId": "twin", "categoryId": "c1", "name": "Twin A", "price": 10},
 {"id": "p4", "externalId": "twin", "categoryId": "c1", "name": "Twin B", "price": 11},
 {"id": "p5", "externalId": "e5", "categoryId": "c1", "name": "Stopped pie", "price": 12, "isContainInStopList": ["bistro"]}],
"ingredientsSchemes": [{"id": "s1", "ingredientsGroups": [{"id": "g1", "minCount": 1, "maxCount": 2}]}],
"ingredientsGroups": [{"id": "g1", "name": "Sauce", "ingredients": ["i1", "i2"]}],
"ingredients": [{"id": "i1", "externalId": "x1", "name": "Garlic", "price": 10.5},
 {"id": "i2", "externalId": "x2", "name": "Chili", "price": 0}]}`

// Unpacker decodes content encodings. Its zero value is ready to use. Reusing it saves memory.
type Unpacker struct {
	gzip   gzip.Reader
	brotli brotli.Reader
	zstd   *zstd.Decoder
}

// Unpack returns the bytes that were encoded.
func (u *Unpacker) Unpack(packed []byte, coding string) ([]byte, error) {
	switch coding {
	case "":
		return packed, nil
	case "gzip":
		if err := u.gzip.Reset(bytes.NewReader(packed)); err != nil {
			return nil, err
		}
		return io.ReadAll(&u.gzip)
	case "br":
		if err := u.brotli.Reset(bytes.NewReader(packed)); err != nil {
			return nil, err
		}
		return io.ReadAll(&u.brotli)
	case "zstd":
		if u.zstd == nil {
			made, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
			if err != nil {
				return nil, err
			}
			u.zstd = made
		}
		return u.zstd.DecodeAll(packed, nil)
	default:
		return nil, fmt.Errorf("Content-Encoding %q", coding)
	}
}

// KitchenMenu returns the menu of the bistro with another price and stop list.
func KitchenMenu(price, stop string) string {
	raw := strings.Replace(FullMenu, "199.90", price, 1)
	return strings.Replace(raw, `"name": "Twin A", "price": 10}`, `"name": "Twin A", "price": 10, "isContainInStopList": `+stop+`}`, 1)
}

// PublishAgain publishes the ordering service's next menu and syncs it.
func (w *Fixture) PublishAgain(raw string) {
	w.T.Helper()
	w.Service.SetMenu(Bistro, raw)
	if run := w.SyncOnce(Bistro); run.Outcome != runlog.OutcomeUpdated {
		w.T.Fatalf("synced: %s %s, want updated", run.Outcome, run.Error)
	}
}
