package measure

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"larder.local/internal/sleep"
)

// Soak is one instance under constant load: reads, conditional reads, validations,
// orders, syncs of menus that change, and event streams.
type Soak struct {
	Layout
	// For is the duration of the load. The first fifth, at least 10 s, is the
	// warm-up, which does not count for slopes.
	For time.Duration
	// Order is a valid order of the first restaurant, whose menu never changes.
	Order []byte
	// Change returns the n-th menu of a restaurant, different from the one before.
	Change func(restaurant, n int) []byte
	// Say prints one line of progress.
	Say func(format string, args ...any)
}

// Steady is the result of a soak.
type Steady struct {
	For       Duration       `json:"for"`      // after the warm-up
	Requests  map[string]int `json:"requests"` // by kind
	Failed    int            `json:"failed"`
	Faults    []string       `json:"faults"`     // the first few
	Published int            `json:"published"`  // versions
	HeapMean  float64        `json:"heapMean"`   // reachable bytes
	HeapSlope float64        `json:"heapSlope"`  // bytes per minute
	RSSMean   float64        `json:"rssMean"`    // bytes
	RSSSlope  float64        `json:"rssSlope"`   // bytes per minute
	Routines  float64        `json:"goroutines"` // mean
	Spawning  float64        `json:"goroutinesSlope"`
	Raced     bool           `json:"raced"` // the race detector has reported a race
}

// The growth after the warm-up that counts as flat, because of the variation between
// collections.
const (
	flatShare    = 0.10
	flatHeap     = 4 << 20
	flatRoutines = 8
	// shortestFor is the shortest time whose growth counts. In less, the time of the last collection decides it.
	shortestFor = 30 * time.Second
)

// Flat returns an error that lists what grew or failed.
func (s Steady) Flat() error {
	var faults []error
	minutes := time.Duration(s.For).Minutes()
	counts := time.Duration(s.For) >= shortestFor
	if grown := s.HeapSlope * minutes; counts && grown > flatHeap+flatShare*s.HeapMean {
		faults = append(faults, fmt.Errorf("the heap grew by %.1f MiB in %.1f minutes", grown/(1<<20), minutes))
	}
	if grown := s.Spawning * minutes; counts && grown > flatRoutines {
		faults = append(faults, fmt.Errorf("%.0f goroutines more in %.1f minutes", grown, minutes))
	}
	if s.Failed > 0 {
		faults = append(faults, fmt.Errorf("%d requests failed: %v", s.Failed, s.Faults))
	}
	if s.Published == 0 {
		faults = append(faults, errors.New("no version was published: the load was none"))
	}
	if s.Raced {
		faults = append(faults, errors.New("the race detector has found something: see the larder's log"))
	}
	return errors.Join(faults...)
}

// The load: the number of clients of each kind, and their pauses.
const (
	soakReaders   = 4
	soakStreams   = 4
	readEvery     = 4 * time.Millisecond
	validateEvery = 20 * time.Millisecond
	orderEvery    = 100 * time.Millisecond
	changeEvery   = 250 * time.Millisecond
	streamFor     = 3 * time.Second
	sampleEvery   = time.Second
)

// Measure builds the cluster, loads it, and ends all processes.
func (s Soak) Measure(ctx context.Context) (found Steady, err error) {
	cluster, err := Build(ctx, s.Layout)
	if err != nil {
		return found, err
	}
	var l *Instance
	defer func() {
		cluster.Close()
		if l != nil {
			log, readErr := os.ReadFile(l.LogPath())
			found.Raced, err = bytes.Contains(log, []byte("WARNING: DATA RACE")), errors.Join(err, readErr)
		}
	}()
	if l, err = cluster.Add(ctx); err != nil {
		return found, err
	}
	starting, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	if err := l.Ready(starting); err != nil {
		return found, err
	}
	token, err := l.bearer(starting)
	if err != nil {
		return found, err
	}
	load := &load{
		Soak:    s,
		cluster: cluster,
		larder:  l,
		token:   token,
		found:   &found,
	}
	found.Requests = map[string]int{}
	s.Say("loading one larder for %v", s.For)
	return found, load.run(ctx)
}

// load is a running soak.
type load struct {
	Soak
	cluster *Cluster
	larder  *Instance
	token   string
	keys    atomic.Int64

	mu    sync.Mutex
	found *Steady
}

func (l *load) run(ctx context.Context) error {
	loaded, cancel := context.WithTimeout(ctx, l.For)
	defer cancel()
	group, loaded := errgroup.WithContext(loaded)
	for i := range soakReaders {
		group.Go(func() error { l.reads(loaded, i); return nil })
	}
	for i := range soakStreams {
		group.Go(func() error { l.streams(loaded, i); return nil })
	}
	group.Go(func() error { l.validates(loaded); return nil })
	group.Go(func() error { l.orders(loaded); return nil })
	group.Go(func() error { l.changes(loaded); return nil })
	group.Go(func() error { return l.samples(loaded) })
	if err := group.Wait(); err != nil {
		return err
	}
	return context.Cause(ctx) // interrupted: there is no result
}

// ask sends one request of the load and counts it, unless the end of the load
// interrupted it.
func (l *load) ask(ctx context.Context, kind, method, path, body string, want []int, headers ...string) Answer {
	answer, err := l.cluster.Ask(ctx, method, l.larder.URL+path, body, headers...)
	if ctx.Err() != nil {
		return answer
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.found.Requests[kind]++
	for _, status := range want {
		if err == nil && answer.Status == status {
			return answer
		}
	}
	l.found.Failed++
	if len(l.found.Faults) < 5 {
		l.found.Faults = append(l.found.Faults, fmt.Sprintf("%s: %d %.200s %v", kind, answer.Status, answer.Body, err))
	}
	return answer
}

// reads reads menus and single dishes, every other time conditionally.
func (l *load) reads(ctx context.Context, reader int) {
	tags := map[string]string{}
	encodings := []string{"gzip", "identity", "br", "zstd"}
	for i := reader; sleep.For(ctx, readEvery) == nil; i++ {
		restaurant := l.Restaurants[i%len(l.Restaurants)]
		path := "/v1/restaurants/" + restaurant + "/menu"
		if tag := tags[restaurant]; i%2 == 0 && tag != "" {
			l.ask(ctx, "conditional read", http.MethodGet, path, "", []int{http.StatusOK, http.StatusNotModified}, "If-None-Match", tag, "Accept-Encoding", "gzip")
			continue
		}
		answer := l.ask(ctx, "read", http.MethodGet, path, "", []int{http.StatusOK}, "Accept-Encoding", encodings[i/7%len(encodings)])
		tags[restaurant] = answer.Header.Get("ETag")
		if i%5 == 0 {
			l.ask(ctx, "list", http.MethodGet, "/v1/restaurants/"+restaurant+"/products?limit=10", "", []int{http.StatusOK})
		}
	}
}

func (l *load) validates(ctx context.Context) {
	for sleep.For(ctx, validateEvery) == nil {
		l.ask(ctx, "validate", http.MethodPost, "/v1/restaurants/"+l.Restaurants[0]+"/orders/validate", string(l.Order),
			[]int{http.StatusOK}, "Content-Type", "application/json")
	}
}

// orders places orders; each second one reuses a key.
func (l *load) orders(ctx context.Context) {
	for sleep.For(ctx, orderEvery) == nil {
		key := fmt.Sprintf("soak-%d", l.keys.Add(1)/2)
		l.ask(ctx, "order", http.MethodPost, "/v1/restaurants/"+l.Restaurants[0]+"/orders", string(l.Order),
			[]int{http.StatusCreated}, "Content-Type", "application/json", "Idempotency-Key", key, "Authorization", "Bearer "+l.token)
	}
}

// changes changes a menu or a stop list, and syncs it.
func (l *load) changes(ctx context.Context) {
	for n := 0; sleep.For(ctx, changeEvery) == nil; n++ {
		i := 1 + n%(len(l.Restaurants)-1)
		restaurant := l.Restaurants[i]
		answer, err := l.cluster.Ask(ctx, http.MethodPut, l.cluster.ServiceURL+"/sandbox/menus/"+restaurant, string(l.Change(i, n)))
		if ctx.Err() != nil {
			return
		}
		outcome := ""
		if err == nil && answer.Status == http.StatusOK {
			outcome, err = l.larder.Sync(ctx, restaurant)
		}
		if ctx.Err() != nil {
			return
		}
		l.mu.Lock()
		l.found.Requests["sync"]++
		switch outcome {
		case "updated":
			l.found.Published++
		case "unchanged": // a scheduled sync was first
		default:
			l.found.Failed++
			l.found.Faults = append(l.found.Faults, fmt.Sprintf("sync: %q %v", outcome, err))
		}
		l.mu.Unlock()
	}
}

// streams reads a restaurant's events for a while, repeatedly.
func (l *load) streams(ctx context.Context, i int) {
	url := l.larder.URL + "/v1/events?restaurant=" + l.Restaurants[i%len(l.Restaurants)]
	for sleep.For(ctx, readEvery) == nil {
		following, cancel := context.WithTimeout(ctx, streamFor)
		// The timeout ends it; the received events are discarded.
		answer, err := l.cluster.Ask(following, http.MethodGet, url, "", "Accept", "text/event-stream")
		ended := following.Err() != nil
		cancel()
		if ctx.Err() != nil {
			return
		}
		l.mu.Lock()
		l.found.Requests["event stream"]++
		if !ended {
			l.found.Failed++
			l.found.Faults = append(l.found.Faults, fmt.Sprintf("event stream: ended by itself: %d %.200s %v", answer.Status, answer.Body, err))
		}
		l.mu.Unlock()
	}
}

// samples records memory and goroutines, and computes the slopes at the end.
func (l *load) samples(ctx context.Context) error {
	warmUp := max(l.For/5, 10*time.Second)
	began := time.Now()
	var minutes, heap, rss, routines []float64
	for sleep.For(ctx, sampleEvery) == nil {
		sample, err := l.larder.Sample(ctx)
		if ctx.Err() != nil {
			break
		}
		if err != nil {
			return errors.Join(err, l.larder.Alive())
		}
		resident, err := RSS(l.larder.PID())
		if err != nil {
			return err
		}
		passed := time.Since(began)
		if passed < warmUp {
			continue
		}
		minutes = append(minutes, passed.Minutes())
		heap = append(heap, liveHeap(sample))
		rss = append(rss, float64(resident))
		routines = append(routines, sample.Sum("go_goroutines"))
		if len(minutes)%30 == 0 {
			l.Say("  %v of %v, %v left: heap %.1f MiB, RSS %.1f MiB, %.0f goroutines", passed.Round(time.Second), l.For, max(l.For-passed, 0).Round(time.Second), liveHeap(sample)/(1<<20), float64(resident)/(1<<20), sample.Sum("go_goroutines"))
		}
	}
	if len(minutes) < 5 {
		return fmt.Errorf("measure: %d samples after a warm-up of %v tell nothing: load it for longer", len(minutes), warmUp)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	f := l.found
	f.For = Duration(math.Round((minutes[len(minutes)-1] - minutes[0]) * float64(time.Minute)))
	f.HeapMean, f.HeapSlope = mean(heap), Slope(minutes, heap)
	f.RSSMean, f.RSSSlope = mean(rss), Slope(minutes, rss)
	f.Routines, f.Spawning = mean(routines), Slope(minutes, routines)
	return nil
}

func mean(values []float64) float64 { return sum(values) / float64(max(len(values), 1)) }

// Text returns the figures as text.
func (s Steady) Text() string {
	const mib = 1 << 20
	var text strings.Builder
	fmt.Fprintf(&text, "%v after the warm-up: heap %.1f MiB, %+.2f MiB a minute; RSS %.1f MiB, %+.2f MiB a minute; %.0f goroutines, %+.2f a minute\n",
		time.Duration(s.For).Round(time.Second), s.HeapMean/mib, s.HeapSlope/mib, s.RSSMean/mib, s.RSSSlope/mib, s.Routines, s.Spawning)
	for _, kind := range slices.Sorted(maps.Keys(s.Requests)) {
		fmt.Fprintf(&text, "%d × %s, ", s.Requests[kind], kind)
	}
	fmt.Fprintf(&text, "%d versions published, %d failed\n", s.Published, s.Failed)
	return text.String()
}
