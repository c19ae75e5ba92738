package events

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"larder.local/cache/replica"
	"larder.local/httpapi/metrics"
	"larder.local/httpapi/respond"
	"larder.local/internal/menu"
	"larder.local/internal/setting"
)

const (
	// maxOpsStreams limits the streams of GET /v1/ops/events, which need a token.
	maxOpsStreams = 100
	// retryStreams is the Retry-After if the limit of streams is reached.
	retryStreams = 10 * time.Second
)

// Config is `http.events`: the streams of GET /v1/events and GET /v1/orders/events. Policy H1.
type Config struct {
	// PerAddress limits the open streams of one address, separately for menus and orders; 0 means no limit.
	PerAddress int `yaml:"per_address"`
	// Total limits the open streams of all addresses together.
	Total int `yaml:"total"`
	// Heartbeat is the interval of comments, so that proxies do not close a stream without events.
	Heartbeat time.Duration `yaml:"heartbeat"`
	// WriteTimeout is how long a client may read nothing before its stream ends.
	WriteTimeout time.Duration `yaml:"write_timeout"`
}

// leastPause is the shortest heartbeat and write timeout.
const leastPause = 100 * time.Millisecond

// SetDefaults sets the default values.
func (c *Config) SetDefaults() {
	c.PerAddress = cmp.Or(c.PerAddress, 10)
	c.Total = cmp.Or(c.Total, 20_000)
	c.Heartbeat = cmp.Or(c.Heartbeat, 15*time.Second)
	c.WriteTimeout = cmp.Or(c.WriteTimeout, 10*time.Second)
}

// Check returns all faults of the section, each a *setting.Error.
func (c Config) Check() (faults setting.Faults) {
	faults.If(c.PerAddress < 0, "http.events.per_address", "must not be negative; 0 means no limit")
	faults.If(c.Total < 1, "http.events.total", "must be at least 1")
	faults.If(c.Heartbeat < leastPause, "http.events.heartbeat", "must be at least %v", leastPause)
	faults.If(c.WriteTimeout < leastPause, "http.events.write_timeout", "must be at least %v", leastPause)
	return faults
}

// streams are the open event streams, their limits (policy H1), and the shared topics of
// restaurants. It starts no goroutine: each stream runs in the goroutine of its request.
type streams struct {
	cfg     Config
	closing context.Context //nolint:containedctx // ends when the server drains
	// End ends every stream and rejects new ones.
	End context.CancelFunc

	mu        sync.Mutex
	open      map[string]int // by kind
	byAddress map[string]int

	menus  topics[menu.RestaurantID, topic]
	orders topics[string, orderTopic]
}

// topics are those of the open streams: streams of the same menu or order share one.
type topics[K comparable, T any] struct {
	mu        sync.Mutex
	followers map[K]int
	open      map[K]*T
}

func newTopics[K comparable, T any]() topics[K, T] {
	return topics[K, T]{followers: map[K]int{}, open: map[K]*T{}}
}

// join returns the topic of a new stream; leave must follow.
func (t *topics[K, T]) join(id K, create func() *T) *T {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.followers[id]++; t.followers[id] == 1 {
		t.open[id] = create()
	}
	return t.open[id]
}

// leave reports whether the stream was the last one of its topic.
func (t *topics[K, T]) leave(id K) (last bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.followers[id]--; t.followers[id] > 0 {
		return false
	}
	delete(t.followers, id)
	delete(t.open, id)
	return true
}

func newStreams(cfg Config) *streams {
	closing, end := context.WithCancel(context.Background()) //nolint:gosec // End calls it
	return &streams{
		cfg:       cfg,
		closing:   closing,
		End:       end,
		open:      map[string]int{},
		byAddress: map[string]int{},
		menus:     newTopics[menu.RestaurantID, topic](),
		orders:    newTopics[string, orderTopic](),
	}
}

// reserve counts a new stream of an address, or returns an error: at a limit, or if larder stops. An address
// has separate limits for menus and orders. Streams of the ops routes have no address, and their own limit.
func (s *streams) reserve(kind, address string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	address = kind + address
	switch {
	case s.closing.Err() != nil:
		return noStream("larder is stopping")
	case kind == metrics.StreamOps:
		if s.open[kind] >= maxOpsStreams {
			return noStream(fmt.Sprintf("the limit of %d ops event streams is reached; close one, or try again later", maxOpsStreams))
		}
	case s.cfg.PerAddress > 0 && s.byAddress[address] >= s.cfg.PerAddress:
		return &respond.Problem{
			Code: respond.CodeRateLimited, Msg: fmt.Sprintf("too many event streams; the limit is %d per address", s.cfg.PerAddress),
			RetryAfter: retryStreams,
		}
	case s.open[metrics.StreamMenu]+s.open[metrics.StreamOrder] >= s.cfg.Total:
		return noStream("the limit of event streams is reached; try again later")
	}
	s.open[kind]++
	s.byAddress[address]++
	return nil
}

// release undoes reserve.
func (s *streams) release(kind, address string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	address = kind + address
	s.open[kind]--
	if s.byAddress[address]--; s.byAddress[address] == 0 {
		delete(s.byAddress, address)
	}
}

// Open returns the number of open streams of a kind, for the metrics.
func (s *streams) Open(kind string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.open[kind]
}

func noStream(msg string) error {
	return &respond.Problem{Code: respond.CodeStreamsUnavailable, Msg: msg, RetryAfter: retryStreams}
}

// topic is shared by all streams of one restaurant: the newest version and its encoded events.
type topic struct {
	restaurant menu.RestaurantID
	watch      *replica.Watch

	mu   sync.Mutex
	last versionEvent
}

// versionEvent is a change with its encoded events.
type versionEvent struct {
	change     *replica.Change
	id         string // event id of the version; empty without a version
	previousID string // event id of the version before; clients that have it get delta
	snapshot   []byte // the version, for clients that have any other version
	delta      []byte // the changes since previousID; nil if only snapshot shows them
}

// latest returns the newest change with its events.
func (t *topic) latest() versionEvent {
	change := t.watch.Newest()
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.last.change != change {
		t.last = renderEvent(t.restaurant, change)
	}
	return t.last
}

// The events of a menu.
const (
	eventUpdated      = "menu.updated"
	eventAvailability = "menu.availability"
	eventRestaurant   = "restaurant.availability"
)

// menuEvent is the data of both events.
type menuEvent struct {
	Restaurant  menu.RestaurantID   `json:"restaurant"`
	Version     int64               `json:"version"`
	Products    []menu.Availability `json:"products"`
	Ingredients []menu.Availability `json:"ingredients"`
}

// renderEvent returns the events of a change.
func renderEvent(restaurant menu.RestaurantID, change *replica.Change) versionEvent {
	made := versionEvent{change: change}
	if change.After.Version == 0 {
		return made
	}
	made.id = change.After.EventID()
	event := menuEvent{
		Restaurant:  restaurant,
		Version:     change.After.Version,
		Products:    []menu.Availability{},
		Ingredients: []menu.Availability{},
	}
	made.snapshot = event.frame(made.id, eventUpdated)
	if change.StopsOnly() {
		made.previousID = change.Before.EventID()
		event.Products, event.Ingredients = change.Before.Served.ChangedIDs(change.After.Served)
		made.delta = event.frame(made.id, eventAvailability)
	}
	return made
}

func (e menuEvent) frame(id, event string) []byte {
	data, _ := json.Marshal(e) //nolint:errchkjson // strings, numbers and booleans cannot fail
	return frame(id, event, data)
}

// snapshotFor returns the event for a client whose last event id is seen. It returns nil if the
// client has this version or there is no version.
func (t versionEvent) snapshotFor(seen string) []byte {
	if t.id == seen {
		return nil
	}
	return t.snapshot
}

// deltaFor returns the stop-list change if the client has the version before it. For other
// clients it returns snapshotFor, because they would miss the changes in between.
func (t versionEvent) deltaFor(seen string) []byte {
	if t.delta != nil && t.previousID == seen {
		return t.delta
	}
	return t.snapshotFor(seen)
}
