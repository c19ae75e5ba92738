package sync

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"larder.local/cache"
	"larder.local/internal/menu"
	"larder.local/internal/redisdb"
	"larder.local/internal/silentlog"
	"larder.local/internal/testkit/redistest"
	"larder.local/sync/runlog"
)

// BenchmarkRunRecords measures the memory of Redis for the runs of a chain of
// 10,000 restaurants with a hundred records each: of ten, two are folds, six
// updates, one a failure and one a manual run.
func BenchmarkRunRecords(b *testing.B) {
	const restaurants, records, most = 10_000, 100, 400
	opened, err := redisdb.Open(redisdb.Config{URL: redistest.Start(b).URL()}, silentlog.New())
	if err != nil {
		b.Fatal(err)
	}
	defer opened.Close() //nolint:errcheck // its server ends with the test
	r, err := NewRunner(Deps{Redis: opened, Store: cache.NewStore(opened, cache.StoreConfig{}), Clock: time.Now})
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if err := r.redis.FlushAll(b.Context()).Err(); err != nil {
			b.Fatal(err)
		}
		before := usedMemory(b, r.redis)
		at := time.Date(2026, 3, 1, 12, 0, 0, 123_000_000, time.UTC)
		count := 0
		for n := range records {
			for _, run := range runsOf(n, r.runs, at.Add(time.Duration(n)*10*time.Minute)) {
				for part := range restaurants / 500 {
					r.writeRuns(b, run, part*500, 500)
				}
			}
			count += restaurants
		}
		each := (usedMemory(b, r.redis) - before) / count
		b.ReportMetric(float64(each), "B/record")
		if length := r.redis.XLen(b.Context(), r.deps.Store.Keys().RunLog(restaurantNo(7))).Val(); length != records {
			b.Fatalf("%d records of a restaurant, want %d", length, records)
		}
		if each > most {
			b.Errorf("a record takes %d bytes, want at most %d", each, most)
		}
	}
}

// runsOf returns the runs of the n-th record: three of a fold, else one.
func runsOf(n int, made *runlog.Log, at time.Time) []runlog.Run {
	run := runlog.Run{
		Trigger:    runlog.TriggerCron,
		Outcome:    runlog.OutcomeUpdated,
		State:      runlog.StateFinished,
		StartedAt:  at,
		FinishedAt: at.Add(67 * time.Millisecond),
		Version:    1234,
		Steps: runlog.Steps{
			Fetch:   43.456,
			Decode:  3.214,
			Lint:    0.871,
			Compile: 2.345,
			Publish: 5.123,
		},
		Bytes:    539_504,
		Products: 412,
		Changes:  runlog.Changes{Added: 1, Changed: 12},
		Findings: 37,
	}
	times := 1
	switch n % 10 {
	case 2, 6:
		run.Outcome, run.Changes, run.Steps, times = runlog.OutcomeUnchanged, runlog.Changes{}, runlog.Steps{Fetch: 23.456}, 3
	case 4:
		run.Outcome, run.Changes, run.Steps = runlog.OutcomeFailed, runlog.Changes{}, runlog.Steps{Fetch: 9234.123}
		run.Error = "fetch the menu view of restaurant 76439fb3-c0c4-42ca-a269-64f031a6a33b over connection main: " +
			"the ordering service answered 502 Bad Gateway (tried for 9.234s); the last good menu is still served"
	case 8:
		run.Trigger, run.By = runlog.TriggerManual, []string{"operations"}
	}
	var runs []runlog.Run
	for i := range times {
		run.ID = made.NewID(at.Add(time.Duration(i) * 2 * time.Minute))
		runs = append(runs, run)
	}
	return runs
}

func restaurantNo(n int) menu.RestaurantID {
	return menu.RestaurantID(fmt.Sprintf("76439fb3-c0c4-42ca-a269-%012d", n))
}

// writeRuns finishes the run for count restaurants.
func (r *Runner) writeRuns(b *testing.B, run runlog.Run, first, count int) {
	b.Helper()
	if err := finishScript.Load(b.Context(), r.redis).Err(); err != nil {
		b.Fatal(err)
	}
	keys := r.deps.Store.Keys()
	_, err := r.redis.Pipelined(b.Context(), func(pipe redis.Pipeliner) error {
		for n := range count {
			id := restaurantNo(first + n)
			run.Restaurant = id
			end := r.runs.Ending(&run)
			end[4], end[5] = "", "" // no notice
			pipe.HSet(b.Context(), keys.Fence(id), "run", run.ID)
			finishScript.EvalSha(b.Context(), pipe,
				[]string{keys.Lease(id), keys.Fence(id), keys.Runs(id), keys.RunLog(id), keys.Current(id)},
				append(end, "", "", "")...)
		}
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
}

func usedMemory(b *testing.B, client redis.UniversalClient) int {
	b.Helper()
	info, err := client.Info(b.Context(), "memory").Result()
	if err != nil {
		b.Fatal(err)
	}
	_, rest, _ := strings.Cut(info, "\nused_memory:")
	text, _, _ := strings.Cut(rest, "\r")
	used, err := strconv.Atoi(text)
	if err != nil {
		b.Fatal(err)
	}
	return used
}
