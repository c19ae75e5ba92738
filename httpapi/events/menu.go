package events

import (
	"context"

	"github.com/gin-gonic/gin"

	"larder/httpapi/auth"
	"larder/httpapi/metrics"
	"larder/httpapi/ratelimit"
	"larder/httpapi/respond"
	"larder/internal/menu"
)

// Menu answers GET /v1/events?restaurant=: server-sent events that tell of
// each new version of the restaurant's menu. It is state, not a log: a reader
// gets the newest version it has not seen, and whoever reads slowly misses
// versions in between, not the last one. Nothing is kept for anyone.
func (h *Handlers) Menu(c *gin.Context) error {
	restaurant, err := h.followed(c)
	if err != nil {
		return err
	}
	address := ratelimit.AddressKey(h.auth.ClientIP(c))
	topic, err := h.streams.join(address, restaurant)
	if err != nil {
		return err
	}
	defer h.streams.leave(address, topic)
	st, err := h.newStream(c)
	if err != nil {
		return err
	}
	ctx, cancel := h.withExpiry(c)
	defer cancel()
	who, _ := auth.CallerOf(c)
	h.metrics.StreamEnded(metrics.StreamMenu, string(h.follow(ctx, st, topic, who, c.GetHeader("Last-Event-ID"))))
	return nil
}

// followed is the restaurant that a stream is asked for.
func (h *Handlers) followed(c *gin.Context) (menu.RestaurantID, error) {
	who, _ := auth.CallerOf(c)
	ids := c.QueryArray("restaurant")
	switch {
	case len(ids) > 1:
		return "", respond.InvalidParameter("restaurant", "stands more than once; a stream is of one restaurant")
	case len(ids) == 0 || ids[0] == "":
		return "", respond.RestaurantRequired(h.directory.Visible(who.Viewer()))
	}
	restaurant := menu.RestaurantID(ids[0])
	if !h.canFollow(who, restaurant) {
		return "", respond.RestaurantNotFound(h.directory.Visible(who.Viewer()))
	}
	return restaurant, nil
}

// canFollow reports whether the restaurant is configured and the caller may know
// of it, which a reload may change while a stream is open.
func (h *Handlers) canFollow(who auth.Caller, id menu.RestaurantID) bool {
	_, ok := h.directory.Find(who.Viewer(), id)
	return ok
}

// follow tells one reader of every version until the stream ends. seen is the
// mark of the version that it has.
func (h *Handlers) follow(ctx context.Context, st *stream, topic *topic, who auth.Caller, seen string) ending {
	due := newHeartbeat(h.cfg.Heartbeat)
	defer due.Stop()
	latest := topic.latest()
	if err := st.send(retryFrame(0), latest.snapshotFor(seen)); err != nil {
		return failureReason(err)
	}
	for {
		seen = latest.id
		var news []byte
		select {
		case <-ctx.Done():
			return endReason(ctx)
		case <-h.streams.closing:
			st.sendRetryHint(h.drainDelay)
			return endDrain
		case <-latest.change.Next():
			latest = topic.latest()
			news = latest.deltaFor(seen)
		case <-due.C:
			news = heartbeat()
			due.Reset(h.cfg.Heartbeat)
		}
		if !h.canFollow(who, topic.restaurant) {
			st.sendRetryHint(0)
			return endRemoved
		}
		if err := st.send(news); err != nil {
			return failureReason(err)
		}
	}
}
