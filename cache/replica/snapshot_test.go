package replica

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"larder.local/cache"
	"larder.local/internal/menu"
	"larder.local/internal/redisdb"
	"larder.local/internal/testkit/topology"
)

// fat returns a menu view of 300 dishes. Most of its bytes are a long stop list of
// each dish, which is not kept. tail follows the dishes, extra is in the first one.
func fat(tail, extra string) []byte {
	var b strings.Builder
	b.WriteString(`{"name":"Menu","products":[`)
	stops := strings.Repeat(`"aaaaaaaa-bbbb",`, 200) + `"z"`
	for i := range 300 {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"id":"p%d","externalId":"x%d"%s,"name":"n","price":1,"isContainInStopList":[%s]}`, i, i, extra, stops)
		extra = ""
	}
	b.WriteString(`]` + tail + `}`)
	return []byte(b.String())
}

// A decoded view refers to the body that it was read from. The served version must
// not refer to it, or the body stays in memory as long as the version.
func TestAServedMenuDoesNotKeepItsSourceBody(t *testing.T) { //nolint:paralleltest // it measures the heap
	const menus = 8
	for name, c := range map[string]struct {
		tail, extra string
		ownName     bool
	}{
		"plain":                                {},
		"a member that larder does not read":   {extra: `,"novel":1`},
		"ingredients that share an externalId": {tail: `,"ingredients":[{"id":"a","externalId":"q","price":0},{"id":"b","externalId":"q","price":0}]`},
		"under the menu's own name":            {ownName: true},
	} {
		s := cache.NewStore(topology.Open(t, redisdb.Embedded), cache.StoreConfig{})
		replica := New(s, Config{})
		size := 0
		publish := func(i int) {
			raw := fat(c.tail, c.extra)
			raw = append(raw[:len(raw)-1], fmt.Sprintf(`,"categories":[{"id":"c%d","name":"C"}]}`, i)...) // all contents are different
			size = len(raw)
			view, published, err := menu.DecodePublished(raw)
			if err != nil {
				t.Fatal(err)
			}
			p := cache.Publication{
				Restaurant: menu.RestaurantID(fmt.Sprint("r", i)),
				Name:       "The Bistro",
				SyncedAt:   time.Now(),
				Published:  published,
			}
			if c.ownName {
				p.Name = view.Name
			}
			p.Catalogue = menu.Compile(view, p.Restaurant, menu.DefaultSettings())
			version, err := s.Publish(t.Context(), p)
			if err != nil {
				t.Fatal(err)
			}
			replica.Install(&cache.Snapshot{Version: version, Catalogue: p.Catalogue})
		}
		publish(0) // memory of the process
		runtime.GC()
		before := heap()
		for i := range menus {
			publish(i + 1)
		}
		runtime.GC()
		each := int(heap()-before) / menus
		t.Logf("%s: %d KiB of a body of %d KiB", name, each>>10, size>>10)
		if each > size/2 {
			t.Errorf("%s: each menu uses %d KiB; its body has %d KiB", name, each>>10, size>>10)
		}
		runtime.KeepAlive(replica)
	}
}
