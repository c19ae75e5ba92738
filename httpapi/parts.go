package httpapi

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"larder/cache"
	"larder/ordering"
	menusync "larder/sync"
)

// part is one thing that larder stands on.
type part struct {
	OK  bool   `json:"ok"`
	Msg string `json:"msg"`
}

// parts is what /readyz?verbose names.
type parts struct {
	Redis       part            `json:"redis"`
	Journal     part            `json:"journal"`
	Catalogues  part            `json:"catalogues"`
	Connections map[string]part `json:"connections"`
}

// parts names everything that larder stands on.
func (s *Server) parts(ctx context.Context, found inspection) *parts {
	p := &parts{
		Redis: part{OK: true}, Journal: found.journal, Catalogues: part{OK: true},
		Connections: make(map[string]part, len(s.connections)),
	}
	switch {
	case found.redis != nil:
		p.Redis = part{Msg: cache.Plain(found.redis)}
	case found.refused != nil:
		p.Redis = part{Msg: cache.Plain(found.refused)}
	case s.redis.Embedded():
		p.Redis.Msg = "embedded: everything is in memory and forgotten when larder stops"
	}
	if len(found.missing) > 0 {
		p.Catalogues = part{Msg: fmt.Sprintf("%d of %s without a menu yet: %s", len(found.missing), countOf(len(found.all), "restaurant"), someIDs(found.missing))}
	}
	failed := s.failed(ctx, found)
	for _, connection := range s.connections {
		p.Connections[connection.Name] = connectionPart(failed[connection.Name])
	}
	return p
}

// journalPart tells whether a new order could be kept safe (policy O14).
func (s *Server) journalPart(ctx context.Context, found inspection) part {
	switch {
	case found.redis != nil:
		return part{Msg: "Redis " + cache.Plain(found.redis)}
	case found.refused != nil && found.refused.Channel == "": // the journal publishes nothing
		return part{Msg: "Redis " + cache.Plain(found.refused)}
	}
	err := s.orders.Ready(ctx)
	var notReady *ordering.NotReadyError
	switch {
	case errors.As(err, &notReady):
		return part{Msg: notReady.Msg}
	case err != nil:
		return part{Msg: "Redis " + cache.Plain(err)}
	case s.redis.Embedded():
		return part{OK: true, Msg: "orders are forgotten when larder stops (ordering.allow_volatile)"}
	default:
		return part{OK: true}
	}
}

// failed are the restaurants whose last sync failed, by their connections. Of
// those without a menu the last run tells, of a bounded number of them.
func (s *Server) failed(ctx context.Context, found inspection) map[string][]menusync.Restaurant {
	failed := map[string][]menusync.Restaurant{}
	for _, restaurant := range found.all {
		version, has := found.versions[restaurant.ID]
		if has && version.LastOutcome == string(menusync.OutcomeFailed) {
			failed[restaurant.Connection] = append(failed[restaurant.Connection], restaurant)
		}
	}
	if found.redis != nil {
		return failed
	}
	for _, restaurant := range found.missing[:min(len(found.missing), triedAtOnce)] {
		runs, _, err := s.runner.Runs(ctx, menusync.Filter{Restaurant: restaurant.ID, Limit: 1})
		if err != nil {
			break
		}
		if len(runs) > 0 && runs[0].Outcome == menusync.OutcomeFailed {
			failed[restaurant.Connection] = append(failed[restaurant.Connection], restaurant)
		}
	}
	return failed
}

// connectionPart judges a connection by the last syncs of its restaurants.
func connectionPart(failed []menusync.Restaurant) part {
	if len(failed) == 0 {
		return part{OK: true}
	}
	return part{Msg: fmt.Sprintf("the last sync of %s failed: %s", countOf(len(failed), "restaurant"), someIDs(failed))}
}

// countOf says how many there are: "1 restaurant", "2 restaurants".
func countOf(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return strconv.Itoa(n) + " " + noun
}

// someIDs lists a few restaurants.
func someIDs(restaurants []menusync.Restaurant) string {
	const few = 5
	ids := make([]string, 0, few+1)
	for i, restaurant := range restaurants {
		if i == few {
			ids = append(ids, "…")
			break
		}
		ids = append(ids, string(restaurant.ID))
	}
	return strings.Join(ids, ", ")
}
