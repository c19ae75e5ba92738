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

	"larder/httpapi/auth"
)

const (
	contentEvents = "text/event-stream"
	// leastRetry and mostRetry are between what a client is told to wait before
	// it comes back: all that one larder lets go do not come at once.
	leastRetry = 2 * time.Second
	mostRetry  = 6 * time.Second

	keyStream = "larder.stream" // of gin.Context
)

// Why a stream has ended, as larder_event_streams_ended_total names it.
type ending string

const (
	endClient  ending = "client"  // the client left
	endSlow    ending = "slow"    // the client took no byte in time
	endDrain   ending = "drain"   // larder stops
	endExpired ending = "expired" // the token's time is over
	endRemoved ending = "removed" // the restaurant is no longer configured, or not for this client
)

// stream is one answer of server-sent events. It is its handler's alone.
type stream struct {
	out          gin.ResponseWriter
	control      *http.ResponseController
	writeTimeout time.Duration
}

// newStream begins the answer with its head, which it does not yet send. The
// server's own limits of a request are lifted: from here on each write has its
// own.
func (h *Handlers) newStream(c *gin.Context) (*stream, error) {
	st := &stream{out: c.Writer, control: http.NewResponseController(underlying(c.Writer)), writeTimeout: h.deps.Config.WriteTimeout}
	if err := st.control.SetReadDeadline(time.Time{}); err != nil {
		return nil, err
	}
	c.Set(keyStream, true)
	header := c.Writer.Header()
	header.Set("Content-Type", contentEvents)
	header.Set("Cache-Control", "no-store")
	header.Set("X-Accel-Buffering", "no") // a proxy that collects an answer would keep it for ever
	c.Writer.WriteHeader(http.StatusOK)
	return st, nil
}

// underlying is net/http's own writer: Gin's hides what a flush came to.
func underlying(w http.ResponseWriter) http.ResponseWriter {
	for {
		wrapped, ok := w.(interface{ Unwrap() http.ResponseWriter })
		if !ok {
			return w
		}
		w = wrapped.Unwrap()
	}
}

// send writes frames at once. A reader that does not take them in time is an
// error, and the end of the stream.
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

// sendRetryHint tells the client when to come back, and ends the stream. The client
// may be gone: then nobody is to be told.
func (st *stream) sendRetryHint(after time.Duration) { _ = st.send(retryFrame(after)) }

// heartbeat is a comment, which clients pass over.
func heartbeat() []byte { return []byte(": \n\n") }

// retryFrame says when to come back after the stream has ended: after the time
// given and a few seconds more, left to chance.
func retryFrame(after time.Duration) []byte {
	wait := after + leastRetry + rand.N(mostRetry-leastRetry) //nolint:gosec // no secret
	return []byte("retry: " + strconv.FormatInt(wait.Milliseconds(), 10) + "\n\n")
}

// frame is one event; id may be empty. data is one line of JSON.
func frame(id, event string, data []byte) []byte {
	if id != "" {
		id = "id: " + id + "\n"
	}
	return fmt.Appendf(nil, "%sevent: %s\ndata: %s\n\n", id, event, data)
}

// failureReason tells a reader that was too slow from one that left.
func failureReason(err error) ending {
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return endSlow
	}
	return endClient
}

// newHeartbeat returns when the first heartbeat is due: after a random part of the
// time, so that those of many streams that began together are spread.
func newHeartbeat(every time.Duration) *time.Timer {
	return time.NewTimer(rand.N(every) + 1) //nolint:gosec // no secret
}

// withExpiry returns a context that ends with the request, or with the token or
// session that opened it: at its time, or when its client is configured no
// longer as it was.
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

var errExpired = errors.New("what opened the stream is no longer good")

// endReason tells why the context of withExpiry is over.
func endReason(ctx context.Context) ending {
	if errors.Is(context.Cause(ctx), errExpired) {
		return endExpired
	}
	return endClient
}
