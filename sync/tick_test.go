package sync

import (
	"context"
	"fmt"
	stdsync "sync"
	"testing"
	"testing/synctest"
	"time"

	"larder.local/internal/directory"
	"larder.local/internal/menu"
	"larder.local/internal/silentlog"
	"larder.local/internal/sleep"
)

// counting counts skipped ticks.
type counting struct {
	nopObserver
	mu      stdsync.Mutex
	skipped map[SkipReason]int
}

func (c *counting) TickSkipped(_ menu.RestaurantID, reason SkipReason) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.skipped == nil {
		c.skipped = map[SkipReason]int{}
	}
	c.skipped[reason]++
}

func (c *counting) count(reason SkipReason) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.skipped[reason]
}

// ticking returns a Scheduler that has only schedules and a queue.
func ticking(t *testing.T, restaurants int) (*Scheduler, *counting) {
	t.Helper()
	seen := &counting{}
	s := &Scheduler{
		Runner: &Runner{deps: Deps{Observer: seen, Clock: time.Now}},
		queue:  newQueue(1, make([]Connection, 1)),
	}
	s.health = newHealth(silentlog.New(), sleep.NewSignal())
	s.health.set(nil)
	set := &targetSet{}
	s.set.Store(set)
	for i := range restaurants {
		id := menu.RestaurantID(fmt.Sprintf("restaurant-%05d", i))
		schedule, err := ParseSchedule("@every 2m", "", string(id))
		if err != nil {
			t.Fatal(err)
		}
		set.menus = append(set.menus, &Target{Restaurant: Restaurant{Restaurant: directory.Restaurant{ID: id}}, schedule: schedule, targetState: &targetState{}})
	}
	return s, seen
}

// startCron runs the ticks of a Scheduler until stop is called.
func startCron(t *testing.T, s *Scheduler) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.runCron(ctx)
	}()
	return func() { cancel(); <-done }
}

// drain returns the queued work as if it was done at once.
func (s *Scheduler) drain() []Work {
	var all []Work
	for {
		w, release, ok := s.queue.tryPop()
		if !ok {
			return all
		}
		release()
		w.Target.pending.Store(false)
		all = append(all, w)
	}
}

func TestCronFiresEachRestaurantAtItsTick_S1(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const restaurants = 10_000
		s, seen := ticking(t, restaurants)
		stop := startCron(t, s)
		ran := map[menu.RestaurantID]time.Time{}
		for window := range 12 { // ten seconds each, two minutes in all
			<-time.After(10 * time.Second)
			synctest.Wait()
			done := s.drain()
			if n := len(done); n < 700 || n > 1000 {
				t.Errorf("window %d has %d syncs, want about %d", window, n, restaurants/12)
			}
			for _, w := range done {
				tick := w.Target.schedule.last(time.Now())
				if before, twice := ran[w.Target.ID]; twice {
					t.Errorf("%s ran for the ticks %v and %v within two minutes", w.Target.ID, before, tick)
				}
				ran[w.Target.ID] = tick
				if late := time.Since(tick); late > 10*time.Second {
					t.Errorf("%s was queued in the wrong window: its last tick was %v before", w.Target.ID, late)
				}
			}
		}
		stop()
		if len(ran) != restaurants {
			t.Errorf("%d of %d restaurants ran within their two minutes", len(ran), restaurants)
		}
		if n := seen.count(SkipBusy); n != 0 {
			t.Errorf("%d ticks skipped, want none", n)
		}
	})
}

// Policy S5a: rejection reasons are queued at their own ticks, not while Redis is down.
func TestReasonsAreFetchedOnTheDefaultSchedule_S5a(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, seen := ticking(t, 1)
		set := s.set.Load()
		set.reasons, set.menus = map[string]*Target{"main": set.menus[0]}, nil
		stop := startCron(t, s)
		for _, up := range []bool{true, false, true} {
			s.health.set(map[bool]error{false: ErrBusy}[up])
			<-time.After(2 * time.Minute)
			synctest.Wait()
			if got := len(s.drain()); got == 1 != up {
				t.Errorf("Redis is up: %t; %d fetches queued within an interval", up, got)
			}
		}
		stop()
		if n := seen.count(SkipRedis); n != 0 {
			t.Errorf("%d ticks of rejection reasons counted as skipped", n)
		}
	})
}

func TestTickThatFindsTheLastUnfinishedIsSkipped_S1(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, seen := ticking(t, 1)
		stop := startCron(t, s)
		<-time.After(7 * time.Minute) // three or four ticks, no worker
		synctest.Wait()
		stop()
		if got := len(s.drain()); got != 1 {
			t.Errorf("%d pieces of work queued, want 1", got)
		}
		if n := seen.count(SkipBusy); n < 2 || n > 3 {
			t.Errorf("%d ticks counted as skipped, want all others", n)
		}
	})
}

func TestTicksPauseWithoutRedis(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, seen := ticking(t, 1)
		s.health.set(ErrBusy)
		stop := startCron(t, s)
		<-time.After(2 * time.Minute)
		synctest.Wait()
		stop()
		if got := s.drain(); len(got) != 0 || seen.count(SkipRedis) == 0 {
			t.Errorf("queued %d, skipped %d, want nothing queued", len(got), seen.count(SkipRedis))
		}
	})
}
