package runlog

import (
	"encoding/json"
	"time"

	"larder.local/cache"
	"larder.local/internal/menu"
)

// Trigger is why a run happens.
type Trigger string

// The triggers of a run.
const (
	TriggerCron    Trigger = "cron"    // its schedule, or the catch-up after Redis was down
	TriggerManual  Trigger = "manual"  // requested by a person or program (policy S8)
	TriggerStartup Trigger = "startup" // missing or stale when larder started
)

// State is how far a run is.
type State string

// The states of a run, in their order.
const (
	StateQueued   State = "queued"
	StateRunning  State = "running"
	StateFinished State = "finished"
)

// Outcome is the result of a run; empty until it is finished.
type Outcome string

// The outcomes of a run.
const (
	OutcomeUpdated     Outcome = "updated"     // a new version is served
	OutcomeUnchanged   Outcome = "unchanged"   // confirmed: only checkedAt changed (policy S3)
	OutcomeQuarantined Outcome = "quarantined" // refused by the guard (policy S4)
	OutcomeHeld        Outcome = "held"        // not published because of a rollback's hold (policy S7a)
	OutcomeFailed      Outcome = "failed"      // the last good menu is still served (policy S5)
	OutcomeWaiting     Outcome = "waiting"     // a circuit breaker was open, so the service was not asked (policy S10)
	OutcomeSkipped     Outcome = "skipped"     // another run did it or is in progress; not recorded
)

// Steps is how long each step of a run took, in milliseconds; 0 if it was not reached.
type Steps struct {
	Compile float64 `json:"compile,omitzero"`
	Decode  float64 `json:"decode,omitzero"`
	Fetch   float64 `json:"fetch,omitzero"`
	Lint    float64 `json:"lint,omitzero"`
	Publish float64 `json:"publish,omitzero"`
}

// Changes counts the products that a run added, removed and changed, including availability.
type Changes struct {
	Added   int `json:"added"`
	Removed int `json:"removed"`
	Changed int `json:"changed"`
}

// Rollback is the version that a run publishes again (policy S7a).
type Rollback struct {
	Version int64           `json:"version"` // in the history
	Hold    cache.HoldUntil `json:"hold"`
}

// Run is the record of one sync of one restaurant. MarshalJSON returns the format of the HTTP API; the tags are those
// of a stored record, and read both.
type Run struct {
	ID         string            `json:"id"` // 26 characters, sorted by the time of the request
	Restaurant menu.RestaurantID `json:"restaurant,omitempty"`
	Trigger    Trigger           `json:"trigger"`
	By         []string          `json:"by,omitempty"` // clients that requested or joined it, in that order
	Force      bool              `json:"force,omitzero"`
	Rollback   *Rollback         `json:"rollback,omitempty"` // what it publishes again; nil for a sync
	State      State             `json:"state,omitempty"`
	StartedAt  time.Time         `json:"startedAt"`           // the time of the request while it is queued
	FinishedAt time.Time         `json:"finishedAt,omitzero"` // zero until finished
	Outcome    Outcome           `json:"outcome,omitempty"`   // empty until finished
	Version    int64             `json:"version,omitzero"`    // served when it finished; 0: none
	From       int64             `json:"from,omitzero"`       // served before, if the run published another content
	Steps      Steps             `json:"steps,omitzero"`
	Bytes      int               `json:"bytes,omitzero"` // of the fetched body; 0 after "304 Not Modified"
	Products   int               `json:"products,omitzero"`
	Changes    Changes           `json:"changes,omitzero"`
	Findings   int               `json:"findings,omitzero"` // of lint
	Error      string            `json:"error,omitempty"`   // for a person: what failed and what was tried; empty: nothing
	// Folded is set if the record represents several scheduled runs that found
	// nothing changed. The other fields are those of the last one.
	Folded *Folded `json:"folded,omitempty"`
}

// Folded describes the runs that one record represents.
type Folded struct {
	Count   int       `json:"count"`            // including the last one
	First   string    `json:"first"`            // its id
	FirstAt time.Time `json:"firstAt,omitzero"` // the time of that id
}

// runJSON is the format of a Run in the HTTP API.
type runJSON struct {
	ID         string            `json:"id"`
	Restaurant menu.RestaurantID `json:"restaurant"`
	Trigger    Trigger           `json:"trigger"`
	By         []string          `json:"by"`
	Force      bool              `json:"force"`
	Rollback   *Rollback         `json:"rollback,omitempty"`
	State      State             `json:"state"`
	StartedAt  *string           `json:"startedAt"`
	FinishedAt *string           `json:"finishedAt"`
	Outcome    *Outcome          `json:"outcome"`
	Version    int64             `json:"version"`
	From       int64             `json:"from,omitzero"`
	Steps      Steps             `json:"steps"`
	Bytes      int               `json:"bytes"`
	Products   int               `json:"products"`
	Changes    Changes           `json:"changes"`
	Findings   int               `json:"findings"`
	Error      *string           `json:"error"`
	Folded     *Folded           `json:"folded,omitempty"`
}

// MarshalJSON returns the run in the format of the HTTP API: times with
// milliseconds, null for unknown values, and only the steps that were reached.
func (r Run) MarshalJSON() ([]byte, error) {
	wire := runJSON{
		ID:         r.ID,
		Restaurant: r.Restaurant,
		Trigger:    r.Trigger,
		By:         append([]string{}, r.By...),
		Force:      r.Force,
		Rollback:   r.Rollback,
		State:      r.State,
		StartedAt:  menu.TimeOrNull(r.StartedAt),
		FinishedAt: menu.TimeOrNull(r.FinishedAt),
		Version:    r.Version,
		From:       r.From,
		Steps:      r.Steps,
		Bytes:      r.Bytes,
		Products:   r.Products,
		Changes:    r.Changes,
		Findings:   r.Findings,
		Folded:     r.Folded,
	}
	if r.Outcome != "" {
		wire.Outcome = &r.Outcome
	}
	if r.Error != "" {
		wire.Error = &r.Error
	}
	return json.Marshal(wire)
}

// JSON returns the run in the format of the HTTP API, as scripts store it until it finishes.
func (r Run) JSON() []byte { return textOf(r) }

// textOf returns the JSON of a run, which has only texts, numbers and times.
func textOf(run any) []byte {
	text, err := json.Marshal(run)
	if err != nil {
		panic(err) // cannot happen
	}
	return text
}

// storedRun is a Run with the JSON of its tags.
type storedRun Run

// recordJSON is a stored finished run, without the values that its key contains.
type recordJSON struct {
	storedRun
	Took int64 `json:"ms"` // from startedAt to finishedAt
}

// encodeRecord returns the record of a finished run. appendrun.lua needs the id as its first member.
func encodeRecord(run *Run) []byte {
	record := recordJSON{storedRun: storedRun(*run), Took: run.FinishedAt.Sub(run.StartedAt).Milliseconds()}
	record.Restaurant, record.State, record.FinishedAt = "", "", time.Time{}
	record.StartedAt = run.StartedAt.UTC().Truncate(time.Millisecond)
	return textOf(record)
}

// decodeRecord reads the output of encodeRecord, as appendrun.lua stored it, with the names of clients
// that joined. It returns the zero Run for a record in another format.
func decodeRecord(restaurant menu.RestaurantID, text, joined string) Run {
	var record recordJSON
	if json.Unmarshal([]byte(text), &record) != nil || !isID(record.ID) {
		return Run{}
	}
	run := Run(record.storedRun)
	run.FinishedAt = run.StartedAt.Add(time.Duration(record.Took) * time.Millisecond)
	run.Restaurant, run.State, run.By = restaurant, StateFinished, joinNames(run.By, joined)
	if run.Folded != nil {
		if !isID(run.Folded.First) {
			return Run{}
		}
		run.Folded.FirstAt = time.UnixMilli(IDTime(run.Folded.First)).UTC()
	}
	return run
}

// Finished reports whether the run has ended, with any outcome.
func (r Run) Finished() bool { return r.State == StateFinished }

// HolderLost is the error of a run whose holder vanished (policy S8).
const HolderLost = "holder lost"

// Ending returns the first arguments of a script that ends a run; see appendrun.lua.
func (l *Log) Ending(run *Run) []any {
	kept := l.cfg.Runs
	if l.cfg.Unlisted(run.Restaurant) {
		kept = l.cfg.UnlistedRuns
	}
	// Scheduled runs that nobody requested and that found nothing changed share one record.
	folds := run.Trigger == TriggerCron && run.Outcome == OutcomeUnchanged && !run.Force && len(run.By) == 0
	return []any{run.ID, encodeRecord(run), kept, IDTime(run.ID), l.NoticeChannel(run.Restaurant), run.JSON(), folds}
}

// NoticeChannel returns the channel for notices of the runs under an id; empty if they are unlisted.
func (l *Log) NoticeChannel(id menu.RestaurantID) string {
	if l.cfg.Unlisted(id) {
		return ""
	}
	return l.keys.RunNotices()
}
