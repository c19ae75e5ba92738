package cache

import (
	"cmp"
	"context"
	"slices"

	"github.com/redis/go-redis/v9"

	"larder.local/internal/menu"
)

// statusFields are the fields of Keys.Current that readStatus needs, in order.
func statusFields() []string {
	return []string{
		"version", "content", "syncedAt", "checkedAt", "lastOutcome", "held", "published", "publishedAt", "form", "hold", "holdOf",
		"source",
	}
}

// readStatus reads the values that queryCurrent returns for statusFields, into the fields of a Version that change without
// a new version, and those that identify it. A value that larder did not write, or in another format, counts as absent.
func readStatus(restaurant menu.RestaurantID, values []any) Version {
	of := fieldValues(values)
	if of.text(8) != catalogueForm {
		return Version{Restaurant: restaurant, Floor: of.number(12)}
	}
	hold := readHold(of.text(5), of.text(9), of.text(10))
	return Version{
		Restaurant:  restaurant,
		Version:     of.number(0),
		Content:     of.text(1),
		SyncedAt:    of.time(2),
		CheckedAt:   of.time(3),
		LastOutcome: of.text(4),
		Held:        hold != Hold{},
		Hold:        hold,
		Published:   of.text(6),
		PublishedAt: of.time(7),
		Source:      of.text(11),
		Floor:       of.number(12),
	}
}

// Statuses reads of many restaurants, in few round trips, what identifies the current version and what changes without a new
// one, and passes that to received, in order. The other fields are zero. A restaurant without a catalogue has version 0. The
// error is redisdb.ErrUnavailable.
func (s *Store) Statuses(ctx context.Context, restaurants []menu.RestaurantID, received func(there Version)) error {
	return s.queryCurrent(ctx, restaurants, s.keys.Current, statusFields(), func(restaurant menu.RestaurantID, values []any) {
		received(readStatus(restaurant, values))
	})
}

// Same reports whether both are one version. Redis that lost its data may use a number twice.
func (v Version) Same(other Version) bool {
	return v.Version == other.Version && v.Content == other.Content && v.SyncedAt.Equal(other.SyncedAt)
}

// With returns the version with the fields that change without a new version, from Statuses.
func (v Version) With(there Version) Version {
	if !there.CheckedAt.IsZero() {
		v.CheckedAt = there.CheckedAt
	}
	v.LastOutcome, v.Hold, v.Held = there.LastOutcome, there.Hold, there.Held
	v.Published, v.PublishedAt, v.Floor = there.Published, there.PublishedAt, there.Floor
	v.Source = cmp.Or(there.Source, v.Source) // a menu that was taken over has another one in its record
	return v
}

// Lost reports whether Redis, where there is current, has neither the served version, nor a later one, nor a floor as high.
func (v Version) Lost(there Version) bool {
	return there.Floor < v.highest() && (there.Version < v.highest() || there.Version == v.Version && !there.Same(v))
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
