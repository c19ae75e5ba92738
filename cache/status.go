package cache

import (
	"context"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"

	"larder.local/internal/menu"
)

// Status is what changes without a new version: a few fields of Keys.Current and the floor.
type Status struct {
	Version     int64 // 0: no version
	Content     string
	SyncedAt    time.Time
	CheckedAt   time.Time
	LastOutcome string
	Hold        Hold
	Published   string
	PublishedAt time.Time
	Source      string
	Floor       int64 // of Keys.Fence; may be set without a version
}

// statusFields are the fields of Keys.Current that readStatus needs, in order.
func statusFields() []string {
	return []string{
		"version", "content", "syncedAt", "checkedAt", "lastOutcome", "held", "published", "publishedAt", "form", "hold", "holdOf",
		"source",
	}
}

// readStatus reads the values that queryCurrent returns for statusFields. A value
// that larder did not write, or in another format, counts as absent.
func readStatus(values []any) Status {
	of := fieldValues(values)
	if of.text(8) != catalogueForm {
		return Status{Floor: of.number(12)}
	}
	return Status{
		Version:     of.number(0),
		Content:     of.text(1),
		SyncedAt:    of.time(2),
		CheckedAt:   of.time(3),
		LastOutcome: of.text(4),
		Hold:        readHold(of.text(5), of.text(9), of.text(10)),
		Published:   of.text(6),
		PublishedAt: of.time(7),
		Source:      of.text(11),
		Floor:       of.number(12),
	}
}

// Statuses reads the statuses of many restaurants in few round trips and passes them to received, in
// order. A restaurant without a catalogue has version 0. The error is redisdb.ErrUnavailable.
func (s *Store) Statuses(ctx context.Context, restaurants []menu.RestaurantID, received func(menu.RestaurantID, Status)) error {
	return s.queryCurrent(ctx, restaurants, s.keys.Current, statusFields(), func(restaurant menu.RestaurantID, values []any) {
		received(restaurant, readStatus(values))
	})
}

// identifies reports whether Redis has this version.
func (s Status) identifies(v Version) bool {
	return s.Version > 0 && s.Version == v.Version && s.Content == v.Content && s.SyncedAt.Equal(v.SyncedAt)
}

// With returns the version with its moving fields set.
func (v Version) With(s Status) Version {
	if !s.CheckedAt.IsZero() {
		v.CheckedAt = s.CheckedAt
	}
	v.LastOutcome, v.Hold, v.Held = s.LastOutcome, s.Hold, s.Hold != Hold{}
	v.Published, v.PublishedAt, v.Floor = s.Published, s.PublishedAt, s.Floor
	if s.Source != "" { // a menu that was taken over has another one in its record
		v.Source = s.Source
	}
	return v
}

// Lost reports whether Redis has neither the served version, nor a later one, nor a floor as high.
func (s Status) Lost(served Version) bool {
	return s.Floor < served.highest() && (s.Version < served.highest() || s.Version == served.Version && !s.identifies(served))
}

// Behind reports whether Redis has lost this version or a later one. The served menu may then not be
// the published one, and every sync publishes until there is a version above the floor (policy S2a).
func (v Version) Behind() bool { return v.Version > 0 && v.Version <= v.Floor }

// highest returns the highest version known to have been served.
func (v Version) highest() int64 { return max(v.Version, v.Floor) }

// RaiseFloor raises the floors of restaurants to served versions that Redis may have lost. If Redis has
// them, it does nothing. It returns the resulting floors, and which of them were raised, in the order
// of the versions (policy S2a). The error is redisdb.ErrUnavailable.
func (s *Store) RaiseFloor(ctx context.Context, served ...Version) (floors []int64, raised []bool, err error) {
	for part := range slices.Chunk(served, pipelined) {
		pipe := s.redis.Client().Pipeline()
		answers := make([]*redis.Cmd, len(part))
		for i, v := range part {
			answers[i] = raiseFloorScript.Eval(ctx, pipe, []string{s.keys.Current(v.Restaurant), s.keys.Fence(v.Restaurant)},
				v.highest(), v.Content, menu.FormatTime(v.SyncedAt))
		}
		_, _ = pipe.Exec(ctx) // each command has its own error
		for _, answer := range answers {
			result, err := answer.Int64Slice()
			if err != nil {
				return nil, nil, unavailable("raise the floor of versions", err)
			}
			floors, raised = append(floors, result[0]), append(raised, result[1] == 1)
		}
	}
	return floors, raised, nil
}
