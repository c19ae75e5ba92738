package cache

import (
	"cmp"
	"context"
	"embed"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"larder.local/internal/menu"
	"larder.local/internal/redisdb"
)

const (
	// defaultHistory is how many contents a restaurant's history keeps (policy S7).
	defaultHistory = 20
	// pipelined is how many restaurants one pipeline asks for.
	pipelined = 256
)

// StoreConfig configures a Store.
type StoreConfig struct {
	History int // contents kept of a restaurant; 0 means defaultHistory
	// Sources returns the source of a restaurant, and former names of it (policy O16). nil means that all menus of a
	// restaurant have the same source.
	Sources func(menu.RestaurantID) []string
	Clock   func() time.Time // nil means time.Now
}

// Store holds the catalogues in Redis. It is safe for concurrent use by any number of goroutines and processes.
type Store struct {
	redis   *redisdb.DB
	keys    Keys
	history int
	clock   func() time.Time
	packer  *packer
	sources sourceNames
}

// NewStore returns a Store. It does not connect to Redis.
func NewStore(r *redisdb.DB, cfg StoreConfig) *Store {
	s := &Store{
		redis:   r,
		keys:    NewKeys(r.Prefix()),
		history: cmp.Or(max(cfg.History, 0), defaultHistory),
		clock:   cfg.Clock,
		packer:  newPacker(),
		sources: cfg.Sources,
	}
	if s.sources == nil {
		s.sources = func(menu.RestaurantID) []string { return nil }
	}
	s.keys.tag = s.sources.tag
	if s.clock == nil {
		s.clock = time.Now
	}
	return s
}

// Current returns the restaurant's current version, as Find. Errors: ErrNoCatalogue, ErrCorrupt, redisdb.ErrUnavailable.
func (s *Store) Current(ctx context.Context, restaurant menu.RestaurantID) (Version, error) {
	found, err := s.Find(ctx, []menu.RestaurantID{restaurant})
	if err != nil {
		return Version{}, err
	}
	return found[restaurant].Version, found[restaurant].Err
}

// State is what a publisher must know about a restaurant before it fetches.
type State struct {
	Version Version // zero without a version
	Stored  bool    // Redis has its content; if it is not in memory, the stored one was verified
	Floor   int64   // the highest version that was served before Redis lost it (policy S2a)
}

// State reads the restaurant's current version and whether its content exists. If the version in memory, held, is
// current, it takes one round trip. If Redis has lost held, State raises the floor (policy S2a). with adds commands of
// the caller to the round trip, which may run twice. Errors: ErrCorrupt, redisdb.ErrUnavailable.
func (s *Store) State(
	ctx context.Context, restaurant menu.RestaurantID, held Version, with func(redis.Pipeliner),
) (State, error) {
	if held.Source != s.sources.current(restaurant) {
		held = Version{} // its own keys may not have it yet
	}
	pipe := s.redis.Client().Pipeline()
	with(pipe)
	status := pipe.HMGet(ctx, s.keys.Current(restaurant), statusFields()...)
	floor := pipe.HMGet(ctx, s.keys.Fence(restaurant), "floor")
	var there *redis.IntCmd
	if held.Content != "" {
		there = pipe.Exists(ctx, s.keys.ContentBody(held.Content))
	}
	if _, err := pipe.Exec(ctx); err != nil && !IsForeign(status.Err()) {
		return State{}, unavailable("read the current version of "+string(restaurant), err)
	}
	state := readStatus(restaurant, append(status.Val(), floor.Val()...))
	if held.Lost(state) {
		floors, _, err := s.RaiseFloor(ctx, held)
		if err != nil {
			return State{}, err
		}
		state.Floor = floors[0]
	}
	if there != nil && state.Same(held) {
		return State{Version: held.With(state), Stored: there.Val() > 0, Floor: state.Floor}, nil
	}
	version, err := s.Current(ctx, restaurant)
	switch {
	case errors.Is(err, ErrNoCatalogue), err == nil && !s.IsOwn(version):
		return State{Floor: state.Floor}, nil
	case err != nil:
		return State{}, err
	}
	_, _, err = s.loadContent(ctx, version.Content)
	if err != nil && !errors.Is(err, ErrNoCatalogue) && !errors.Is(err, ErrCorrupt) {
		return State{}, err
	}
	return State{Version: version, Stored: err == nil, Floor: max(state.Floor, version.Floor)}, nil
}

// IsForeign reports whether an error of Redis means that a key holds a value of
// another type, which larder did not write.
func IsForeign(err error) bool { return err != nil && redis.HasErrorPrefix(err, "WRONGTYPE") }

// Found is the state of one restaurant in Redis.
type Found struct {
	Version Version
	Err     error // ErrNoCatalogue or ErrCorrupt
}

// Find reads the current versions of many restaurants in few round trips. It returns one Found for each. If the
// restaurant's source has no version, it takes over that of a former source, or else returns the version of the source
// that published last (policy O16). The error is redisdb.ErrUnavailable.
func (s *Store) Find(ctx context.Context, restaurants []menu.RestaurantID) (map[menu.RestaurantID]Found, error) {
	all := make(map[menu.RestaurantID]Found, len(restaurants))
	if err := find(ctx, s, restaurants, s.keys.Current, all); err != nil {
		return nil, err
	}
	var missing []menu.RestaurantID
	for id, found := range all {
		if errors.Is(found.Err, ErrNoCatalogue) && len(s.sources(id)) > 0 {
			missing = append(missing, id)
		}
	}
	for part := range slices.Chunk(missing, pipelined) {
		taken, err := takeOver(ctx, s, part)
		if err != nil {
			return nil, err
		}
		err = find(ctx, s, part, func(id menu.RestaurantID) string {
			if taken[id] {
				return s.keys.Current(id)
			}
			return s.keys.Published(id)
		}, all)
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}

// find reads the versions under the given keys into all.
func find(
	ctx context.Context, s *Store, restaurants []menu.RestaurantID, key func(menu.RestaurantID) string, all map[menu.RestaurantID]Found,
) error {
	fields := append([]string{"record"}, statusFields()...)
	return s.queryCurrent(ctx, restaurants, key, fields, func(restaurant menu.RestaurantID, values []any) {
		if len(values) == 0 {
			all[restaurant] = Found{Err: fmt.Errorf("cache: %s: its key holds a value of another type: %w", restaurant, ErrCorrupt)}
			return
		}
		raw, stored := values[0].(string)
		state := readStatus(restaurant, values[1:])
		if !stored || state.Version == 0 {
			all[restaurant] = Found{Err: fmt.Errorf("cache: %s: %w", restaurant, ErrNoCatalogue)}
			return
		}
		version, err := decodeRecord(restaurant, []byte(raw))
		all[restaurant] = Found{Version: version.With(state), Err: err}
	})
}

// queryCurrent reads fields of a key such as Keys.Current, then the floor, of many restaurants in order. A foreign
// value under the first key has no fields and does not affect other restaurants.
func (s *Store) queryCurrent(
	ctx context.Context, restaurants []menu.RestaurantID, key func(menu.RestaurantID) string, fields []string,
	answer func(menu.RestaurantID, []any),
) error {
	for part := range slices.Chunk(restaurants, pipelined) {
		pipe := s.redis.Client().Pipeline()
		answers, floors := make([]*redis.SliceCmd, len(part)), make([]*redis.SliceCmd, len(part))
		for i, restaurant := range part {
			answers[i] = pipe.HMGet(ctx, key(restaurant), fields...)
			floors[i] = pipe.HMGet(ctx, s.keys.Fence(restaurant), "floor")
		}
		_, _ = pipe.Exec(ctx) // each command has its own error
		for i, restaurant := range part {
			if err := cmp.Or(floors[i].Err(), answers[i].Err()); err != nil && !IsForeign(err) {
				return unavailable("read current versions", err)
			}
			values := answers[i].Val()
			if values != nil {
				values = append(values, floors[i].Val()...)
			}
			answer(restaurant, values)
		}
	}
	return nil
}

// Versions returns the versions in the history, newest first: one for each content, with its last stop
// lists (policy S7). Errors: ErrNoCatalogue if the history is empty, redisdb.ErrUnavailable.
func (s *Store) Versions(ctx context.Context, restaurant menu.RestaurantID) ([]Version, error) {
	list, err := s.redis.Client().LRange(ctx, s.keys.History(restaurant), 0, -1).Result()
	if err != nil {
		return nil, unavailable("history of "+string(restaurant), err)
	}
	entries := readHistory(list)
	if len(entries) == 0 {
		return nil, fmt.Errorf("cache: history of %s: %w", restaurant, ErrNoCatalogue)
	}
	keys := make([]string, len(entries))
	for i, entry := range entries {
		keys[i] = s.keys.Record(restaurant, entry.version)
	}
	values, err := s.redis.Client().MGet(ctx, keys...).Result()
	if err != nil {
		return nil, unavailable("records of "+string(restaurant), err)
	}
	versions := make([]Version, 0, len(values))
	for _, value := range values {
		raw, _ := value.(string)
		if version, err := decodeRecord(restaurant, []byte(raw)); err == nil {
			versions = append(versions, version)
		}
	}
	return versions, nil
}

// Version returns one version of the history, or one that was replaced within the last ten minutes.
// Errors: ErrNoCatalogue if it is not stored or of another source, ErrCorrupt, redisdb.ErrUnavailable.
func (s *Store) Version(ctx context.Context, restaurant menu.RestaurantID, version int64) (Version, error) {
	raw, err := s.redis.Client().Get(ctx, s.keys.Record(restaurant, version)).Bytes()
	if err != nil {
		return Version{}, orMiss(fmt.Sprintf("version %d of %s", version, restaurant), ErrNoCatalogue, err)
	}
	v, err := decodeRecord(restaurant, raw)
	if err == nil && v.Source != "" && !s.IsOwn(v) {
		return Version{}, fmt.Errorf("cache: version %d of %s is of %s: %w", version, restaurant, v.Source, ErrNoCatalogue)
	}
	return v, err
}

// Subscribe calls received for every version that any process publishes, until ctx ends. A version of 0 means that the
// restaurant's availability has changed. It calls
// subscribed at the start of each subscription; versions published before are not announced. It calls
// lost with the error of a subscription that ended, and subscribes again.
func (s *Store) Subscribe(
	ctx context.Context, subscribed func(), received func(restaurant menu.RestaurantID, version int64), lost func(error),
) {
	s.redis.Subscribe(ctx, s.keys.Notices(), subscribed, func(payload string) {
		if restaurant, version, ok := readNotice(payload); ok {
			received(restaurant, version)
		}
	}, lost)
}

// notice returns the message that announces a new version of a restaurant.
func notice(restaurant menu.RestaurantID, version int64) string {
	return strconv.FormatInt(version, 10) + " " + string(restaurant)
}

// readNotice parses a notice. Version 0 means the restaurant's availability. It returns false for any other message.
func readNotice(payload string) (restaurant menu.RestaurantID, version int64, ok bool) {
	number, id, _ := strings.Cut(payload, " ")
	version, err := strconv.ParseInt(number, 10, 64)
	return menu.RestaurantID(id), version, err == nil && version >= 0 && id != ""
}

//go:embed *.lua
var luaFiles embed.FS

// The Lua scripts. All keys of one script have the same hash tag, as a cluster requires (see Keys).
var (
	publishScript     = redisdb.Script(luaFiles, "publish.lua", redisdb.Lua(luaFiles, "fenced.lua"))
	takeOverScript    = redisdb.Script(luaFiles, "takeover.lua")
	raiseFloorScript  = redisdb.Script(luaFiles, "raisefloor.lua")
	updateStopsScript = redisdb.Script(luaFiles, "updatestops.lua", redisdb.Lua(luaFiles, "fenced.lua"), redisdb.Lua(luaFiles, "mirror.lua"))
	releaseScript     = redisdb.Script(luaFiles, "release.lua", redisdb.Lua(luaFiles, "mirror.lua"))
	confirmScript     = redisdb.Script(luaFiles, "confirm.lua")
	sweepScript       = redisdb.Script(luaFiles, "sweep.lua")
	restrictScript    = redisdb.Script(luaFiles, "restrict.lua")
	quarantineScript  = redisdb.Script(luaFiles, "quarantine.lua")
)

// CheckedLua returns the source of the Lua functions checked(current, at, ahead, outcome) and mirror(current, published), for
// the script that finishes a run. checked stores two fields in Keys.Current: the time of the last confirmation, and the outcome
// of the last run (policy S3). mirror copies them to Keys.Published.
func CheckedLua() string {
	return redisdb.Lua(luaFiles, "checked.lua") + redisdb.Lua(luaFiles, "mirror.lua")
}
