package httpapi

import (
	"context"
	"time"

	"larder.local/internal/directory"
	"larder.local/sync/runlog"
)

// catalogues lists the restaurants by the state of their catalogue.
type catalogues struct {
	all     []directory.Restaurant
	missing []directory.Restaurant // restaurants without a catalogue
	failed  []directory.Restaurant // restaurants with a catalogue whose last sync failed
	foreign []directory.Restaurant // restaurants with only the catalogue of another ordering service
}

// catalogues returns the state of all catalogues. Anybody may ask, so a result stays valid for ten times as long as it
// took, about a tenth of a second with 10,000 restaurants (policy H7).
func (h *health) catalogues() catalogues {
	h.counting.Lock()
	defer h.counting.Unlock()
	begin := h.deps.Clock()
	if begin.Before(h.validUntil) {
		return h.counted
	}
	found := catalogues{all: h.deps.Directory.Restaurants()}
	for i := range found.all {
		version, known := h.deps.Replica.Version(found.all[i].ID)
		switch {
		case !known:
			found.missing = append(found.missing, found.all[i])
		case !h.deps.Store.IsOwn(version):
			found.foreign = append(found.foreign, found.all[i])
		case version.LastOutcome == string(runlog.OutcomeFailed):
			found.failed = append(found.failed, found.all[i])
		}
	}
	now := h.deps.Clock()
	h.counted, h.validUntil = found, now.Add(10*now.Sub(begin))
	return found
}

// failed returns the restaurants whose last sync failed, by connection, and the first restaurant without a menu whose fetched
// one is quarantined, with the reason. For restaurants without a menu it reads the last run, for at most triedAtOnce of them.
func (h *health) failed(ctx context.Context, found readinessReport) (map[string][]directory.Restaurant, string) {
	failed := byConnection(found.failed)
	if found.redis != nil || len(found.missing) == 0 {
		return failed, ""
	}
	without, refused := h.failedWithoutMenu(ctx, found.missing)
	for _, restaurant := range without {
		if _, known := h.deps.Replica.Version(restaurant.ID); !known {
			failed[restaurant.Connection] = append(failed[restaurant.Connection], restaurant)
		}
	}
	return failed, refused
}

// failedWithoutMenu returns what failed does of the restaurants without a menu. Anybody may ask, so it reads the runs at most
// once a second (policy H7).
func (h *health) failedWithoutMenu(ctx context.Context, missing []directory.Restaurant) (failed []directory.Restaurant, refused string) {
	h.listing.Lock()
	defer h.listing.Unlock()
	now := h.deps.Clock()
	if len(missing) == h.missing && now.Sub(h.listedAt) < time.Second {
		return h.listed, h.refused
	}
	for _, restaurant := range missing[:min(len(missing), triedAtOnce)] {
		runs, _, err := h.deps.Runner.Log().List(ctx, runlog.Filter{Restaurant: restaurant.ID, Limit: 1})
		if err != nil {
			return failed, refused // incomplete: the next request reads again
		}
		switch {
		case len(runs) == 0:
		case runs[0].Outcome == runlog.OutcomeFailed:
			failed = append(failed, restaurant)
		case runs[0].Outcome == runlog.OutcomeQuarantined && refused == "":
			refused = restaurant.String() + ": " + runs[0].Error
		}
	}
	h.listedAt, h.listed, h.refused, h.missing = now, failed, refused, len(missing)
	return failed, refused
}

// byConnection groups restaurants by their connection.
func byConnection(restaurants []directory.Restaurant) map[string][]directory.Restaurant {
	grouped := map[string][]directory.Restaurant{}
	for _, restaurant := range restaurants {
		grouped[restaurant.Connection] = append(grouped[restaurant.Connection], restaurant)
	}
	return grouped
}
