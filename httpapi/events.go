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
func (s *Server) events(c *gin.Context) {
	restaurant, err := s.followed(c)
	if err != nil {
		fail(c, err)
		return
	}
	address := addressKey(c.ClientIP())
	topic, err := s.streams.join(address, restaurant)
	if err != nil {
		fail(c, err)
		return
	}
	defer s.streams.leave(address, topic)
	st, err := s.newStream(c)
	if err != nil {
		fail(c, err)
		return
	}
	ctx, cancel := s.untilExpiry(c)
	defer cancel()
	s.metrics.streamEnded(kindMenu, s.follow(ctx, st, topic, c.GetHeader("Last-Event-ID")))
}

// followed is the restaurant that a stream is asked for.
func (s *Server) followed(c *gin.Context) (menu.RestaurantID, error) {
	who, _ := callerOf(c)
	ids := c.QueryArray("restaurant")
	switch {
	case len(ids) > 1:
		return "", invalid("restaurant", "stands more than once; a stream is of one restaurant")
	case len(ids) == 0 || ids[0] == "":
		visible := s.visible(who)
		known := make([]menu.RestaurantID, len(visible))
		for i, restaurant := range visible {
			known[i] = restaurant.ID
		}
		return "", restaurantRequired(known)
	}
	restaurant, known := s.runner.Known(menu.RestaurantID(ids[0]))
	if !known || !who.sees(restaurant.Connection) {
		return "", s.unknownRestaurant(who)
	}
	return restaurant.ID, nil
}

// follow tells one reader of every version until the stream ends. seen is the
// mark of the version that it has.
func (s *Server) follow(ctx context.Context, st *stream, topic *topic, seen string) ending {
	pulse := newPulse(s.cfg.Events.Heartbeat)
	defer pulse.Stop()
	newest := topic.newest()
	if err := st.send(retryFrame(0), newest.at(seen)); err != nil {
		return whyFailed(err)
	}
	for {
		seen = newest.mark
		select {
		case <-ctx.Done():
			return whyOver(ctx)
		case <-s.streams.closing:
			st.farewell(s.cfg.DrainDelay)
			return endDrain
		case <-newest.change.Next():
			newest = topic.newest()
			if err := st.send(newest.since(seen)); err != nil {
				return whyFailed(err)
			}
		case <-pulse.C:
			if _, known := s.runner.Known(topic.restaurant); !known {
				st.farewell(0)
				return endRemoved
			}
			if err := st.send(heartbeat()); err != nil {
				return whyFailed(err)
			}
			pulse.again()
		}
	}
}
