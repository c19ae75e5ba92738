package cache

import (
	"encoding/json"
	"fmt"
	"strconv"
	"time"
	"unique"

	"larder/internal/menu"
)

// Version is what is known of one version of a restaurant's catalogue beside
// the catalogue itself. The caller must not change its slices.
type Version struct {
	Restaurant menu.RestaurantID
	Name       string // the restaurant's name as configured when it was published
	Version    int64  // from 1, only grows
	Content    string // the hash of its content
	Stops      menu.Stops
	SyncedAt   time.Time // UTC, whole milliseconds: when this version was pulled
	CheckedAt  time.Time // UTC, whole milliseconds: when it was last confirmed
	Counts     menu.Counts
	// LastOutcome is the outcome of the last finished run: "updated",
	// "unchanged", "quarantined", "failed", ….
	LastOutcome string
	Held        bool // a rollback holds it (policy S7a)
	Hold        Hold // how; zero where Held is false
	Bytes       int  // size of the content
	// ModifiedAt is SyncedAt or, where the version before was pulled in the same
	// second, a second later: no two versions share the second that
	// Last-Modified shows, and it may be a little ahead of the clock.
	ModifiedAt time.Time
	// Published names what the ordering service published: the content and
	// what its stop lists say of any restaurant. It may move without a new
	// version, and PublishedAt with it, of which ModifiedAt's rule holds too.
	Published   string
	PublishedAt time.Time
	// Floor is the highest version that was served before Redis lost it, 0 for
	// none; see Behind.
	Floor int64
}

// record is a version as Redis keeps it. Times are menu.TimeFormat.
type record struct {
	Version  int64       `json:"version"`
	Content  string      `json:"content"`
	Name     string      `json:"name"`
	Stops    menu.Stops  `json:"stops"`
	SyncedAt string      `json:"syncedAt"`
	Counts   menu.Counts `json:"counts"`
	Bytes    int         `json:"bytes"`
	// ModifiedAt is left out where it is SyncedAt.
	ModifiedAt string `json:"modifiedAt,omitempty"`
}

func encodeRecord(v Version) ([]byte, error) {
	r := record{
		Version: v.Version, Content: v.Content, Name: v.Name, Stops: v.Stops,
		SyncedAt: menu.FormatTime(v.SyncedAt), Counts: v.Counts, Bytes: v.Bytes,
	}
	if v.ModifiedAt.After(v.SyncedAt) {
		r.ModifiedAt = menu.FormatTime(v.ModifiedAt)
	}
	return json.Marshal(r)
}

// decodeRecord reads a record; CheckedAt starts as SyncedAt. The error is
// ErrCorrupt.
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
	return Version{
		Restaurant: restaurant, Name: r.Name, Version: r.Version, Content: r.Content, Stops: r.Stops,
		SyncedAt: syncedAt, CheckedAt: syncedAt, ModifiedAt: modifiedAt, Counts: r.Counts, Bytes: r.Bytes,
	}, nil
}

// internTexts lets the snapshot use the texts that others hold too: in a chain most
// of them are the same, and there may be thousands of restaurants.
func (s *Snapshot) internTexts() {
	s.Content = unique.Make(s.Content).Value()
	s.LastOutcome = unique.Make(s.LastOutcome).Value()
	s.Published = unique.Make(s.Published).Value()
	s.Stops = s.Catalogue.Stops()
}

// status is what moves without a new version: a few fields of Keys.Current.
type status struct {
	version     int64 // 0: there is none
	content     string
	syncedAt    time.Time
	checkedAt   time.Time
	lastOutcome string
	hold        Hold
	published   string
	publishedAt time.Time
	floor       int64 // of Keys.Fence; set although there is no version
}

// statusFields are the fields of Keys.Current that readStatus takes, in order.
func statusFields() []string {
	return []string{
		"version", "content", "syncedAt", "checkedAt", "lastOutcome", "held", "published", "publishedAt", "form", "hold", "holdOf",
	}
}

// readStatus reads what queryCurrent answers for statusFields. A value that larder
// did not write, or in another form, reads as absent.
func readStatus(values []any) status {
	of := fieldValues(values)
	if of.text(8) != catalogueForm {
		return status{floor: of.number(11)}
	}
	return status{
		version: of.number(0), content: of.text(1), syncedAt: of.time(2), checkedAt: of.time(3), lastOutcome: of.text(4),
		hold: readHold(of.text(5), of.text(9), of.text(10)), published: of.text(6), publishedAt: of.time(7), floor: of.number(11),
	}
}

// fieldValues are what HMGET answers. A value that is absent, or that larder did
// not write, reads as zero.
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

// identifies tells whether the version is the one that Redis has.
func (s status) identifies(v Version) bool {
	return s.version > 0 && s.version == v.Version && s.content == v.Content && s.syncedAt.Equal(v.SyncedAt)
}

// with gives the version with its moving fields set.
func (v Version) with(s status) Version {
	if !s.checkedAt.IsZero() {
		v.CheckedAt = s.checkedAt
	}
	v.LastOutcome, v.Hold, v.Held = s.lastOutcome, s.hold, s.hold != Hold{}
	v.Published, v.PublishedAt, v.Floor = s.published, s.publishedAt, s.floor
	return v
}

// ClockSlack is how far the clocks of larders may be apart: a check later than
// that from now was noted by one that was wrong, and does not stand.
const ClockSlack = time.Minute

func parseTime(s string) (time.Time, error) { return time.Parse(menu.TimeFormat, s) }

// afterLast gives t or, where before is in the same second or later, the first
// second after before: If-Modified-Since alone then tells the two apart.
func afterLast(t, before time.Time) time.Time {
	if next := before.Truncate(time.Second).Add(time.Second); !before.IsZero() && t.Before(next) {
		return next
	}
	return t
}

// truncateMillis is t as Redis and every body will show it.
func truncateMillis(t time.Time) time.Time { return t.UTC().Truncate(time.Millisecond) }
