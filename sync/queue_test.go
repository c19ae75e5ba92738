package sync

import (
	"testing"

	"pgregory.net/rapid"

	"larder.local/internal/directory"
)

func connectionsOf(names ...string) []Connection {
	connections := make([]Connection, len(names))
	for i, name := range names {
		connections[i].Name = name
	}
	return connections
}

func workFor(connection string, p priority) Work {
	return Work{Target: &Target{Restaurant: Restaurant{Restaurant: directory.Restaurant{Connection: connection}}}, Priority: p}
}

func TestManualRunsGoFirstThenMissingMenus(t *testing.T) {
	t.Parallel()
	q := newQueue(1, connectionsOf("main"))
	for _, p := range []priority{bySchedule, byRequest, withoutMenu} {
		q.push(workFor("main", p))
	}
	for _, want := range []priority{byRequest, withoutMenu, bySchedule} {
		w, release, ok := q.pop(t.Context())
		if !ok || w.Priority != want {
			t.Fatalf("pop = %d, %v, want %d", w.Priority, ok, want)
		}
		if _, _, more := q.tryPop(); more {
			t.Error("a second worker, want one")
		}
		release()
	}
}

// The running work of one connection never takes all workers from another one.
func TestConnectionsShareTheWorkers(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		names := []string{"a", "b", "c", "d"}[:rapid.IntRange(1, 4).Draw(t, "connections")]
		concurrency := rapid.IntRange(1, 9).Draw(t, "concurrency")
		q := newQueue(concurrency, connectionsOf(names...))
		waiting, busy := map[string]int{}, map[string][]func(){}
		total := 0
		t.Repeat(map[string]func(*rapid.T){
			"push": func(t *rapid.T) {
				name := rapid.SampledFrom(names).Draw(t, "of")
				q.push(workFor(name, rapid.SampledFrom([]priority{bySchedule, byRequest}).Draw(t, "priority")))
				waiting[name]++
			},
			"take": func(t *rapid.T) {
				w, release, ok := q.tryPop()
				if !ok {
					t.Skip("nothing is waiting")
				}
				name := w.Target.Connection
				waiting[name]--
				busy[name] = append(busy[name], release)
				total++
			},
			"release": func(t *rapid.T) {
				name := rapid.SampledFrom(names).Draw(t, "of")
				if len(busy[name]) == 0 {
					t.Skip("no worker has work of it")
				}
				busy[name][0]()
				busy[name] = busy[name][1:]
				total--
			},
			"": func(t *rapid.T) {
				if total > max(concurrency, len(names)) {
					t.Fatalf("%d runs in progress, want at most %d", total, concurrency)
				}
				for _, name := range names {
					if most := (max(concurrency, len(names)) + 1) / 2; len(names) > 1 && len(busy[name]) > most {
						t.Fatalf("%d workers are at %s, want at most %d", len(busy[name]), name, most)
					}
					if waiting[name] > 0 && len(busy[name]) == 0 && !q.hasWorker(q.queueOf(name)) {
						t.Fatalf("%s has waiting work and no worker", name)
					}
				}
			},
		})
		// Everything is executed in the end.
		for done := true; done; {
			for name, releases := range busy {
				for _, release := range releases {
					release()
				}
				delete(busy, name)
			}
			done = false
			for w, release, ok := q.tryPop(); ok; w, release, ok = q.tryPop() {
				name := w.Target.Connection
				waiting[name]--
				busy[name] = append(busy[name], release)
				done = true
			}
		}
		for name, n := range waiting {
			if n != 0 {
				t.Fatalf("%d runs of %s were never executed", n, name)
			}
		}
	})
}

func TestConnectionsTakeTurns(t *testing.T) {
	t.Parallel()
	q := newQueue(2, connectionsOf("main", "other"))
	for range 3 {
		q.push(workFor("main", bySchedule))
	}
	q.push(workFor("other", bySchedule))
	for i, want := range []string{"main", "other", "main", "main"} {
		w, release, ok := q.tryPop()
		if !ok || w.Target.Connection != want {
			t.Fatalf("turn %d: %v, want %s", i, ok, want)
		}
		release()
	}
}
