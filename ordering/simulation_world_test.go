package ordering_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing/synctest"
	"time"

	"larder.local/internal/menu"
	"larder.local/internal/sandbox"
	"larder.local/internal/testkit/journaltest"
	"larder.local/internal/testkit/menutest"
	"larder.local/internal/upstream"
	"larder.local/ordering"
	"larder.local/ordering/validate"
)

// The retention in the simulation is short, so that many records and keys expire.
const (
	simKeyTTL = time.Hour
	simSweep  = 30 * time.Second
	// simCall limits the time of a call without its client. It is the write timeout of a
	// connection, less the time before it was sent.
	simCall = upstream.DefaultWriteTimeout - time.Second
)

func simRetention() journaltest.Retention {
	return journaltest.Retention{Key: simKeyTTL, Guest: 2 * time.Hour, Record: 60 * 24 * time.Hour}
}

func simConfig() ordering.Config {
	cfg := ordering.DefaultConfig()
	cfg.SweepEvery, cfg.KeyTTL, cfg.CustomerDataTTL, cfg.RecordTTL = simSweep, simKeyTTL, 2*time.Hour, 60*24*time.Hour
	return cfg
}

// replica is one instance. It has its own connections to the service and to the shared
// journal.
type replica struct {
	number int
	orders *ordering.Orders
	gate   *gate
	plug   *plug
	client *upstream.Client
	stop   context.CancelFunc
	gone   chan struct{} // closed when Run has returned
}

// world has a service, a journal and the instances between them.
type world struct {
	ctx      context.Context //nolint:containedctx // of the whole run
	journal  *journaltest.Memory
	box      *sandbox.Sandbox
	service  http.Handler // the sandbox without the spy
	network  *network
	server   *http.Server
	served   chan error
	replicas [2]*replica
	refs     int
	cards    [2]*menu.Catalogue // without and with the stopped dish
	stopped  bool               // larder knows that the dish is stopped
	steady   bool               // the journal and the processes never fail

	mu        sync.Mutex
	faults    []string // violated invariants
	active    map[string]int
	events    map[string]int
	requests  []*simRequest
	answers   []*simRequest // with a response, but not checked yet
	truth     truth
	resolving bool
}

func newWorld(ctx context.Context, cards [2]*menu.Catalogue) *world {
	w := &world{
		ctx:     ctx,
		journal: journaltest.NewMemory(time.Now, simRetention()),
		network: newNetwork(),
		cards:   cards,
		served:  make(chan error, 1),
		active:  map[string]int{},
		events:  map[string]int{},
		truth:   newTruth(),
	}
	lifetime, accept := sandbox.Duration(5*time.Minute), false
	w.box = sandbox.New(sandbox.Config{Settings: sandbox.Settings{TokenLifetime: &lifetime, AutoAccept: &accept}})
	w.box.SetMenu(string(menutest.Restaurant), []byte(menutest.Card))
	w.service = w.box.Handler()
	w.server = &http.Server{Handler: http.HandlerFunc(w.spy), ReadHeaderTimeout: time.Hour}
	go func() { w.served <- w.server.Serve(w.network) }()
	for i := range w.replicas {
		w.start(ctx, i)
	}
	return w
}

// start replaces an instance that has ended by a new one.
func (w *world) start(ctx context.Context, i int) {
	ctx, stop := context.WithCancel(ctx)
	p := &plug{net: w.network}
	r := &replica{
		number: i,
		plug:   p,
		stop:   stop,
		gone:   make(chan struct{}),
	}
	r.gate = &gate{
		Journal: w.journal,
		plug:    p,
		fail:    map[journaltest.Method][]journaltest.Failure{},
		die:     map[journaltest.Method]journaltest.Failure{},
		delay:   map[journaltest.Method]time.Duration{},
	}
	cfg := upstream.Config{
		Name:         "main",
		BaseURL:      "http://service.test",
		AuthURL:      "http://service.test",
		ClientID:     "demo",
		ClientSecret: "demo-secret",
	}
	client, err := upstream.New(cfg, upstream.Deps{
		Dial: p.dial, Jitter: func(most time.Duration) time.Duration { return most / 2 },
	})
	if err != nil {
		panic(err)
	}
	r.client = client
	r.orders = ordering.NewOrders(simConfig(), ordering.Deps{
		Validator:   validate.New(simConfig().Config, time.Now),
		Catalogues:  w,
		Journal:     r.gate,
		Services:    map[string]ordering.Service{"main": client},
		Reasons:     func(context.Context, string) ([]upstream.Reason, error) { return simReasons(), nil },
		Connections: func() []string { return []string{"main"} },
		NewRef:      w.newRef,
		Observe: func(event, _ string) {
			if !r.gate.isDead() {
				w.happened(event)
			}
		},
	})
	w.replicas[i] = r
	go func() {
		defer close(r.gone)
		time.Sleep(time.Duration(1+i) * 137 * time.Microsecond) //testwaits:allow so that instances do not sweep at the same moment, in the synctest bubble
		_ = r.orders.Run(ctx)
		client.Close()
	}()
}

// Catalogue implements ordering.Catalogues.
func (w *world) Current(context.Context, menu.RestaurantID, string) (int64, *menu.Catalogue, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.stopped {
		return 8, w.cards[1], nil
	}
	return 7, w.cards[0], nil
}

func (w *world) newRef() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.refs++
	return fmt.Sprintf("REF%07d", w.refs)
}

func (w *world) happened(event string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.events[event]++
	if event == "order.outcome_conflict" {
		w.wrongLocked("the outcome of a call contradicts its correct resolution")
	}
}

// wrong records a violated invariant. The run fails at the end of the step.
func (w *world) wrong(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.wrongLocked(format, args...)
}

func (w *world) wrongLocked(format string, args ...any) {
	w.faults = append(w.faults, fmt.Sprintf(format, args...))
}

// replace starts a new instance in place of a killed one.
func (w *world) replace(i int) {
	w.replicas[i].stop()
	w.start(w.ctx, i)
}

// end stops everything, because no goroutine may be left in the bubble.
func (w *world) end() {
	for _, r := range w.replicas {
		r.gate.kill()
		r.stop()
	}
	w.box.Close()
	_ = w.server.Close()
	if err := <-w.served; !errors.Is(err, http.ErrServerClosed) {
		w.wrong("serving: %v", err)
	}
	for _, a := range w.requests {
		a.leave()
	}
	time.Sleep(10 * time.Minute) //testwaits:allow the longest limit of anything that may still run, in the synctest bubble
	synctest.Wait()
}

// simReasons are the sandbox's reasons that the simulation uses.
func simReasons() []upstream.Reason {
	return []upstream.Reason{{ID: "5f0c8a52-0005-4b6e-9a51-1c6f0a7d2e05", Reason: "Another reason", Type: "text"}}
}

// operationOf returns the operation of a write, from its path.
func operationOf(r *http.Request) (op ordering.Operation, orderID string) {
	const orders = "/orders/api/v1/orders"
	rest, ok := strings.CutPrefix(r.URL.Path, orders)
	switch {
	case !ok:
		return "", ""
	case rest == "" && r.Method == http.MethodPost:
		return upstream.OpCreate, ""
	}
	id, name, _ := strings.Cut(strings.TrimPrefix(rest, "/"), "/")
	return ordering.Operation(name), id
}
