package sandbox

import (
	"bytes"
	"context"
	"net/http"
	"sync"
	"time"
)

// The bounds of GET /sandbox/events.
const (
	maxStreams  = 32                     // at the same time
	shownOrders = 200                    // the newest, of however many there are
	eventGap    = 100 * time.Millisecond // between two polls of one stream
	heartbeat   = 15 * time.Second       // a comment, so that a reader that left is found out
	writeLimit  = 10 * time.Second       // of one event
)

// boardOrders returns the newest orders as they stand at that time, oldest first; next
// is when one of them moves on by itself, zero when none does.
func (s *Sandbox) boardOrders(now time.Time) (list []boardOrder, total int, next time.Time) {
	set := s.settings.get()
	s.orders.mu.Lock()
	defer s.orders.mu.Unlock()
	total = len(s.orders.list)
	for _, o := range s.orders.list[max(0, total-shownOrders):] {
		o.advanceAutomatically(set, now)
		list = append(list, o.boardOrder())
		if at := o.nextTransitionAt(set, now); !at.IsZero() && (next.IsZero() || at.Before(next)) {
			next = at
		}
	}
	return list, total, next
}

// nextTransitionAt is when an order moves on by itself, zero when it does not.
func (o *order) nextTransitionAt(set Settings, now time.Time) time.Time {
	if !*set.AutoAccept || o.state.ended() {
		return time.Time{}
	}
	for _, after := range set.transitions() {
		if at := o.at.Add(after); at.After(now) {
			return at
		}
	}
	return time.Time{}
}

// boardState is everything that a board shows besides orders.
type boardState struct {
	Counters countersJSON    `json:"counters"`
	Faults   []Fault         `json:"faults"`
	Settings Settings        `json:"settings"`
	Refused  []rejectedOrder `json:"refused"`
	Menus    int64           `json:"menus"` // how often a menu or stop list was changed
}

func (s *Sandbox) boardState() boardState {
	return boardState{
		Counters: s.counters.counted(), Faults: s.faults.left(), Settings: s.settings.get(),
		Refused: s.rejected.list(), Menus: s.menus.changes.Load(),
	}
}

// streamEvents is GET /sandbox/events: server-sent events for as long as the
// client stays. An event tells how things stand, so that nothing is lost with a
// connection: "orders" has those that are new or changed, "board" everything
// else when any of it changed.
func (s *Sandbox) streamEvents(w http.ResponseWriter, c *call) {
	defer s.streams.Add(-1)
	if s.streams.Add(1) > maxStreams {
		c.refuse(http.StatusServiceUnavailable, "too_many_streams", "there are 32 readers of events already").write(w)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(http.StatusOK)
	r := reader{out: w, control: http.NewResponseController(w), sent: map[string]boardOrder{}}
	for first := true; ; first = false {
		changed := s.changes.wait() // before the poll, so that nothing falls in between
		next, err := r.poll(s, first)
		if err != nil || !s.stay(c.r.Context(), changed, next) {
			return
		}
	}
}

// stay waits until there may be something to send. It reports false when the
// client left or the sandbox stops.
func (s *Sandbox) stay(ctx context.Context, changed <-chan struct{}, next time.Time) bool {
	if !s.wait(ctx.Done(), eventGap, nil) {
		return false
	}
	if next.IsZero() {
		return s.wait(ctx.Done(), heartbeat, changed)
	}
	return s.wait(ctx.Done(), min(max(next.Sub(s.clock()), 0), heartbeat), changed)
}

// reader is one stream of events and what it has been told.
type reader struct {
	out     http.ResponseWriter
	control *http.ResponseController
	sent    map[string]boardOrder
	board   []byte
	total   int
}

// poll sends what changed since the poll before; at least a comment. next is
// when an order moves on by itself.
func (r *reader) poll(s *Sandbox, first bool) (next time.Time, err error) {
	list, total, next := s.boardOrders(s.clock())
	changed, held := []boardOrder{}, make(map[string]boardOrder, len(list))
	for _, t := range list {
		held[t.OrderID] = t
		if was, known := r.sent[t.OrderID]; !known || was.State != t.State || was.Paid != t.Paid {
			changed = append(changed, t)
		}
	}
	r.sent = held
	var events bytes.Buffer
	if first || len(changed) > 0 || total != r.total {
		r.total = total
		event(&events, "orders", encode(map[string]any{"orders": changed, "total": total}))
	}
	if board := encode(s.boardState()); !bytes.Equal(board, r.board) {
		r.board = board
		event(&events, "board", board)
	}
	if events.Len() == 0 {
		events.WriteString(": still here\n\n")
	}
	// Not every connection has deadlines; then a write lasts as long as it does.
	_ = r.control.SetWriteDeadline(time.Now().Add(writeLimit))
	if _, err := r.out.Write(events.Bytes()); err != nil {
		return next, err
	}
	return next, r.control.Flush()
}

// event writes one server-sent event; data is one line.
func event(to *bytes.Buffer, name string, data []byte) {
	to.WriteString("event: " + name + "\ndata: ")
	to.Write(data)
	to.WriteString("\n\n")
}

// broadcast wakes everyone who waits for a change. It waits for nobody,
// and without anybody who waits notify costs a lock.
type broadcast struct {
	mu   sync.Mutex
	next chan struct{} // closed by the next notify; nil while nobody waits
}

// wait gives a channel that the next notify closes.
func (p *broadcast) wait() <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.next == nil {
		p.next = make(chan struct{})
	}
	return p.next
}

func (p *broadcast) notify() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.next != nil {
		close(p.next)
		p.next = nil
	}
}
