package events

import (
	"context"

	"github.com/gin-gonic/gin"

	"larder/httpapi/auth"
	"larder/httpapi/metrics"
	"larder/sync/runlog"
)

// Ops answers GET /v1/ops/events: server-sent events about runs and
// batches on whatever replica they happen. The first is reset, as is the one
// after some may have been missed: read the lists anew.
func (h *Handlers) Ops(c *gin.Context) error {
	if err := h.streams.joinOps(); err != nil {
		return err
	}
	defer h.streams.leaveOps()
	st, err := h.newStream(c)
	if err != nil {
		return err
	}
	ctx, cancel := h.withExpiry(c)
	defer cancel()
	who, _ := auth.CallerOf(c)
	h.metrics.StreamEnded(metrics.StreamOps, string(h.followRuns(ctx, st, who)))
	return nil
}

// followRuns tells one reader of every run that it may know of, until the
// stream ends.
func (h *Handlers) followRuns(ctx context.Context, st *stream, who auth.Caller) ending {
	following := h.runner.Log().Follow()
	due := newHeartbeat(h.cfg.Heartbeat)
	defer due.Stop()
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
		select {
		case <-ctx.Done():
			return endReason(ctx)
		case <-h.streams.closing:
			st.sendRetryHint(h.drainDelay)
			return endDrain
		case <-more:
		case <-due.C:
			if err := st.send(heartbeat()); err != nil {
				return failureReason(err)
			}
			due.Reset(h.cfg.Heartbeat)
		}
	}
}

// seesNotice reports whether the caller may know of what a notice is about.
func (h *Handlers) seesNotice(who auth.Caller, notice runlog.Notice) bool {
	switch {
	case notice.Event == runlog.NoticeReset:
		return true
	case notice.Restaurant != "":
		return h.directory.SeesMenu(who.Viewer(), notice.Restaurant)
	default:
		return who.Sees(notice.Connection) // a batch, of one connection or, where that is empty, of all
	}
}
