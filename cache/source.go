package cache

import (
	"context"
	"errors"
	"slices"

	"github.com/redis/go-redis/v9"

	"larder.local/internal/menu"
)

// ErrOtherSource means that the only menu of a restaurant is from another ordering service (policy O16).
var ErrOtherSource = errors.New("the menu is of another ordering service")

// SourceTag returns the part of key names that means a source (policy O16).
func SourceTag(source string) string { return sum([]byte(source))[:12] }

// Of returns the Store for a run: its restaurants have this source, also if the configuration changes meanwhile.
func (s *Store) Of(source string) *Store {
	if source == "" {
		return s
	}
	bound := *s
	bound.keys = s.keys.withTag(SourceTag(source))
	bound.sources = func(id menu.RestaurantID) []string {
		if names := s.sources(id); len(names) > 0 && names[0] == source {
			return names
		}
		return []string{source}
	}
	return &bound
}

// Keys returns the keys that the Store uses.
func (s *Store) Keys() Keys { return s.keys }

// sourceNames returns the source of a restaurant, then its former names; none if sources are not known.
type sourceNames func(menu.RestaurantID) []string

// current returns the source of a restaurant, or "".
func (names sourceNames) current(id menu.RestaurantID) string {
	if names := names(id); len(names) > 0 {
		return names[0]
	}
	return ""
}

// tag returns the SourceTag of a restaurant's source, or "".
func (names sourceNames) tag(id menu.RestaurantID) string {
	if source := names.current(id); source != "" {
		return SourceTag(source)
	}
	return ""
}

// IsOwn reports whether a version is of its restaurant's source.
func (s *Store) IsOwn(v Version) bool {
	names := s.sources(v.Restaurant)
	return len(names) == 0 || slices.Contains(names, v.Source)
}

// IsElsewhere reports whether a version is not stored under the keys of its restaurant's source: it is of another one, or of
// a former one.
func IsElsewhere(s *Store, v Version) bool {
	current := s.sources.current(v.Restaurant)
	return current != "" && current != v.Source
}

// takeOver moves the menus without a source, or of a former source, to the restaurants' source (policy O16). It returns
// the restaurants that have a menu of their source then.
func takeOver(ctx context.Context, s *Store, restaurants []menu.RestaurantID) (map[menu.RestaurantID]bool, error) {
	pipe := s.redis.Client().Pipeline()
	answers := make([]*redis.Cmd, len(restaurants))
	for i, id := range restaurants {
		names := s.sources(id)
		if len(names) == 0 { // not configured any more
			answers[i] = redis.NewCmd(ctx)
			continue
		}
		keys := append([]string{s.keys.Published(id), s.keys.MenuSources(id)}, s.keys.withTag(SourceTag(names[0])).menu(id)...)
		keys = append(keys, s.keys.withTag("").menu(id)...)
		for _, former := range names[1:] {
			keys = append(keys, s.keys.withTag(SourceTag(former)).menu(id)...)
		}
		answers[i] = takeOverScript.Eval(ctx, pipe, keys, names[0], SourceTag(names[0]), catalogueForm)
	}
	_, _ = pipe.Exec(ctx) // each command has its own error
	taken := make(map[menu.RestaurantID]bool, len(restaurants))
	for i, id := range restaurants {
		// An error of Redis concerns one restaurant: a key has a foreign value, or Redis refuses writes.
		if err := answers[i].Err(); err != nil && !errors.As(err, new(redis.Error)) {
			return nil, unavailable("take over menus", err)
		}
		taken[id], _ = answers[i].Bool()
	}
	return taken, nil
}

// PublishedSources returns, for each restaurant, the source that published last; empty if it is not known. The error is
// redisdb.ErrUnavailable.
func (s *Store) PublishedSources(ctx context.Context, restaurants []menu.RestaurantID) ([]string, error) {
	all := make([]string, 0, len(restaurants))
	err := s.queryCurrent(ctx, restaurants, s.keys.Published, []string{"source"}, func(_ menu.RestaurantID, values []any) {
		all = append(all, fieldValues(values).text(0))
	})
	return all, err
}
