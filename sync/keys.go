package sync

import (
	"strings"

	"larder/cache"
	"larder/internal/menu"
)

// keys names everything that syncs keep in Redis. All but the index over all
// restaurants share the restaurant's hash tag, so that one script may use
// them in a cluster.
type keys struct{ of cache.Keys }

// lease is the hash {run, force, alone} of the run in flight; expires.
func (k keys) lease(id menu.RestaurantID) string { return k.of.Lease(id) }

// turn is the hash {fence, slot, run}; see acquire.lua. cache.Store compares
// fence when it publishes.
func (k keys) turn(id menu.RestaurantID) string { return k.of.Fence(id) }

// queue is the hash {run, force} of the manual run that waits; expires.
func (k keys) queue(id menu.RestaurantID) string { return k.of.Queue(id) }

// records is the hash run id -> record, run id + ":by" -> joiners, of the runs
// that are not finished.
func (k keys) records(id menu.RestaurantID) string { return k.of.Runs(id) }

// log is the stream of finished runs; see runlog.go.
func (k keys) log(id menu.RestaurantID) string { return k.of.RunLog(id) }

// pulled is the hash of what was last pulled and let through; see pulled.go.
func (k keys) pulled(id menu.RestaurantID) string { return k.of.Validator(id) }

// findings is the JSON of lint's findings in that menu.
func (k keys) findings(id menu.RestaurantID) string { return k.of.Findings(id) }

// told is the channel that is told of a target's runs: none of those of
// rejection reasons, which no list of runs has either.
func (k keys) told(id menu.RestaurantID) string {
	if strings.HasSuffix(string(id), reasonsSuffix) {
		return ""
	}
	return k.of.RunNotices()
}

// index is the sorted set of "run id restaurant" over all restaurants.
func (k keys) index() string { return k.of.RunIndex() }
