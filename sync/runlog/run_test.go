package runlog_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"larder.local/sync/runlog"
)

func TestRunJSONIsAsDocumented(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 1, 12, 0, 0, 5_000_000, time.UTC)
	for name, c := range map[string]struct {
		run  runlog.Run
		want string
	}{
		"queued": {
			runlog.Run{
				ID:         "01HZX0000000000000000000AB",
				Restaurant: "r",
				Trigger:    runlog.TriggerManual,
				Force:      true,
				State:      runlog.StateQueued,
				StartedAt:  at,
			},
			`{"id":"01HZX0000000000000000000AB","restaurant":"r","trigger":"manual","by":[],"force":true,` +
				`"state":"queued","startedAt":"2026-03-01T12:00:00.005Z","finishedAt":null,"outcome":null,"version":0,` +
				`"steps":{},"bytes":0,"products":0,"changes":{"added":0,"removed":0,"changed":0},"findings":0,"error":null}`,
		},
		"finished": {
			runlog.Run{
				ID:         "01HZX0000000000000000000AB",
				Restaurant: "r",
				Trigger:    runlog.TriggerCron,
				By:         []string{"ops"},
				State:      runlog.StateFinished,
				StartedAt:  at,
				FinishedAt: at.Add(20 * time.Millisecond),
				Outcome:    runlog.OutcomeUpdated,
				Version:    42,
				Steps: runlog.Steps{
					Fetch:   12.3,
					Decode:  1.2,
					Lint:    0.3,
					Compile: 0.4,
					Publish: 0.8,
				},
				Bytes:    539504,
				Products: 400,
				Changes:  runlog.Changes{Added: 1, Changed: 3},
				Findings: 4,
				Error:    "why",
			},
			`{"id":"01HZX0000000000000000000AB","restaurant":"r","trigger":"cron","by":["ops"],"force":false,` +
				`"state":"finished","startedAt":"2026-03-01T12:00:00.005Z","finishedAt":"2026-03-01T12:00:00.025Z",` +
				`"outcome":"updated","version":42,` +
				`"steps":{"compile":0.4,"decode":1.2,"fetch":12.3,"lint":0.3,"publish":0.8},"bytes":539504,"products":400,` +
				`"changes":{"added":1,"removed":0,"changed":3},"findings":4,"error":"why"}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := json.Marshal(c.run)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, string(got)); diff != "" {
				t.Errorf("JSON (-want +got):\n%s", diff)
			}
			var back runlog.Run
			if err := json.Unmarshal(got, &back); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.run, back, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("read back (-want +got):\n%s", diff)
			}
		})
	}
}

func TestRunJSONRefusesGarbage(t *testing.T) {
	t.Parallel()
	for _, text := range []string{`[]`, `{"startedAt":"yesterday"}`, `{"finishedAt":"12:00"}`} {
		var run runlog.Run
		if err := json.Unmarshal([]byte(text), &run); err == nil {
			t.Errorf("Unmarshal(%s) = %+v, want an error", text, run)
		}
	}
}
