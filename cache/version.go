package cache

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"

	"larder.local/internal/menu"
)

// Version describes one version of a restaurant's catalogue. Its record in Redis is JSON with the fields that have a name.
// The caller must not change its slices.
type Version struct {
	Restaurant menu.RestaurantID `json:"-"`
	Version    int64             `json:"version"` // from 1, only grows
	Content    string            `json:"content"` // the hash of its content
	Name       string            `json:"name"`    // the restaurant's name in the configuration when this version was published
	Stops      menu.Stops        `json:"stops"`
	Served     menu.Stops        `json:"-"`        // Stops and what operators have snoozed; empty outside of a replica
	SyncedAt   time.Time         `json:"syncedAt"` // UTC, whole milliseconds: when this version was fetched
	CheckedAt  time.Time         `json:"-"`        // UTC, whole milliseconds: when it was last confirmed
	Counts     menu.Counts       `json:"counts"`
	// LastOutcome is the outcome of the last finished run: "updated", "unchanged", "quarantined", "failed", ….
	LastOutcome string `json:"-"`
	Held        bool   `json:"-"`     // a rollback holds it (policy S7a)
	Hold        Hold   `json:"-"`     // zero if Held is false
	Bytes       int    `json:"bytes"` // size of the content
	// ModifiedAt is SyncedAt, or the next full second after the previous version's ModifiedAt if that is later.
	// So no two versions have the same Last-Modified, and ModifiedAt may be slightly in the future.
	ModifiedAt time.Time `json:"modifiedAt,omitzero"` // the record omits it if it is SyncedAt
	// Published identifies what the ordering service published: the content and the stop lists of all restaurants.
	// Published and PublishedAt may change without a new version. PublishedAt follows the rule of ModifiedAt.
	Published   string    `json:"-"`
	PublishedAt time.Time `json:"-"`
	// Floor is the highest version that was served and that Redis has lost, or 0; see Behind.
	Floor int64 `json:"-"`
	// Source is the service that published it (policy O16); empty if the Store has no sources.
	Source string `json:"source,omitempty"`
	// Settings are those that it was compiled with; nil if an older version of larder published it. ReadAt is when the
	// configuration with them was read, by Redis's clock (policy S9).
	Settings *menu.Settings `json:"settings,omitempty"`
	ReadAt   time.Time      `json:"readAt,omitzero"`
}

// Snapshot is one version of a restaurant's catalogue. It never changes, so
// everything read from one snapshot belongs to one version.
type Snapshot struct {
	Version
	Catalogue *menu.Catalogue
}

// EventID identifies the version in a few characters, the same on every instance: "<version>-<8 hex digits>". The digits
// are a hash of the content and the sync time. If Redis loses its data, two versions can have the same number, but their
// hashes differ. Snoozes change it too.
func (v Version) EventID() string {
	text := v.Content + " " + menu.FormatTime(v.SyncedAt)
	if !v.Served.Equal(v.Stops) {
		text += fmt.Sprintf(" %q", v.Served)
	}
	hash := sha256.Sum256([]byte(text))
	return strconv.FormatInt(v.Version, 10) + "-" + hex.EncodeToString(hash[:4])
}

// recordTimes are the options for a record: those of encoding/json, and times in menu.TimeFormat. A time that larder did not
// write is read as zero.
//
//nolint:gochecknoglobals // constant
var recordTimes = json.JoinOptions(
	jsonv1.DefaultOptionsV1(),
	json.WithMarshalers(json.MarshalToFunc(func(to *jsontext.Encoder, t time.Time) error {
		return to.WriteToken(jsontext.String(menu.FormatTime(t)))
	})),
	json.WithUnmarshalers(json.UnmarshalFromFunc(func(from *jsontext.Decoder, t *time.Time) error {
		token, err := from.ReadToken()
		*t, _ = parseTime(token.String())
		return err
	})),
)

func encodeRecord(v Version) ([]byte, error) {
	if !v.ModifiedAt.After(v.SyncedAt) {
		v.ModifiedAt = time.Time{}
	}
	return json.Marshal(v, recordTimes)
}

// decodeRecord reads a record. It sets CheckedAt to SyncedAt. The error is ErrCorrupt.
func decodeRecord(restaurant menu.RestaurantID, raw []byte) (Version, error) {
	v := Version{Restaurant: restaurant}
	if err := json.Unmarshal(raw, &v, recordTimes); err != nil {
		return Version{}, fmt.Errorf("cache: record of %s: %w: %w", restaurant, ErrCorrupt, err)
	}
	if v.Version < 1 || v.Content == "" || v.SyncedAt.IsZero() {
		return Version{}, fmt.Errorf("cache: record of %s: version %d, content %q, syncedAt %s: %w",
			restaurant, v.Version, v.Content, v.SyncedAt, ErrCorrupt)
	}
	v.CheckedAt = v.SyncedAt
	if v.ModifiedAt.IsZero() {
		v.ModifiedAt = v.SyncedAt
	}
	return v, nil
}

// fieldValues is a result of HMGET. A value that is absent, or that larder did not write, counts as zero.
type fieldValues []any

func (f fieldValues) text(i int) string {
	if i >= len(f) {
		return ""
	}
	s, _ := f[i].(string)
	return s
}

func (f fieldValues) number(i int) int64 {
	n, _ := strconv.ParseInt(f.text(i), 10, 64)
	return n
}

func (f fieldValues) time(i int) time.Time {
	t, _ := parseTime(f.text(i))
	return t
}

// ClockSlack is the largest accepted difference between the clocks of instances. A stored CheckedAt that is
// further in the future is from a wrong clock, and the next check replaces it.
const ClockSlack = time.Minute

func parseTime(s string) (time.Time, error) { return time.Parse(menu.TimeFormat, s) }

// afterLast returns t, or the full second after before if t is earlier than that. So the two
// times differ by a second or more in HTTP dates, and If-Modified-Since distinguishes them.
func afterLast(t, before time.Time) time.Time {
	if next := before.Truncate(time.Second).Add(time.Second); !before.IsZero() && t.Before(next) {
		return next
	}
	return t
}

// ModifiedAfter returns the ModifiedAt of a version whose body changes at a time without a new version.
func (v Version) ModifiedAfter(at time.Time) time.Time {
	return afterLast(truncateMillis(at), v.ModifiedAt)
}

// truncateMillis returns t in UTC and without fractions of a millisecond, as in Redis and in responses.
func truncateMillis(t time.Time) time.Time { return t.UTC().Truncate(time.Millisecond) }
