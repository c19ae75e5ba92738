package httpapi

import (
	"context"

	"github.com/gin-gonic/gin"

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
	address := addressKey(c.ClientIP())
	topic, err := s.streams.join(address, restaurant)
	if err != nil {
		return err
	}
	defer s.streams.leave(address, topic)
	st, err := s.newStream(c)
	if err != nil {
		return err
	}
	ctx, cancel := s.untilExpiry(c)
	defer cancel()
	who, _ := callerOf(c)
	s.metrics.streamEnded(kindMenu, s.follow(ctx, st, topic, who, c.GetHeader("Last-Event-ID")))
	return nil
}

// followed is the restaurant that a stream is asked for.
func (s *Server) followed(c *gin.Context) (menu.RestaurantID, error) {
	who, _ := callerOf(c)
	ids := c.QueryArray("restaurant")
	switch {
	case len(ids) > 1:
		return "", invalid("restaurant", "stands more than once; a stream is of one restaurant")
	case len(ids) == 0 || ids[0] == "":
		return "", restaurantRequired(s.visible(who))
	}
	restaurant := menu.RestaurantID(ids[0])
	if !s.mayFollow(who, restaurant) {
		return "", restaurantNotFound(s.visible(who))
	}
	return restaurant, nil
}

// mayFollow tells whether the restaurant is configured and the caller may know
// of it, which a reload may change while a stream is open.
func (s *Server) mayFollow(who caller, id menu.RestaurantID) bool {
	restaurant, known := s.runner.Known(id)
	return known && who.sees(restaurant.Connection)
}

// follow tells one reader of every version until the stream ends. seen is the
// mark of the version that it has.
func (s *Server) follow(ctx context.Context, st *stream, topic *topic, who caller, seen string) ending {
	due := newHeartbeat(s.cfg.Events.Heartbeat)
	defer due.Stop()
	newest := topic.newest()
	if err := st.send(retryFrame(0), newest.at(seen)); err != nil {
		return whyFailed(err)
	}
	for {
		seen = newest.mark
		var news []byte
		select {
		case <-ctx.Done():
			return whyOver(ctx)
		case <-s.streams.closing:
			st.farewell(s.cfg.DrainDelay)
			return endDrain
		case <-newest.change.Next():
			newest = topic.newest()
			news = newest.since(seen)
		case <-due.C:
			news = heartbeat()
			due.Reset(s.cfg.Events.Heartbeat)
		}
		if !s.mayFollow(who, topic.restaurant) {
			st.farewell(0)
			return endRemoved
		}
		if err := st.send(news); err != nil {
			return whyFailed(err)
		}
	}
}
