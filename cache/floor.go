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

// lost reports whether Redis has neither the version that is served, nor a later
// one, nor a floor as high.
func (s status) lost(served Version) bool {
	return s.floor < served.highest() && (s.version < served.highest() || s.version == served.Version && !s.identifies(served))
}

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

// raiseFloors raises the floors of versions in memory that Redis has lost, notes them
// with the versions, and asks for pulls.
func (r *Replica) raiseFloors(ctx context.Context, lost []*Snapshot) error {
	if len(lost) == 0 {
		return nil
	}
	versions := make([]Version, len(lost))
	for i, snapshot := range lost {
		versions[i] = snapshot.Version
	}
	floors, raised, err := r.store.RaiseFloor(ctx, versions...)
	if err != nil {
		return err
	}
	var mine []menu.RestaurantID
	for i, version := range versions {
		if floors[i] != version.Floor {
			version.Floor = floors[i]
			r.replaceCurrent(&Snapshot{Version: version, Catalogue: lost[i].Catalogue})
		}
		if raised[i] {
			mine = append(mine, version.Restaurant)
		}
	}
	if len(mine) > 0 {
		r.cfg.Log.WithField("event", "replica.data_lost_in_redis").WithField("count", len(mine)).WithField("restaurant", string(mine[0])).
			Warn("Redis has lost menus that are served here: they count as stale until they are pulled again")
		r.cfg.DataLost(mine)
	}
	return nil
}
