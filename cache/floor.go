package cache

import (
	"context"
	"slices"

	"github.com/redis/go-redis/v9"

	"larder/internal/menu"
)

// Behind reports whether Redis has lost this version or a later one: what is
// served is not known to be what the ordering service publishes, and every pull
// publishes until a version above the floor is there (policy S2a).
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
