package httpapi

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"larder/internal/redisdb"
	"larder/ordering"
	menusync "larder/sync"
)

// component is one thing that larder stands on.
type component struct {
	OK  bool   `json:"ok"`
	Msg string `json:"msg"`
}

// components is what /readyz?verbose names.
type components struct {
	Redis       component            `json:"redis"`
	Journal     component            `json:"journal"`
	Catalogues  component            `json:"catalogues"`
	Connections map[string]component `json:"connections"`
}

// componentsOf names everything that larder stands on.
func (s *Server) componentsOf(ctx context.Context, found readinessReport) *components {
	p := &components{
		Redis: component{OK: true}, Journal: found.journal, Catalogues: component{OK: true},
		Connections: make(map[string]component, len(s.connections)),
	}
	switch {
	case found.redis != nil:
		p.Redis = component{Msg: redisdb.SafeText(found.redis)}
	case found.refused != nil:
		p.Redis = component{Msg: redisdb.SafeText(found.refused)}
	case s.redis.Embedded():
		p.Redis.Msg = "embedded: everything is in memory and forgotten when larder stops"
	}
	if len(found.missing) > 0 {
		p.Catalogues = component{Msg: fmt.Sprintf("%d of %s without a menu yet: %s",
			len(found.missing), countOf(len(found.all), "restaurant"), firstIDs(found.missing))}
	}
	failed := s.failed(ctx, found)
	for _, connection := range s.connections {
		one := component{OK: true}
		if some := failed[connection.Name]; len(some) > 0 {
			one = component{Msg: fmt.Sprintf("the last sync of %s failed: %s", countOf(len(some), "restaurant"), firstIDs(some))}
		}
		p.Connections[connection.Name] = one
	}
	return p
}

// journalComponent reports whether a new order could be kept safe (policy O14).
func (s *Server) journalComponent(ctx context.Context, found readinessReport) component {
	switch {
	case found.redis != nil:
		return component{Msg: "Redis " + redisdb.SafeText(found.redis)}
	case found.refused != nil && found.refused.Channel == "": // the journal publishes nothing
		return component{Msg: "Redis " + redisdb.SafeText(found.refused)}
	}
	whole := component{OK: true}
	var texts []string // as many connections say the same, once each
	named := map[string][]string{}
	for _, connection := range s.connections {
		one := s.journalOf(ctx, connection.Name)
		whole.OK = whole.OK && one.OK
		if one.Msg != "" && named[one.Msg] == nil {
			texts = append(texts, one.Msg)
		}
		named[one.Msg] = append(named[one.Msg], connection.Name)
	}
	for i, text := range texts {
		if len(named[text]) < len(s.connections) {
			texts[i] = firstNames(named[text]) + ": " + text
		}
	}
	whole.Msg = strings.Join(texts, "; ")
	return whole
}

// journalOf judges the journal of one connection: each may be on another master
// of a cluster.
func (s *Server) journalOf(ctx context.Context, connection string) component {
	err := s.journal.Ready(ctx, connection)
	health, watched := s.orders.Health(connection)
	var notReady *ordering.NotReadyError
	switch {
	case errors.As(err, &notReady):
		return component{Msg: notReady.Msg}
	case err != nil:
		return component{Msg: "Redis " + redisdb.SafeText(err)}
	case !health.PausedAt.IsZero():
		return component{Msg: journalRestored}
	case s.redis.Embedded():
		return component{OK: true, Msg: "orders are forgotten when larder stops (ordering.allow_non_durable)"}
	case watched:
		return component{OK: true, Msg: health.Rule()}
	default:
		return component{OK: true}
	}
}

// journalRestored is why creates are paused (policy O14a).
const journalRestored = "Redis was restored or has lost orders: no new orders are placed until an operator accepts the journal " +
	"(larder order accept-restore)"

// failed are the restaurants whose last sync failed, by their connections. Of
// those without a menu the last run tells, of a bounded number of them.
func (s *Server) failed(ctx context.Context, found readinessReport) map[string][]menusync.Restaurant {
	failed := map[string][]menusync.Restaurant{}
	for _, restaurant := range found.all {
		if found.versions[restaurant.ID].LastOutcome == string(menusync.OutcomeFailed) {
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

// countOf returns how many there are in words: "1 restaurant", "2 restaurants".
func countOf(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return strconv.Itoa(n) + " " + noun
}

// firstIDs lists a few restaurants.
func firstIDs(restaurants []menusync.Restaurant) string {
	ids := make([]string, len(restaurants))
	for i, restaurant := range restaurants {
		ids[i] = string(restaurant.ID)
	}
	return firstNames(ids)
}

// firstNames lists a few names.
func firstNames(names []string) string {
	const few = 5
	if len(names) > few {
		names = append(slices.Clone(names[:few]), "…")
	}
	return strings.Join(names, ", ")
}
