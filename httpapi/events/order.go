package events

import (
	"bytes"
	"context"
	"sync"
	"time"

	"github.com/gin-gonic/gin"

	"larder.local/httpapi/metrics"
	"larder.local/httpapi/ratelimit"
	"larder.local/httpapi/respond"
)

// OrderReader reads an order from the journal: the data of its event, and whether its state is final.
type OrderReader = func(ctx context.Context) (data []byte, final bool, err error)

const (
	eventOrder = "order.updated"
	// An order is read again after shortestPause at first, and then less and less often until it changes.
	shortestPause, longestPause = time.Second, 15 * time.Second
	orderTimeout                = 2 * time.Second // of one read
)

// orderTopic is the state that all streams of one order share. They share each read of the journal.
type orderTopic struct {
	mu    sync.Mutex
	last  orderEvent
	pause time.Duration
}

// orderEvent is the last known state of an order.
type orderEvent struct {
	frame []byte
	final bool
	due   time.Time // when the order is read again
}

// Order answers GET /v1/orders/events: an event with the order's state at the start and after each
// change. The stream ends after a final state.
func (h *Handlers) Order(c *gin.Context) error {
	id, read, err := h.deps.Order(c)
	if err != nil {
		return err
	}
	address := ratelimit.AddressKey(h.deps.Auth.ClientIP(c))
	if err := h.streams.reserve(metrics.StreamOrder, address); err != nil {
		return err
	}
	defer h.streams.release(metrics.StreamOrder, address)
	topic := h.streams.orders.join(id, func() *orderTopic { return &orderTopic{} })
	defer h.streams.orders.leave(id)
	event, err := topic.latest(c.Request.Context(), read)
	if err != nil {
		return err
	}
	return h.stream(c, metrics.StreamOrder, func(ctx context.Context, st *stream) ending {
		return h.followOrder(ctx, st, topic, read, event)
	})
}

// followOrder sends the states of an order to one client until the stream ends.
func (h *Handlers) followOrder(ctx context.Context, st *stream, topic *orderTopic, read OrderReader, event orderEvent) ending {
	next := time.NewTimer(0)
	defer next.Stop()
	for news := append(retryFrame(0), event.frame...); ; {
		if err := st.send(news); err != nil {
			return failureReason(err)
		}
		if event.final {
			return endFinal
		}
		next.Reset(time.Until(event.due))
		if end := wait(ctx, h, st, next.C); end != "" {
			return end
		}
		latest, err := topic.latest(ctx, read)
		if err != nil && respond.ProblemOf(err).Code == respond.CodeOrderNotFound {
			st.sendRetryHint(0)
			return endRemoved
		}
		news = nil
		if !bytes.Equal(latest.frame, event.frame) {
			news = latest.frame
		}
		event = latest
	}
}

// latest returns the state of the order. It reads the journal if the last read is too old. After an error
// it returns the last known state with the error.
func (t *orderTopic) latest(ctx context.Context, read OrderReader) (orderEvent, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.last.frame != nil && time.Now().Before(t.last.due) {
		return t.last, nil
	}
	// All streams of the order share the read, so it continues if the request of this one ends.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), orderTimeout)
	defer cancel()
	data, final, err := read(ctx)
	t.pause = min(t.pause*3/2, longestPause)
	if now := frame("", eventOrder, data); err == nil && !bytes.Equal(now, t.last.frame) {
		t.last.frame, t.last.final, t.pause = now, final, shortestPause
	}
	t.last.due = time.Now().Add(t.pause)
	return t.last, err
}
