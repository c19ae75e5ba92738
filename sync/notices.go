package sync

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"strings"
	stdsync "sync"

	"larder/internal/menu"
	"larder/internal/sleep"
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

// Notice is a word about runs, on whatever replica they happen.
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

// feed is the last notices that this process heard. It listens only while
// somebody follows. Followers read it each at its own pace; one that lags too
// far begins anew, so that nothing is kept for it.
type feed struct {
	mu        stdsync.Mutex
	followers int
	joined    chan struct{} // holds a token when the first follower has come
	leave     func()        // ends the listening; nil while there is none
	hears     bool          // subscribed
	life      int           // of the subscription: what was before it may be missed
	count     int           // of all notices so far
	kept      []Notice      // the last of them
	more      chan struct{} // closed at the next change
}

func newFeed() *feed {
	return &feed{joined: make(chan struct{}, 1), more: make(chan struct{})}
}

// changed wakes the followers; the caller holds the lock.
func (f *feed) changed() {
	close(f.more)
	f.more = make(chan struct{})
}

func (f *feed) subscribed() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.hears = true
	f.life++
	f.changed()
}

func (f *feed) lost() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.hears = false
	f.leave = nil
}

func (f *feed) add(payload string) {
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

// wanted waits until somebody follows, and notes how to stop listening; false
// when ctx ends first.
func (f *feed) wanted(ctx context.Context, leave func()) bool {
	for {
		f.mu.Lock()
		wanted := f.followers > 0
		if wanted {
			f.leave = leave
		}
		f.mu.Unlock()
		if wanted {
			return ctx.Err() == nil
		}
		select {
		case <-ctx.Done():
			return false
		case <-f.joined:
		}
	}
}

// Following is one follower's place in the notices. It is for one goroutine.
type Following struct {
	feed *feed
	life int // 0: before any
	at   int
}

// Follow begins to follow the runs of all replicas. A Scheduler must run; while
// it or Redis does not, nothing comes. Close it.
func (r *Runner) Follow() *Following {
	f := r.feed
	f.mu.Lock()
	defer f.mu.Unlock()
	f.followers++
	select {
	case f.joined <- struct{}{}:
	default:
	}
	return &Following{feed: f}
}

// Close ends it.
func (g *Following) Close() {
	f := g.feed
	f.mu.Lock()
	defer f.mu.Unlock()
	f.followers--
	if f.followers == 0 && f.leave != nil {
		f.leave()
	}
}

// Take gives the notices since the last Take, NoticeReset the first time and
// whenever some may have been missed, and a channel that closes when there may
// be more.
func (g *Following) Take() (notices []Notice, more <-chan struct{}) {
	f := g.feed
	f.mu.Lock()
	defer f.mu.Unlock()
	behind := f.count - g.at
	switch {
	case g.life != f.life || behind > len(f.kept):
		if !f.hears {
			return nil, f.more // what comes before the next subscription is lost
		}
		g.life, g.at = f.life, f.count
		return []Notice{{Event: NoticeReset, Data: []byte("{}")}}, f.more
	default:
		g.at = f.count
		return f.kept[len(f.kept)-behind:], f.more
	}
}

// hear listens to the notices of all replicas while somebody follows.
func (r *Runner) hear(ctx context.Context) {
	wait := firstPing
	for {
		listening, leave := context.WithCancel(ctx)
		if !r.feed.wanted(ctx, leave) {
			leave()
			return
		}
		heard := false
		err := r.server.Listen(listening, r.keys.of.RunNotices(), func() {
			heard = true
			r.feed.subscribed()
		}, r.feed.add)
		r.feed.lost()
		if listening.Err() != nil { // nobody follows any more, or all is over
			leave()
			continue
		}
		leave()
		r.log.WithError(err).WithField("event", "sync.notices_lost").Debug("notices of runs are lost; subscribing again")
		if heard {
			wait = firstPing
		}
		if sleep.For(ctx, rand.N(wait)+wait/2) != nil { //nolint:gosec // no secret
			return
		}
		wait = min(2*wait, lastPing)
	}
}
