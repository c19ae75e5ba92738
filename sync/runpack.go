package sync

import (
	"encoding/base32"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"larder/internal/menu"
)

// A finished run is kept packed, in about 45 bytes where nothing went wrong: as
// JSON, a thousand records of each of ten thousand restaurants would be most of
// what Redis holds. What is packed is never compared and never changes.
const packedForm = 1

// What a packed run may have beside its numbers.
const (
	packedForced = 1 << iota
	packedMore   // a packedRest stands at its end
)

// The order of these lists is part of the form.
var (
	packedTriggers = []Trigger{TriggerCron, TriggerManual, TriggerStartup}                                       //nolint:gochecknoglobals // never changed
	packedOutcomes = []Outcome{OutcomeUpdated, OutcomeUnchanged, OutcomeQuarantined, OutcomeHeld, OutcomeFailed} //nolint:gochecknoglobals // never changed
)

// packedRest is what most runs have not.
type packedRest struct {
	By       []string  `json:"by,omitempty"`
	Rollback *Rollback `json:"rollback,omitempty"`
	Error    string    `json:"error,omitempty"`
}

var idDigits = base32.NewEncoding(crockford).WithPadding(base32.NoPadding) //nolint:gochecknoglobals // never changed

// errPacked is a packed run that cannot be read.
var errPacked = errors.New("the record of a run cannot be read: another larder wrote it, or it is damaged")

// pack gives a finished run without its restaurant, which the key names.
func pack(run *Run) ([]byte, error) {
	trigger, outcome := slices.Index(packedTriggers, run.Trigger), slices.Index(packedOutcomes, run.Outcome)
	if trigger < 0 || outcome < 0 || !isID(run.ID) {
		return nil, fmt.Errorf("sync: run %q by %q with outcome %q cannot be kept", run.ID, run.Trigger, run.Outcome)
	}
	rest := packedRest{By: run.By, Rollback: run.Rollback, Error: run.Error}
	flags := byte(0)
	if run.Force {
		flags |= packedForced
	}
	more := len(rest.By) > 0 || rest.Rollback != nil || rest.Error != ""
	if more {
		flags |= packedMore
	}
	out := append(make([]byte, 0, 64), packedForm, byte(trigger), byte(outcome), flags) //nolint:gosec // a few
	out = appendID(out, run.ID)
	for _, number := range packedNumbers(run) {
		out = binary.AppendVarint(out, number)
	}
	if !more {
		return out, nil
	}
	tail, err := json.Marshal(rest)
	return append(out, tail...), err
}

// packedNumbers are the numbers of a run in the order of the form: times
// relative to the id's, in milliseconds, steps in microseconds.
func packedNumbers(run *Run) []int64 {
	micro := func(ms float64) int64 { return int64(math.Round(ms * 1000)) }
	return []int64{
		run.StartedAt.UnixMilli() - idTime(run.ID), run.FinishedAt.UnixMilli() - run.StartedAt.UnixMilli(), run.Version,
		micro(run.Steps.Fetch), micro(run.Steps.Decode), micro(run.Steps.Lint), micro(run.Steps.Compile), micro(run.Steps.Publish),
		int64(run.Bytes), int64(run.Products),
		int64(run.Changes.Added), int64(run.Changes.Removed), int64(run.Changes.Changed), int64(run.Findings),
	}
}

// unpack reads what pack wrote.
func unpack(data []byte, restaurant menu.RestaurantID) (Run, error) {
	const head = 4 + idBytes
	if len(data) < head || data[0] != packedForm || int(data[1]) >= len(packedTriggers) || int(data[2]) >= len(packedOutcomes) {
		return Run{}, errPacked
	}
	run := Run{
		ID: idText(data[4:head]), Restaurant: restaurant, State: StateFinished,
		Trigger: packedTriggers[data[1]], Outcome: packedOutcomes[data[2]], Force: data[3]&packedForced != 0,
	}
	more := data[3]&packedMore != 0
	data = data[head:]
	next := func() int64 {
		number, size := binary.Varint(data)
		if size <= 0 {
			data = nil
			return 0
		}
		data = data[size:]
		return number
	}
	milli := func() float64 { return float64(next()) / 1000 }
	started := idTime(run.ID) + next()
	run.StartedAt = time.UnixMilli(started).UTC()
	run.FinishedAt = time.UnixMilli(started + next()).UTC()
	run.Version = next()
	run.Steps = Steps{Fetch: milli(), Decode: milli(), Lint: milli(), Compile: milli(), Publish: milli()}
	run.Bytes, run.Products = int(next()), int(next())
	run.Changes = Changes{Added: int(next()), Removed: int(next()), Changed: int(next())}
	if data == nil {
		return Run{}, errPacked
	}
	run.Findings = int(next())
	if data == nil {
		return Run{}, errPacked
	}
	if more {
		var rest packedRest
		if err := json.Unmarshal(data, &rest); err != nil {
			return Run{}, fmt.Errorf("%w: %w", errPacked, err)
		}
		run.By, run.Rollback, run.Error = rest.By, rest.Rollback, rest.Error
	}
	return run, nil
}

// idBytes is the length of a packed id: 6 bytes of time, 10 of chance.
const idBytes = 16

// appendID packs an id of 26 characters.
func appendID(out []byte, id string) []byte {
	ms := idTime(id)
	for shift := 40; shift >= 0; shift -= 8 {
		out = append(out, byte(ms>>shift)) //nolint:gosec // its lowest byte is meant
	}
	chance, _ := idDigits.DecodeString(id[10:]) // 16 digits of isID: 10 bytes
	return append(out, chance...)
}

// idText unpacks an id.
func idText(packed []byte) string {
	var ms int64
	for _, b := range packed[:6] {
		ms = ms<<8 | int64(b)
	}
	var text [10]byte
	for i := 9; i >= 0; i-- {
		text[i] = crockford[ms&31]
		ms >>= 5
	}
	return string(text[:]) + idDigits.EncodeToString(packed[6:])
}
