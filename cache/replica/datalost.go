package replica

import (
	"context"

	"larder/cache"
	"larder/internal/menu"
)

// raiseFloors raises the floors of versions in memory that Redis has lost, notes them
// with the versions, and asks for pulls.
func (r *Replica) raiseFloors(ctx context.Context, lost []*cache.Snapshot) error {
	if len(lost) == 0 {
		return nil
	}
	versions := make([]cache.Version, len(lost))
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
			r.slots.replaceCurrent(version, lost[i].Catalogue)
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
