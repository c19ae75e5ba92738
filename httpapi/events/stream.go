package events

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"strconv"
	"time"

	"github.com/gin-gonic/gin"

	"larder.local/httpapi/auth"
)

const (
	contentEvents = "text/event-stream"
	// leastRetry and mostRetry limit the random delay after which a client reconnects, so that
	// the clients of one instance do not reconnect at the same time.
	leastRetry = 2 * time.Second
	mostRetry  = 6 * time.Second

	keyStream = "larder.stream" // of gin.Context
)

// ending is the reason why a stream ended, a label of larder_event_streams_ended_total.
type ending string

const (
	endClient  ending = "client"  // the client disconnected
	endSlow    ending = "slow"    // the client read nothing within the write timeout
	endDrain   ending = "drain"   // larder is stopping
	endExpired ending = "expired" // the token or session has expired or is no longer valid
	endRemoved ending = "removed" // the restaurant or the order was removed, or the client may no longer see it
	endFinal   ending = "final"   // the state of the order no longer changes
)

// stream is one response of server-sent events, used only by its handler.
type stream struct {
	out          gin.ResponseWriter
	control      *http.ResponseController
	writeTimeout time.Duration
	due          *time.Timer // fires when a heartbeat is due
}

// stream answers a request with the events that follow sends, until it returns or the caller's rights end. It
// prepares the headers without sending them. It removes the server's time limits for the request; each write
// has its own limit instead.
func (h *Handlers) stream(c *gin.Context, kind string, follow func(context.Context, *stream) ending) error {
	st := &stream{
		out:          c.Writer,
		control:      http.NewResponseController(underlying(c.Writer)),
		writeTimeout: h.deps.Config.WriteTimeout,
		due:          time.NewTimer(rand.N(h.deps.Config.Heartbeat) + 1), // random, so that streams do not send their heartbeats together
	}
	if err := st.control.SetReadDeadline(time.Time{}); err != nil {
		return err
	}
	c.Set(keyStream, true)
	header := c.Writer.Header()
	header.Set("Content-Type", contentEvents)
	header.Set("Cache-Control", "no-store")
	header.Set("X-Accel-Buffering", "no") // a buffering proxy would delay all events
	c.Writer.WriteHeader(http.StatusOK)
	ctx, cancel := h.withExpiry(c)
	defer cancel()
	h.deps.Metrics.StreamEnded(kind, string(follow(ctx, st)))
	return nil
}

// underlying returns net/http's writer. Gin's writer hides the errors of a flush.
func underlying(w http.ResponseWriter) http.ResponseWriter {
	for {
		wrapped, ok := w.(interface{ Unwrap() http.ResponseWriter })
		if !ok {
			return w
		}
		w = wrapped.Unwrap()
	}
}

// send writes frames and flushes them. It returns an error if the client does not read them in time.
func (st *stream) send(frames ...[]byte) error {
	if err := st.control.SetWriteDeadline(time.Now().Add(st.writeTimeout)); err != nil {
		return err
	}
	for _, frame := range frames {
		if _, err := st.out.Write(frame); err != nil {
			return err
		}
	}
	return st.control.Flush()
}

// sendRetryHint sends the delay before a reconnect. An error means that the client has disconnected.
func (st *stream) sendRetryHint(after time.Duration) { _ = st.send(retryFrame(after)) }

// wait waits for news or for the next heartbeat. It sends the heartbeat, a comment that clients ignore. The
// result is the reason why the stream has ended, or empty.
func wait[T any](ctx context.Context, h *Handlers, st *stream, news <-chan T) ending {
	select {
	case <-ctx.Done():
		return endReason(ctx)
	case <-h.streams.closing.Done():
		st.sendRetryHint(h.deps.DrainDelay)
		return endDrain
	case <-st.due.C:
		st.due.Reset(h.deps.Config.Heartbeat)
		if err := st.send([]byte(": \n\n")); err != nil {
			return failureReason(err)
		}
	case <-news:
	}
	return ""
}

// retryFrame returns the reconnect delay of a stream: the given time and a few random seconds.
func retryFrame(after time.Duration) []byte {
	wait := after + leastRetry + rand.N(mostRetry-leastRetry)
	return []byte("retry: " + strconv.FormatInt(wait.Milliseconds(), 10) + "\n\n")
}

// frame returns one event; id may be empty. data is one line of JSON.
func frame(id, event string, data []byte) []byte {
	if id != "" {
		id = "id: " + id + "\n"
	}
	return fmt.Appendf(nil, "%sevent: %s\ndata: %s\n\n", id, event, data)
}

// failureReason distinguishes a client that was too slow from one that disconnected.
func failureReason(err error) ending {
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return endSlow
	}
	return endClient
}

// withExpiry returns a context that ends with the request, when its token or session expires,
// or when its client changes.
func (h *Handlers) withExpiry(c *gin.Context) (context.Context, context.CancelFunc) {
	who := auth.CallerOf(c)
	if who.Expires.IsZero() {
		return context.WithCancel(c.Request.Context())
	}
	ctx, cancel := context.WithTimeoutCause(c.Request.Context(), who.Expires.Sub(h.deps.Clock()), errExpired)
	ctx, end := context.WithCancelCause(ctx)
	stop := h.deps.Auth.Watch(who, func() { end(errExpired) })
	return ctx, func() {
		stop()
		end(nil)
		cancel()
	}
}

var errExpired = errors.New("the token or session of the stream has ended")

// endReason returns why the context of withExpiry ended.
func endReason(ctx context.Context) ending {
	if errors.Is(context.Cause(ctx), errExpired) {
		return endExpired
	}
	return endClient
}
