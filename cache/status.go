package cache

import (
	"context"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"

	"larder/internal/menu"
)

// Status is what changes without a new version: a few fields of Keys.Current and
// the floor.
type Status struct {
	Version     int64 // 0: there is none
	Content     string
	SyncedAt    time.Time
	CheckedAt   time.Time
	LastOutcome string
	Hold        Hold
	Published   string
	PublishedAt time.Time
	Floor       int64 // of Keys.Fence; set although there is no version
}

// statusFields are the fields of Keys.Current that readStatus takes, in order.
func statusFields() []string {
	return []string{
		"version", "content", "syncedAt", "checkedAt", "lastOutcome", "held", "published", "publishedAt", "form", "hold", "holdOf",
	}
}

// readStatus reads what queryCurrent answers for statusFields. A value that larder
// did not write, or in another form, reads as absent.
func readStatus(values []any) Status {
	of := fieldValues(values)
	if of.text(8) != catalogueForm {
		return Status{Floor: of.number(11)}
	}
	return Status{
		Version: of.number(0), Content: of.text(1), SyncedAt: of.time(2), CheckedAt: of.time(3), LastOutcome: of.text(4),
		Hold: readHold(of.text(5), of.text(9), of.text(10)), Published: of.text(6), PublishedAt: of.time(7), Floor: of.number(11),
	}
}

// Statuses reads the statuses of many restaurants in few round trips and hands
// them over one by one, in order. One without a catalogue has the version 0. The
// error is redisdb.ErrUnavailable.
func (s *Store) Statuses(ctx context.Context, restaurants []menu.RestaurantID, received func(menu.RestaurantID, Status)) error {
	return s.queryCurrent(ctx, restaurants, statusFields(), func(restaurant menu.RestaurantID, values []any) {
		received(restaurant, readStatus(values))
	})
}

// identifies reports whether the version is the one that Redis has.
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
	return v
}

// Lost reports whether Redis has neither the version that is served, nor a later
// one, nor a floor as high.
func (s Status) Lost(served Version) bool {
	return s.Floor < served.highest() && (s.Version < served.highest() || s.Version == served.Version && !s.identifies(served))
}

// Behind reports whether Redis has lost this version or a later one. Then the
// served menu may not be the published one, and every pull publishes until there
// is a version above the floor (policy S2a).
func (v Version) Behind() bool { return v.Version > 0 && v.Version <= v.Floor }

// highest returns the highest version that is known to have been served.
func (v Version) highest() int64 { return max(v.Version, v.Floor) }

// RaiseFloor raises the floors of restaurants to versions that are served and
// that Redis may have lost; where it has them nothing happens. It returns the
// floors as they are then, and which were raised, in the order of the versions
// (policy S2a).
//
// The error is redisdb.ErrUnavailable.
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
