package cache

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"larder.local/internal/menu"
)

// Version describes one version of a restaurant's catalogue. The caller must not change its slices.
type Version struct {
	Restaurant menu.RestaurantID
	Name       string // the restaurant's name in the configuration when this version was published
	Version    int64  // from 1, only grows
	Content    string // the hash of its content
	Stops      menu.Stops
	SyncedAt   time.Time // UTC, whole milliseconds: when this version was fetched
	CheckedAt  time.Time // UTC, whole milliseconds: when it was last confirmed
	Counts     menu.Counts
	// LastOutcome is the outcome of the last finished run: "updated", "unchanged", "quarantined", "failed", ….
	LastOutcome string
	Held        bool // a rollback holds it (policy S7a)
	Hold        Hold // zero if Held is false
	Bytes       int  // size of the content
	// ModifiedAt is SyncedAt, or the next full second after the previous version's ModifiedAt if that is later.
	// So no two versions have the same Last-Modified, and ModifiedAt may be slightly in the future.
	ModifiedAt time.Time
	// Published identifies what the ordering service published: the content and the stop lists of all restaurants.
	// Published and PublishedAt may change without a new version. PublishedAt follows the rule of ModifiedAt.
	Published   string
	PublishedAt time.Time
	// Floor is the highest version that was served and that Redis has lost, or 0; see Behind.
	Floor int64
	// Source is the service that published it (policy O16); empty if the Store has no sources.
	Source string
	// Settings are those that it was compiled with; nil if an older version of larder published it. ReadAt is when the
	// configuration with them was read, by Redis's clock (policy S9).
	Settings *menu.Settings
	ReadAt   time.Time
}

// Snapshot is one version of a restaurant's catalogue. It never changes, so
// everything read from one snapshot belongs to one version.
type Snapshot struct {
	Version
	Catalogue *menu.Catalogue
}

// EventID identifies the version in a few characters, the same on every instance: "<version>-<8 hex digits>". The digits
// are a hash of the content and the sync time. If Redis loses its data, two versions can have the same number, but their
// hashes differ.
func (v Version) EventID() string {
	hash := sha256.Sum256([]byte(v.Content + " " + menu.FormatTime(v.SyncedAt)))
	return strconv.FormatInt(v.Version, 10) + "-" + hex.EncodeToString(hash[:4])
}

// record is a version as stored in Redis. Times are in menu.TimeFormat.
type record struct {
	Version  int64       `json:"version"`
	Content  string      `json:"content"`
	Name     string      `json:"name"`
	Stops    menu.Stops  `json:"stops"`
	SyncedAt string      `json:"syncedAt"`
	Counts   menu.Counts `json:"counts"`
	Bytes    int         `json:"bytes"`
	// ModifiedAt is omitted if it is SyncedAt.
	ModifiedAt string         `json:"modifiedAt,omitempty"`
	Source     string         `json:"source,omitempty"`
	Settings   *menu.Settings `json:"settings,omitempty"`
	ReadAt     string         `json:"readAt,omitempty"`
}

func encodeRecord(v Version) ([]byte, error) {
	r := record{
		Version:  v.Version,
		Content:  v.Content,
		Name:     v.Name,
		Stops:    v.Stops,
		SyncedAt: menu.FormatTime(v.SyncedAt),
		Counts:   v.Counts,
		Bytes:    v.Bytes,
		Source:   v.Source,
		Settings: v.Settings,
	}
	if !v.ReadAt.IsZero() {
		r.ReadAt = menu.FormatTime(v.ReadAt)
	}
	if v.ModifiedAt.After(v.SyncedAt) {
		r.ModifiedAt = menu.FormatTime(v.ModifiedAt)
	}
	return json.Marshal(r)
}

// decodeRecord reads a record. It sets CheckedAt to SyncedAt. The error is ErrCorrupt.
func decodeRecord(restaurant menu.RestaurantID, raw []byte) (Version, error) {
	var r record
	if err := json.Unmarshal(raw, &r); err != nil {
		return Version{}, fmt.Errorf("cache: record of %s: %w: %w", restaurant, ErrCorrupt, err)
	}
	syncedAt, err := parseTime(r.SyncedAt)
	if err != nil || r.Version < 1 || r.Content == "" {
		return Version{}, fmt.Errorf("cache: record of %s: version %d, content %q, syncedAt %q: %w",
			restaurant, r.Version, r.Content, r.SyncedAt, ErrCorrupt)
	}
	modifiedAt, err := parseTime(r.ModifiedAt)
	if err != nil {
		modifiedAt = syncedAt
	}
	readAt, _ := parseTime(r.ReadAt) // zero: not known
	return Version{
		Restaurant: restaurant,
		Name:       r.Name,
		Version:    r.Version,
		Content:    r.Content,
		Stops:      r.Stops,
		SyncedAt:   syncedAt,
		CheckedAt:  syncedAt,
		ModifiedAt: modifiedAt,
		Counts:     r.Counts,
		Bytes:      r.Bytes,
		Source:     r.Source,
		Settings:   r.Settings,
		ReadAt:     readAt,
	}, nil
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
