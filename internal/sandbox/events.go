package sandbox

import (
	"bytes"
	"context"
	"net/http"
	"sync"
	"time"
)

// Limits of GET /sandbox/events.
const (
	maxStreams  = 32                     // concurrent streams
	shownOrders = 200                    // the newest ones
	eventGap    = 100 * time.Millisecond // between two polls of one stream
	heartbeat   = 15 * time.Second       // interval of comments that detect a lost client
	writeLimit  = 10 * time.Second       // timeout of one write
)

// boardOrders returns the newest orders at that time, oldest first. next is the
// time of the next automatic transition, or zero.
func (s *Sandbox) boardOrders(now time.Time) (list []boardOrder, total int, next time.Time) {
	set := s.settings.get()
	s.orders.mu.Lock()
	defer s.orders.mu.Unlock()
	total = len(s.orders.list)
	for _, o := range s.orders.list[max(0, total-shownOrders):] {
		o.advanceAutomatically(set, now)
		list = append(list, o.boardOrder)
		for _, after := range o.transitions(set) {
			if at := o.at.Add(after); at.After(now) && (next.IsZero() || at.Before(next)) {
				next = at
			}
		}
	}
	return list, total, next
}

// boardState is the data of the board besides orders.
type boardState struct {
	Counters countersJSON    `json:"counters"`
	Faults   []Fault         `json:"faults"`
	Settings Settings        `json:"settings"`
	Refused  []rejectedOrder `json:"refused"`
	Menus    int64           `json:"menus"` // number of changes of menus and stop lists
}

func (s *Sandbox) boardState() boardState {
	return boardState{
		Counters: s.counters.counted(),
		Faults:   s.faults.left(),
		Settings: s.settings.get(),
		Refused:  s.rejected.list(),
		Menus:    s.menus.changes.Load(),
	}
}

// streamEvents handles GET /sandbox/events: server-sent events until the client disconnects. Events contain the current
// state, so a client that reconnects misses nothing: "orders" has new and changed orders, "board" everything else.
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
		changed := s.changes.wait() // before the poll, so that no change is missed
		next, err := r.poll(s, first)
		if err != nil || !s.stay(c.r.Context(), changed, next) {
			return
		}
	}
}

// stay waits for the next change. It returns false when the client disconnects or the sandbox stops.
func (s *Sandbox) stay(ctx context.Context, changed <-chan struct{}, next time.Time) bool {
	if !s.wait(ctx.Done(), eventGap, nil) {
		return false
	}
	if next.IsZero() {
		return s.wait(ctx.Done(), heartbeat, changed)
	}
	return s.wait(ctx.Done(), min(max(next.Sub(s.clock()), 0), heartbeat), changed)
}

// reader is one stream of events and the state it has sent.
type reader struct {
	out     http.ResponseWriter
	control *http.ResponseController
	sent    map[string]boardOrder
	board   []byte
	total   int
}

// poll sends the changes since the last poll, or a comment. next is the time of the next automatic transition.
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
	// Connections without deadlines are not limited.
	_ = r.control.SetWriteDeadline(time.Now().Add(writeLimit))
	if _, err := r.out.Write(events.Bytes()); err != nil {
		return next, err
	}
	return next, r.control.Flush()
}

// event writes one server-sent event; data must be one line.
func event(to *bytes.Buffer, name string, data []byte) {
	to.WriteString("event: " + name + "\ndata: ")
	to.Write(data)
	to.WriteString("\n\n")
}

// broadcast wakes all waiting goroutines on a change. notify does not block.
type broadcast struct {
	mu   sync.Mutex
	next chan struct{} // closed by the next notify
}

// wait returns a channel that the next notify closes.
func (p *broadcast) wait() <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.next
}

func (p *broadcast) notify() {
	p.mu.Lock()
	defer p.mu.Unlock()
	close(p.next)
	p.next = make(chan struct{})
}
