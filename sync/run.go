package sync

import (
	"encoding/json"
	"iter"
	"maps"
	"time"

	"larder/internal/menu"
)

// Trigger is why a run happens.
type Trigger string

// The triggers of a run.
const (
	TriggerCron    Trigger = "cron"    // its schedule, or the catch-up after Redis was gone
	TriggerManual  Trigger = "manual"  // asked for by a person or program (policy S8)
	TriggerStartup Trigger = "startup" // missing or old when larder started
)

// State is how far a run is.
type State string

// The states of a run, in their order.
const (
	StateQueued   State = "queued"
	StateRunning  State = "running"
	StateFinished State = "finished"
)

// Outcome is how a run ended; empty while it has not.
type Outcome string

// The outcomes of a run.
const (
	OutcomeUpdated     Outcome = "updated"     // a new version is served
	OutcomeUnchanged   Outcome = "unchanged"   // confirmed: only checkedAt moved (policy S3)
	OutcomeQuarantined Outcome = "quarantined" // refused by the guard (policy S4)
	OutcomeHeld        Outcome = "held"        // kept back by a rollback's hold (policy S7a)
	OutcomeFailed      Outcome = "failed"      // the last good menu goes on (policy S5)
	OutcomeSkipped     Outcome = "skipped"     // another run did it, or is at it; not recorded
)

// Steps is how long each step of a run took, in milliseconds.
type Steps struct {
	Fetch, Decode, Lint, Compile, Publish float64
}

// Changes counts the products that an updated run added, removed and changed
// (availability included).
type Changes struct {
	Added   int `json:"added"`
	Removed int `json:"removed"`
	Changed int `json:"changed"`
}

// Run is the record of one pass over one restaurant. Its JSON is "a run" of
// the HTTP interface's shapes.
type Run struct {
	ID         string // 26 characters, sorted by the time it was asked for
	Restaurant menu.RestaurantID
	Trigger    Trigger
	By         []string // who asked for it or joined it, in that order
	Force      bool
	Rollback   *Rollback // what it goes back to, instead of pulling; nil for a sync
	State      State
	StartedAt  time.Time // when it was asked for, while it is queued
	FinishedAt time.Time // zero until finished
	Outcome    Outcome   // empty until finished
	Version    int64     // served when it finished; 0 = none
	Steps      Steps
	Bytes      int // of the body pulled; 0 where the service answered "not modified"
	Products   int
	Changes    Changes
	Findings   int    // of lint
	Error      string // for a person: what failed and what was tried; empty = nothing
}

// runJSON is the wire form of a Run.
type runJSON struct {
	ID         string             `json:"id"`
	Restaurant menu.RestaurantID  `json:"restaurant"`
	Trigger    Trigger            `json:"trigger"`
	By         []string           `json:"by"`
	Force      bool               `json:"force"`
	Rollback   *Rollback          `json:"rollback,omitempty"`
	State      State              `json:"state"`
	StartedAt  *string            `json:"startedAt"`
	FinishedAt *string            `json:"finishedAt"`
	Outcome    *Outcome           `json:"outcome"`
	Version    int64              `json:"version"`
	Steps      map[string]float64 `json:"steps"`
	Bytes      int                `json:"bytes"`
	Products   int                `json:"products"`
	Changes    Changes            `json:"changes"`
	Findings   int                `json:"findings"`
	Error      *string            `json:"error"`
}

// MarshalJSON gives the run as the HTTP interface shows it: times with
// milliseconds, steps that were not reached left out, null for what is not yet
// known.
func (r Run) MarshalJSON() ([]byte, error) {
	wire := runJSON{
		ID: r.ID, Restaurant: r.Restaurant, Trigger: r.Trigger, By: r.By, Force: r.Force, Rollback: r.Rollback,
		State: r.State, StartedAt: timeText(r.StartedAt), FinishedAt: timeText(r.FinishedAt),
		Version: r.Version, Steps: maps.Collect(r.Steps.All()), Bytes: r.Bytes, Products: r.Products,
		Changes: r.Changes, Findings: r.Findings,
	}
	if wire.By == nil {
		wire.By = []string{}
	}
	if r.Outcome != "" {
		wire.Outcome = &r.Outcome
	}
	if r.Error != "" {
		wire.Error = &r.Error
	}
	return json.Marshal(wire)
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (r *Run) UnmarshalJSON(data []byte) error {
	var wire runJSON
	if err := json.Unmarshal(data, &wire); err != nil {
		return err
	}
	*r = Run{
		ID: wire.ID, Restaurant: wire.Restaurant, Trigger: wire.Trigger, Force: wire.Force, Rollback: wire.Rollback,
		State: wire.State, Version: wire.Version, Bytes: wire.Bytes, Products: wire.Products,
		Changes: wire.Changes, Findings: wire.Findings,
		Steps: Steps{
			Fetch: wire.Steps["fetch"], Decode: wire.Steps["decode"], Lint: wire.Steps["lint"],
			Compile: wire.Steps["compile"], Publish: wire.Steps["publish"],
		},
	}
	if len(wire.By) > 0 {
		r.By = wire.By
	}
	if wire.Outcome != nil {
		r.Outcome = *wire.Outcome
	}
	if wire.Error != nil {
		r.Error = *wire.Error
	}
	var err error
	if r.StartedAt, err = textTime(wire.StartedAt); err != nil {
		return err
	}
	r.FinishedAt, err = textTime(wire.FinishedAt)
	return err
}

// Finished tells whether the run has ended, one way or another.
func (r Run) Finished() bool { return r.State == StateFinished }

// All gives the steps that were reached, by name, in milliseconds.
func (s Steps) All() iter.Seq2[string, float64] {
	return func(yield func(string, float64) bool) {
		for _, step := range [...]struct {
			name string
			ms   float64
		}{{"fetch", s.Fetch}, {"decode", s.Decode}, {"lint", s.Lint}, {"compile", s.Compile}, {"publish", s.Publish}} {
			if step.ms > 0 && !yield(step.name, step.ms) {
				return
			}
		}
	}
}

func timeText(t time.Time) *string {
	if t.IsZero() {
		return nil
	}
	text := t.UTC().Format(menu.TimeFormat)
	return &text
}

func textTime(text *string) (time.Time, error) {
	if text == nil {
		return time.Time{}, nil
	}
	return time.Parse(menu.TimeFormat, *text)
}
