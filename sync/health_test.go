package sync

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sirupsen/logrus"
	logtest "github.com/sirupsen/logrus/hooks/test"

	"larder.local/internal/sleep"
)

func TestHealthLogsEachChangeOnceAndCatchesUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		log, lines := logtest.NewNullLogger()
		h := newHealth(log, sleep.NewSignal())
		var down atomic.Bool
		var pings, firsts, returns atomic.Int32
		down.Store(true)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			defer close(done)
			h.watch(ctx, func(context.Context, bool) error {
				pings.Add(1)
				if down.Load() {
					return errors.New("connection refused")
				}
				return nil
			}, func(_ context.Context, first bool) {
				if first {
					firsts.Add(1)
				} else {
					returns.Add(1)
				}
			})
		}()
		waited := make(chan bool, 1)
		go func() { waited <- h.wait(ctx) }()

		<-time.After(10 * time.Minute)
		if n := pings.Load(); n < 120 || n > 300 || h.isUp() {
			t.Errorf("%d pings in ten minutes without an answer, want backoff up to 5 s", n)
		}
		down.Store(false)
		<-time.After(lastPing)
		if !<-waited || !h.isUp() || firsts.Load() != 1 {
			t.Errorf("up %v, first catch-ups %d, want one", h.isUp(), firsts.Load())
		}
		down.Store(true)
		h.suspect() // a run could not reach Redis: probed at once
		synctest.Wait()
		if h.isUp() {
			t.Error("suspect did not cause a ping")
		}
		down.Store(false)
		<-time.After(lastPing)
		synctest.Wait()
		if returns.Load() != 1 {
			t.Errorf("%d catch-ups after the return, want 1", returns.Load())
		}
		cancel()
		<-done
		if h.wait(ctx) {
			t.Error("wait succeeds after ctx ended")
		}
		var events []any
		for _, entry := range lines.AllEntries() {
			events = append(events, entry.Data["event"])
		}
		want := []any{"sync.paused", "sync.resumed", "sync.paused", "sync.resumed"}
		if len(events) != len(want) {
			t.Fatalf("log lines %v, want %v", events, want)
		}
		for i := range want {
			if events[i] != want[i] {
				t.Errorf("log lines %v, want %v", events, want)
			}
		}
		if lines.AllEntries()[0].Level != logrus.WarnLevel {
			t.Error("the pause is not logged as a warning")
		}
	})
}
