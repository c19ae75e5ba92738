package events

import (
	"context"
	"time"

	"github.com/gin-gonic/gin"

	"larder.local/httpapi/auth"
	"larder.local/httpapi/metrics"
	"larder.local/httpapi/ratelimit"
	"larder.local/httpapi/respond"
	"larder.local/httpapi/visible"
	"larder.local/internal/jsontext"
	"larder.local/internal/menu"
	"larder.local/sync/runlog"
)

// Handlers answer the routes of server-sent events.
type Handlers struct {
	deps Deps
	*streams
}

// Deps are the dependencies of the handlers.
type Deps struct {
	visible.Served

	Config Config
	// DrainDelay is how long larder still answers after it has ended the streams. Clients reconnect after it.
	DrainDelay time.Duration
	Auth       *auth.Auth
	Follow     func() *runlog.Follower // starts to follow the runs
	// Order returns an id and a reader for the order of a request. Requests for the same order have the same id.
	Order func(c *gin.Context) (id string, read OrderReader, err error)
	// Accepts returns the member "accepts" of a restaurant, as GET /v1/restaurants/{restaurant} has it.
	Accepts func(menu.RestaurantID) []byte
	Metrics *metrics.Metrics
}

// New returns handlers without open streams.
func New(deps Deps) *Handlers {
	return &Handlers{deps: deps, streams: newStreams(deps.Config)}
}

// IsStream reports whether the response to a request is an event stream.
func IsStream(c *gin.Context) bool { return c.GetBool(keyStream) }

// Menu answers GET /v1/events?restaurant=: an event for each new version of the restaurant's
// menu. The events describe the current state, not a history: a client gets the newest version,
// and a slow client skips versions in between. Nothing is stored for clients.
func (h *Handlers) Menu(c *gin.Context) error {
	restaurant, err := h.followed(c)
	if err != nil {
		return err
	}
	address := ratelimit.AddressKey(h.deps.Auth.ClientIP(c))
	if err := h.streams.reserve(metrics.StreamMenu, address); err != nil {
		return err
	}
	defer h.streams.release(metrics.StreamMenu, address)
	topic := h.streams.menus.join(restaurant, func() *topic {
		return &topic{restaurant: restaurant, watch: h.deps.Replica.Watch(restaurant)}
	})
	defer func() {
		if h.streams.menus.leave(restaurant) {
			topic.watch.Close()
		}
	}()
	return h.stream(c, metrics.StreamMenu, func(ctx context.Context, st *stream) ending {
		return h.follow(ctx, st, topic, auth.CallerOf(c), c.GetHeader("Last-Event-ID"))
	})
}

// followed returns the restaurant of a stream request.
func (h *Handlers) followed(c *gin.Context) (menu.RestaurantID, error) {
	who := auth.CallerOf(c)
	ids := c.QueryArray("restaurant")
	switch {
	case len(ids) > 1:
		return "", respond.InvalidParameter("restaurant", "is sent more than once; a stream has one restaurant")
	case len(ids) == 0 || ids[0] == "":
		return "", respond.RestaurantRequired(h.deps.Directory.Following(who.Viewer(), ""))
	}
	restaurant := menu.RestaurantID(ids[0])
	if !h.canFollow(who, restaurant) {
		return "", respond.RestaurantNotFound(h.deps.Directory.Following(who.Viewer(), restaurant))
	}
	return restaurant, nil
}

// canFollow reports whether the restaurant is configured and the caller may see it. A reload
// can change this while a stream is open.
func (h *Handlers) canFollow(who auth.Caller, id menu.RestaurantID) bool {
	_, ok := h.deps.Directory.Find(who.Viewer(), id)
	return ok
}

// follow sends every new version to one client until the stream ends. seen is the event id of the client's version.
func (h *Handlers) follow(ctx context.Context, st *stream, topic *topic, who auth.Caller, seen string) ending {
	latest := topic.latest()
	recent := len(h.deps.Replica.Availability.Of(topic.restaurant)) > 0
	err := st.send(retryFrame(0), latest.snapshotFor(seen), h.availability(topic.restaurant, recent))
	for err == nil {
		seen = latest.id
		said := latest.change.Availability
		if end := wait(ctx, h, st, latest.change.Next()); end != "" {
			return end
		}
		if !h.canFollow(who, topic.restaurant) {
			st.sendRetryHint(0)
			return endRemoved
		}
		latest = topic.latest()
		// Sends nothing if only a heartbeat was due.
		err = st.send(latest.deltaFor(seen), h.availability(topic.restaurant, latest.change.Availability != said))
	}
	return failureReason(err)
}

// availability returns the event with a restaurant's availability, if it is due. It is due at the start of a stream if operators
// have restricted the restaurant within a day, because the client may have missed the end.
func (h *Handlers) availability(id menu.RestaurantID, due bool) []byte {
	if !due {
		return nil
	}
	data := append(jsontext.AppendString([]byte(`{"restaurant":`), string(id)), ',')
	return frame("", eventRestaurant, append(append(data, h.deps.Accepts(id)...), '}'))
}

// Ops answers GET /v1/ops/events: events about runs and batches on all instances. The first event is reset,
// and another one follows if events may have been lost. After a reset, clients read the lists again.
func (h *Handlers) Ops(c *gin.Context) error {
	if err := h.streams.reserve(metrics.StreamOps, ""); err != nil {
		return err
	}
	defer h.streams.release(metrics.StreamOps, "")
	return h.stream(c, metrics.StreamOps, func(ctx context.Context, st *stream) ending {
		return h.followRuns(ctx, st, auth.CallerOf(c))
	})
}

// followRuns sends every run that the client may see, until the stream ends.
func (h *Handlers) followRuns(ctx context.Context, st *stream, who auth.Caller) ending {
	following := h.deps.Follow()
	frames := [][]byte{retryFrame(0)}
	for {
		notices, more := following.Next()
		for _, notice := range notices {
			if h.seesNotice(who, notice) {
				frames = append(frames, frame("", notice.Event, notice.Data))
			}
		}
		if len(frames) > 0 {
			if err := st.send(frames...); err != nil {
				return failureReason(err)
			}
			frames = frames[:0]
		}
		if end := wait(ctx, h, st, more); end != "" {
			return end
		}
	}
}

// seesNotice reports whether the caller may see the subject of a notice.
func (h *Handlers) seesNotice(who auth.Caller, notice runlog.Notice) bool {
	switch {
	case notice.Event == runlog.NoticeReset:
		return true
	case notice.Restaurant != "":
		return h.deps.Directory.SeesMenu(who.Viewer(), notice.Restaurant)
	default:
		return who.Sees(notice.Connection) // a batch of one connection, or of all if empty
	}
}
