package runlog

import (
	"context"
	"encoding/json"
	"strings"
	stdsync "sync"

	"larder.local/internal/menu"
)

// keptNotices is the number of notices that a follower may lag behind; a follower that lags more must start
// again. The runs of ten thousand restaurants cause that many notices in some seconds.
const keptNotices = 2048

// The events of notices.
const (
	// NoticeReset comes first, and again if notices may have been missed. The
	// follower then reads the lists of runs again.
	NoticeReset    = "reset"
	NoticeStarted  = "run.started"  // Data is the Run
	NoticeFinished = "run.finished" // Data is the Run, without the clients that joined; the run's record has them
	NoticeProgress = "sync.progress"
)

// Notice is news about runs of any instance.
type Notice struct {
	Event string `json:"-"`
	Data  []byte `json:"-"` // JSON object with the fields below; shared, must not be changed
	// Restaurant is the run's restaurant; empty for a batch.
	Restaurant menu.RestaurantID `json:"restaurant"`
	// Connection is the batch's connection; empty for all.
	Connection string `json:"connection"`
}

// readNotice parses "event JSON". It returns false for any other message.
func readNotice(payload string) (Notice, bool) {
	event, data, _ := strings.Cut(payload, " ")
	n := Notice{Event: event, Data: []byte(data)}
	known := event == NoticeStarted || event == NoticeFinished || event == NoticeProgress
	return n, known && json.Unmarshal(n.Data, &n) == nil
}

// noticeFeed holds the latest notices that this process received. Each follower reads them at its own
// speed. A follower that lags too far starts again, so that slow followers need no memory of their own.
type noticeFeed struct {
	mu         stdsync.Mutex
	subscribed bool
	life       int           // counts the subscriptions; notices between two of them may be missed
	count      int           // all notices so far
	kept       []Notice      // the latest of them
	more       chan struct{} // closed at the next change
}

// change changes the feed under its lock, and wakes the followers.
func (f *noticeFeed) change(do func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	do()
	close(f.more)
	f.more = make(chan struct{})
}

func (f *noticeFeed) add(payload string) {
	notice, ok := readNotice(payload)
	if !ok {
		return
	}
	f.change(func() {
		if len(f.kept) == 2*keptNotices {
			// A new array: followers may still read the old one.
			f.kept = append(make([]Notice, 0, 2*keptNotices), f.kept[keptNotices:]...)
		}
		f.kept = append(f.kept, notice)
		f.count++
	})
}

// Follower is one reader's position in the notices. It is for one goroutine.
type Follower struct {
	feed *noticeFeed
	life int // number of the subscription that Next has read; 0 before the first one
	at   int
}

// Follow starts to follow the runs of all instances. Notices arrive only while ReceiveNotices runs and Redis responds.
func (l *Log) Follow() *Follower { return &Follower{feed: l.feed} }

// Next returns the notices since the last Next, and a channel that closes when there may be more notices.
// The first notice is NoticeReset. If notices may have been missed, Next returns NoticeReset again.
func (g *Follower) Next() (notices []Notice, more <-chan struct{}) {
	f := g.feed
	f.mu.Lock()
	defer f.mu.Unlock()
	behind := f.count - g.at
	switch {
	case g.life == f.life && behind <= len(f.kept):
		g.at = f.count
		return f.kept[len(f.kept)-behind:], f.more
	case !f.subscribed:
		return nil, f.more // notices before the next subscription are lost
	default:
		g.life, g.at = f.life, f.count
		return []Notice{{Event: NoticeReset, Data: []byte("{}")}}, f.more
	}
}

// ReceiveNotices receives the notices of all instances until ctx ends.
func (l *Log) ReceiveNotices(ctx context.Context) {
	f := l.feed
	begin := func() { f.change(func() { f.subscribed, f.life = true, f.life+1 }) }
	l.cfg.Redis.Subscribe(ctx, l.keys.RunNotices(), begin, f.add, func(err error) {
		f.change(func() { f.subscribed = false })
		l.cfg.Log.WithError(err).WithField("event", "sync.notices_lost").Debug("subscription to run notices lost; subscribing again")
	})
}
