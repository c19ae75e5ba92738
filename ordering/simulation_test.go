package ordering_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"pgregory.net/rapid"

	"larder.local/internal/menu"
	"larder.local/internal/testkit/menutest"
)

// simulation is the state machine. Its methods are the steps.
type simulation struct {
	*world
	labels int
}

// replica chooses a random instance.
func (s *simulation) replica(t *rapid.T) *replica {
	return s.replicas[rapid.IntRange(0, len(s.replicas)-1).Draw(t, "replica")]
}

// quiesce runs everything until nothing can continue before time advances.
func (s *simulation) quiesce() {
	synctest.Wait()
	for i, r := range s.replicas {
		if r.gate.isDead() {
			s.seen("crash")
			s.replace(i)
			synctest.Wait()
		}
	}
}

// weather selects the faults of a run.
type weather struct {
	name string
	// service, journal and process are the weights of their faults.
	service, journal, process int
}

// actions returns the steps, each as often as its weight.
func (s *simulation) actions(w weather) map[string]func(*rapid.T) {
	actions := map[string]func(*rapid.T){"": s.verify}
	for _, step := range []struct {
		name   string
		weight int
		run    func(*rapid.T)
	}{
		{"place", 6, s.place},
		{"place an invalid order", 1, s.placeWrong},
		{"change", 6, s.change},
		{"another program places an order", 1, s.foreign},
		{"stop a dish", 2, s.stopDish},
		{"time passes", 6, s.pass},
		{"client leaves", 1, s.leave},
		{"resolve", 4, s.resolveOne},
		{"service fails", 7 * w.service, s.fail},
		{"journal fails", 3 * w.journal, s.failJournal},
		{"journal connection is lost or restored", w.journal, s.disconnect},
		{"instance is killed at a journal call", w.process, s.die},
		{"crash", w.process, s.crash},
		{"restart", 1, s.restart},
	} {
		for i := range step.weight {
			actions[fmt.Sprintf("%s %d", step.name, i+1)] = step.run
		}
	}
	return actions
}

// TestSimulation runs larder with random faults (policies O7 to O12). To reproduce a failure,
// use the printed -rapid.seed.
func TestSimulation(t *testing.T) {
	t.Parallel()
	onSale := menutest.Compile(t, menutest.Card, menu.DefaultSettings())
	stopped := menutest.Compile(t, strings.Replace(menutest.Card, `"name":"Soup",`, `"name":"Soup","isContainInStopList":["r-1"],`, 1),
		menu.DefaultSettings())
	for _, weather := range []weather{
		{"everything fails", 1, 1, 1},
		{"the service fails", 1, 0, 0},
		{"the journal fails", 0, 2, 0},
		{"instances are killed", 1, 0, 2},
	} {
		t.Run(weather.name, func(t *testing.T) {
			t.Parallel()
			var mu sync.Mutex
			kinds := map[string]int{}
			rapid.Check(t, func(t *rapid.T) {
				rapid.SyncTest(t, func(t *rapid.T) {
					s := &simulation{world: newWorld(t.Context(), [2]*menu.Catalogue{onSale, stopped})}
					defer s.end()
					s.steady = weather.journal == 0 && weather.process == 0
					t.Repeat(s.actions(weather))
					s.converge()
					s.must(t)
					mu.Lock()
					defer mu.Unlock()
					for kind, n := range s.truth.kinds {
						kinds[kind] += n
					}
				})
			})
			for _, kind := range slices.Sorted(maps.Keys(kinds)) {
				t.Logf("%6d %s", kinds[kind], kind)
			}
			needed := []string{"create done", "pay done", "complete done", "reject done", "error reused", "error state"}
			for _, kind := range needed[:menutest.Rounds(1, len(needed))] { // in few histories the others may be missing
				if kinds[kind] == 0 && !testing.Short() {
					t.Errorf("the runs had no %q: they test too little", kind)
				}
			}
		})
	}
}

// verify is called by rapid before and after every step.
func (s *simulation) verify(t *rapid.T) {
	s.quiesce()
	s.check()
	s.must(t)
}

func (s *simulation) must(t *rapid.T) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.faults) > 0 {
		t.Fatalf("%s", strings.Join(s.faults, "\n"))
	}
}
