package metrics_test

import (
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"larder.local/httpapi/metrics"
	"larder.local/internal/directory"
)

// The states of all restaurants are read at most once a second, however many scrapers there are.
func TestMenusAreReadOnceASecond(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var reads atomic.Int32
		registry := prometheus.NewPedanticRegistry()
		registry.MustRegister(metrics.Menus{
			Directory: directory.New(nil, nil),
			Clock:     func() time.Time { reads.Add(1); return time.Now() },
		}.Collector())
		for second := range 3 {
			var scrapes sync.WaitGroup
			for range 8 {
				scrapes.Go(func() {
					if families, err := registry.Gather(); err != nil || len(families) != 4 {
						t.Errorf("%d families, %v", len(families), err)
					}
				})
			}
			scrapes.Wait()
			if got := int(reads.Load()); got != second+1 {
				t.Errorf("after %d seconds with 8 scrapes each: %d reads", second+1, got)
			}
			time.Sleep(time.Second)
		}
	})
}
