package runlog

import (
	"context"
	"encoding/json"
	"strings"
	stdsync "sync"

	"larder/internal/menu"
)

// keptNotices is how far a follower may lag before it has to begin anew: some
// seconds of ten thousand restaurants' runs.
const keptNotices = 2048

// The events of notices.
const (
	// NoticeReset comes first, and again where notices may have been missed:
	// read the lists of runs anew.
	NoticeReset    = "reset"
	NoticeStarted  = "run.started"  // Data is the Run
	NoticeFinished = "run.finished" // Data is the Run; who joined it stands in its record
	NoticeProgress = "sync.progress"
)

// Notice is news of runs, on whatever instance they happen.
type Notice struct {
	Event string
	Data  []byte // JSON of an object; shared: not to be changed
	// Restaurant is whose run it is; empty of a batch.
	Restaurant menu.RestaurantID
	// Connection is the one that a batch is of; empty for all.
	Connection string
}

// readNotice reads "event JSON"; false for anything else on the channel.
func readNotice(payload string) (Notice, bool) {
	event, data, _ := strings.Cut(payload, " ")
	var of struct {
		Restaurant menu.RestaurantID `json:"restaurant"`
		Connection string            `json:"connection"`
	}
	if err := json.Unmarshal([]byte(data), &of); err != nil {
		return Notice{}, false
	}
	switch event {
	case NoticeStarted, NoticeFinished, NoticeProgress:
		return Notice{Event: event, Data: []byte(data), Restaurant: of.Restaurant, Connection: of.Connection}, true
	default:
		return Notice{}, false
	}
}

// noticeFeed is the last notices that this process received. Followers read it each at
// its own pace; one that lags too far begins anew, so that nothing is kept for
// it.
type noticeFeed struct {
	mu         stdsync.Mutex
	subscribed bool
	life       int           // of the subscription: what was before it may be missed
	count      int           // of all notices so far
	kept       []Notice      // the last of them
	more       chan struct{} // closed at the next change
}

func newFeed() *noticeFeed { return &noticeFeed{more: make(chan struct{})} }

// changed wakes the followers; the caller holds the lock.
func (f *noticeFeed) changed() {
	close(f.more)
	f.more = make(chan struct{})
}

func (f *noticeFeed) begin() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.subscribed = true
	f.life++
	f.changed()
}

func (f *noticeFeed) end() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.subscribed = false
}

func (f *noticeFeed) add(payload string) {
	notice, ok := readNotice(payload)
	if !ok {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.kept) == 2*keptNotices {
		// A new array: followers may still read the old one.
		f.kept = append(make([]Notice, 0, 2*keptNotices), f.kept[keptNotices:]...)
	}
	f.kept = append(f.kept, notice)
	f.count++
	f.changed()
}

// Follower is one reader's place in the notices. It is for one goroutine.
type Follower struct {
	feed *noticeFeed
	life int // 0: before any
	at   int
}

// Follow begins to follow the runs of all instances. ReceiveNotices must run;
// while it or Redis does not, nothing comes.
func (l *Log) Follow() *Follower { return &Follower{feed: l.feed} }

// Next returns the notices since the last Next, NoticeReset the first time and
// whenever some may have been missed, and a channel that closes when there may
// be more.
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
		return nil, f.more // what comes before the next subscription is lost
	default:
		g.life, g.at = f.life, f.count
		return []Notice{{Event: NoticeReset, Data: []byte("{}")}}, f.more
	}
}

// ReceiveNotices receives the notices of all instances until ctx ends.
func (l *Log) ReceiveNotices(ctx context.Context) {
	l.cfg.Redis.Subscribe(ctx, l.keys.RunNotices(), l.feed.begin, l.feed.add, func(err error) {
		l.feed.end()
		l.cfg.Log.WithError(err).WithField("event", "sync.notices_lost").Debug("notices of runs are lost; subscribing again")
	})
}
