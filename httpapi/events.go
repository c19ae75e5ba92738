package httpapi

import (
	"context"

	"github.com/gin-gonic/gin"

	"larder/httpapi/auth"
	"larder/httpapi/metrics"
	"larder/httpapi/ratelimit"
	"larder/httpapi/respond"
	"larder/internal/menu"
)

// events answers GET /v1/events?restaurant=: server-sent events that tell of
// each new version of the restaurant's menu. It is state, not a log: a reader
// gets the newest version it has not seen, and whoever reads slowly misses
// versions in between, not the last one. Nothing is kept for anyone.
func (s *Server) events(c *gin.Context) error {
	restaurant, err := s.followed(c)
	if err != nil {
		return err
	}
	address := ratelimit.AddressKey(s.auth.ClientIP(c))
	topic, err := s.streams.join(address, restaurant)
	if err != nil {
		return err
	}
	defer s.streams.leave(address, topic)
	st, err := s.newStream(c)
	if err != nil {
		return err
	}
	ctx, cancel := s.withExpiry(c)
	defer cancel()
	who, _ := auth.CallerOf(c)
	s.metrics.StreamEnded(metrics.StreamMenu, string(s.follow(ctx, st, topic, who, c.GetHeader("Last-Event-ID"))))
	return nil
}

// followed is the restaurant that a stream is asked for.
func (s *Server) followed(c *gin.Context) (menu.RestaurantID, error) {
	who, _ := auth.CallerOf(c)
	ids := c.QueryArray("restaurant")
	switch {
	case len(ids) > 1:
		return "", respond.InvalidParameter("restaurant", "stands more than once; a stream is of one restaurant")
	case len(ids) == 0 || ids[0] == "":
		return "", respond.RestaurantRequired(s.directory.Visible(who.Viewer()))
	}
	restaurant := menu.RestaurantID(ids[0])
	if !s.canFollow(who, restaurant) {
		return "", respond.RestaurantNotFound(s.directory.Visible(who.Viewer()))
	}
	return restaurant, nil
}

// canFollow reports whether the restaurant is configured and the caller may know
// of it, which a reload may change while a stream is open.
func (s *Server) canFollow(who auth.Caller, id menu.RestaurantID) bool {
	_, ok := s.directory.Find(who.Viewer(), id)
	return ok
}

// follow tells one reader of every version until the stream ends. seen is the
// mark of the version that it has.
func (s *Server) follow(ctx context.Context, st *stream, topic *topic, who auth.Caller, seen string) ending {
	due := newHeartbeat(s.cfg.Events.Heartbeat)
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
		case <-s.streams.closing:
			st.sendRetryHint(s.cfg.DrainDelay)
			return endDrain
		case <-latest.change.Next():
			latest = topic.latest()
			news = latest.deltaFor(seen)
		case <-due.C:
			news = heartbeat()
			due.Reset(s.cfg.Events.Heartbeat)
		}
		if !s.canFollow(who, topic.restaurant) {
			st.sendRetryHint(0)
			return endRemoved
		}
		if err := st.send(news); err != nil {
			return failureReason(err)
		}
	}
}
