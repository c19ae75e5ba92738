package chaos_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"larder.local/internal/testkit/chaos"
)

var (
	runFor = flag.Duration("chaos.for", 0, "run for so long on each form of Redis; 0: only the short run")
	seed   = flag.Uint64("chaos.seed", 0, "of the plan; 0: another one each time")
	again  = flag.String("chaos.history", "", "check this history again")
	keep   = flag.String("chaos.dir", "", "keep history and logs of failed runs below this folder")
)

var binary string

func TestMain(m *testing.M) {
	flag.Parse()
	if *seed == 0 {
		*seed = uint64(time.Now().UnixNano()) % 1_000_000
	}
	signal.Ignore(syscall.SIGXFSZ) // Redis must survive a full disk
	redis.SetLogger(silent{})
	os.Exit(run(m))
}

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "larder-chaos-")
	if err == nil {
		defer func() { _ = os.RemoveAll(dir) }()
		if !testing.Short() {
			binary, err = chaos.Build(context.Background(), dir)
		}
		// In memory, if there is such a folder: a disk that is slow for two seconds
		// would make Redis replace a master.
		if memory, failed := os.MkdirTemp("/dev/shm", "larder-chaos-"); failed == nil {
			defer func() { _ = os.RemoveAll(memory) }()
			err = errors.Join(err, os.Setenv("TMPDIR", memory))
		}
	}
	if err != nil {
		_, _ = fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

type silent struct{}

func (silent) Printf(context.Context, string, ...any) {}

// check does a run and fails if a rule is broken; then history and logs are kept.
func check(t *testing.T, r chaos.Run) {
	t.Helper()
	report(t, do(t, r))
}

// do does a run.
func do(t *testing.T, r chaos.Run) *chaos.History {
	t.Helper()
	if testing.Short() {
		t.Skip("-short starts no processes")
	}
	r.Binary, r.Seed = binary, *seed
	if r.Dir = t.TempDir(); *keep != "" {
		r.Dir = filepath.Join(*keep, strconv.FormatUint(r.Seed, 10), strings.ReplaceAll(t.Name(), "/", "-"))
	}
	t.Logf("seed %d, %s for %v:%s", r.Seed, r.Form, r.For, r.Plan)
	t.Cleanup(func() {
		if t.Failed() && *keep != "" {
			t.Logf("seed %d; history and logs are kept in %s", r.Seed, r.Dir)
		} else {
			_ = os.RemoveAll(r.Dir)
		}
	})
	return r.Do(t)
}

// report prints the counts, and fails with the broken rules.
func report(t *testing.T, h *chaos.History) {
	t.Helper()
	broken, counts := chaos.Check(h)
	t.Log(counts)
	rules := map[string]int{}
	for _, v := range broken {
		if rules[v.Rule]++; rules[v.Rule] <= 3 {
			t.Errorf("%v", v)
		}
	}
	if len(broken) > 0 {
		t.Errorf("%d violations: %v", len(broken), rules)
	}
}

// A short run of the whole harness with one fault.
func TestSmoke(t *testing.T) {
	check(t, chaos.Run{
		Form:    chaos.Single,
		For:     1500 * time.Millisecond,
		Clients: 2,
		Rest:    50 * time.Millisecond,
		Plan:    chaos.Plan{{At: 300 * time.Millisecond, For: 500 * time.Millisecond, Kind: chaos.MasterKilled}},
	})
}

// A service answers 503 although it has executed a call. Nothing is sent twice, unless retry_unavailable says that
// this cannot happen. The checker finds the orders that exist twice then.
func TestUnavailableAfterExecuting(t *testing.T) {
	for _, retry := range []bool{false, true} {
		t.Run(fmt.Sprintf("retry_unavailable %v", retry), func(t *testing.T) {
			h := do(t, chaos.Run{
				Form: chaos.Single, For: 2 * time.Second, Clients: 3, Rest: 30 * time.Millisecond, RetryUnavailable: retry,
				Plan: chaos.Plan{{For: 2 * time.Second, Kind: chaos.Overloaded}},
			})
			if !retry {
				report(t, h)
				return
			}
			if broken, counts := chaos.Check(h); counts.Doubled == 0 ||
				!slices.ContainsFunc(broken, func(v chaos.Violation) bool { return v.Rule == chaos.RuleOnce }) {
				t.Errorf("no order was found twice: %v, %v", counts, broken)
			}
		})
	}
}

// make chaos: on each topology of Redis, half of the time without a loss of data,
// the other half with one.
func TestChaos(t *testing.T) {
	if *runFor == 0 {
		t.Skip("make chaos runs it")
	}
	half := *runFor / 2
	for _, form := range []string{chaos.Single, chaos.Sentinel, chaos.Cluster} {
		r := chaos.Run{
			Form:    form,
			For:     half,
			Clients: 5,
			Rest:    150 * time.Millisecond,
		}
		t.Run(form, func(t *testing.T) {
			if form == chaos.Single {
				r.Plan = chaos.NewPlan(form, *seed, half, false)
				check(t, r)
				return
			}
			durable := r
			// The replicas fail before the master, three times in different ways.
			for n := range 3 {
				durable.Plan = append(durable.Plan, chaos.Step{
					At:     2*time.Second + time.Duration(n)*half/3,
					For:    4 * time.Second,
					Kind:   chaos.ReplicasFirst,
					Target: n,
				})
			}
			check(t, durable)
		})
		t.Run(form+" with a loss", func(t *testing.T) {
			r.Plan = chaos.NewPlan(form, *seed, half, true)
			check(t, r)
		})
	}
}

// Redis has no append-only file. Masters die and come back after a replica has taken over: no acknowledged order is lost
// or executed twice. Each order waits for both replicas, or for one: then the replica that has most must take over, as
// Sentinel decides. The short run has one failover.
func TestChaosWithoutDisk_O14b(t *testing.T) {
	for _, wait := range []int{2, 1} {
		t.Run(fmt.Sprintf("wait_replicas %d", wait), func(t *testing.T) {
			if *runFor == 0 && wait == 1 {
				t.Skip("make chaos runs it")
			}
			r := chaos.Run{
				Form: chaos.Sentinel, For: max(*runFor/2, 8*time.Second), Clients: 5, Rest: 150 * time.Millisecond,
				WithoutDisk: true, Wait: wait,
			}
			for at := time.Second; at+7*time.Second <= r.For; at += 15 * time.Second {
				r.Plan = append(r.Plan, chaos.Step{At: at, For: 6 * time.Second, Kind: chaos.MasterKilled})
			}
			check(t, r)
		})
	}
}

func TestHistoryAgain(t *testing.T) {
	if *again == "" {
		t.Skip("-chaos.history names no history")
	}
	h, err := chaos.ReadHistory(*again)
	if err != nil {
		t.Fatal(err)
	}
	report(t, h)
}
