package sync

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"larder/cache"
)

// anyRun draws a finished run with times and steps as records have them.
func anyRun(t *rapid.T) Run {
	var made ids
	asked := time.UnixMilli(rapid.Int64Range(0, 1<<45).Draw(t, "asked")).UTC()
	count := rapid.IntRange(0, 1<<40)
	step := rapid.Custom(func(t *rapid.T) float64 {
		return float64(rapid.Int64Range(0, 100_000_000).Draw(t, "µs")) / 1000
	})
	run := Run{
		ID: made.next(asked), Restaurant: "a", State: StateFinished,
		Trigger: rapid.SampledFrom(packedTriggers).Draw(t, "trigger"), Outcome: rapid.SampledFrom(packedOutcomes).Draw(t, "outcome"),
		Force: rapid.Bool().Draw(t, "force"), By: rapid.SliceOfN(rapid.StringN(1, 5, -1), 0, 2).Draw(t, "by"),
		StartedAt: asked.Add(time.Duration(rapid.IntRange(-10_000, 1e8).Draw(t, "waited")) * time.Millisecond),
		Version:   int64(count.Draw(t, "version")), Bytes: count.Draw(t, "bytes"), Products: count.Draw(t, "products"),
		Steps:    Steps{step.Draw(t, "fetch"), step.Draw(t, "decode"), step.Draw(t, "lint"), step.Draw(t, "compile"), step.Draw(t, "publish")},
		Changes:  Changes{Added: count.Draw(t, "added"), Removed: count.Draw(t, "removed"), Changed: count.Draw(t, "changed")},
		Findings: count.Draw(t, "findings"), Error: rapid.String().Draw(t, "error"),
	}
	run.FinishedAt = run.StartedAt.Add(time.Duration(rapid.IntRange(-10_000, 1e8).Draw(t, "took")) * time.Millisecond)
	if len(run.By) == 0 {
		run.By = nil
	}
	if rapid.Bool().Draw(t, "back") {
		run.Rollback = &Rollback{Version: int64(count.Draw(t, "to")), Hold: cache.HoldUntil("released")}
	}
	return run
}

func TestPackedRunsComeBackAsTheyWere(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		run := anyRun(t)
		packed, err := pack(&run)
		if err != nil {
			t.Fatal(err)
		}
		back, err := unpack(packed, run.Restaurant)
		if diff := cmp.Diff(run, back); err != nil || diff != "" {
			t.Fatalf("unpack: %v\n%s", err, diff)
		}
		for cut := range len(packed) - 1 {
			if _, err := unpack(packed[:cut], "a"); run.Error != "" && err == nil {
				t.Fatalf("the first %d of %d bytes were read as a run", cut, len(packed))
			}
		}
	})
}

func TestPackedRunsAreSmall(t *testing.T) {
	t.Parallel()
	var made ids
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	run := Run{
		ID: made.next(at), Trigger: TriggerCron, Outcome: OutcomeUnchanged, StartedAt: at.Add(3 * time.Millisecond),
		FinishedAt: at.Add(40 * time.Millisecond), Version: 1234, Bytes: 540_000, Products: 400, Findings: 300,
		Steps: Steps{Fetch: 23.456, Publish: 1.234},
	}
	packed, err := pack(&run)
	if err != nil || len(packed) > 48 {
		t.Errorf("an unchanged run takes %d bytes (%v), want at most 48", len(packed), err)
	}
}

func TestUnreadablePackedRunsAreErrors(t *testing.T) {
	t.Parallel()
	for name, data := range map[string]string{
		"nothing":         "",
		"JSON":            `{"id":"01KCF0000000000000000000"}`,
		"another form":    "\x02" + strings.Repeat("\x00", 40),
		"another trigger": "\x01\x63" + strings.Repeat("\x00", 40),
		"another outcome": "\x01\x00\x63" + strings.Repeat("\x00", 40),
		"cut":             "\x01\x00\x00\x00" + strings.Repeat("\x00", 20),
		"no rest":         "\x01\x00\x00\x02" + strings.Repeat("\x00", 40),
	} {
		if _, err := unpack([]byte(data), "a"); !errors.Is(err, errPacked) {
			t.Errorf("%s: %v, want errPacked", name, err)
		}
	}
	if _, err := pack(&Run{ID: strings.Repeat("0", 26), Trigger: "whim", Outcome: OutcomeUpdated}); err == nil {
		t.Error("a run of an unknown trigger was packed")
	}
}

func FuzzUnpack(f *testing.F) {
	f.Add([]byte("\x01\x00\x00\x00" + strings.Repeat("\x00", 40)))
	f.Add([]byte("\x01\x00\x00\x02" + strings.Repeat("\x00", 40) + `{"error":"x"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		if run, err := unpack(data, "a"); err == nil && (!run.Finished() || !isID(run.ID) || run.Restaurant != "a") {
			t.Fatalf("%q was read as %+v", data, run)
		}
	})
}
