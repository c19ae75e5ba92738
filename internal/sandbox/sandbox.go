// Package sandbox is a whole ordering service in one process: the interface of
// docs/ordering-service.md (token endpoint and six endpoints), an operator's
// steps, and faults on demand, for demos, development and tests.
//
// Its one invariant: it judges every order by its own plain check, which
// shares no code with larder's packages, so that an order which larder lets
// through and the sandbox refuses is a bug found. Only cmd and tests may
// import it. It keeps everything in memory and starts no goroutine by itself.
package sandbox

import (
	"cmp"
	"context"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sirupsen/logrus"

	"larder/internal/silentlog"
)

// BistroID is the restaurant of the hand-written demo menu.
const BistroID = "76439fb3-c0c4-42ca-a269-64f031a6a33b"

// DefaultMenu is the name under which the connection's own menu view is kept:
// what the menu view answers without restaurantId.
const DefaultMenu = "default"

// Config is how a sandbox starts. Its zero value is ready for use.
type Config struct {
	// ClientID and ClientSecret are the only credentials that get a token.
	// Empty: demo and demo-secret.
	ClientID     string
	ClientSecret string
	// Clock tells the time; nil: the system's clock.
	Clock func() time.Time
	// Settings are the switches at the start; see [defaultSettings] for what
	// an empty field means.
	Settings Settings
	// Log gets one line for every request and order, without any personal
	// data; nil: no log.
	Log logrus.FieldLogger
	// BaseURL is the sandbox's own address as menus name it in the addresses
	// of images ("http://127.0.0.1:9090"); empty: addresses without a host.
	BaseURL string
}

// Sandbox is one running ordering service. All methods may be called from any
// number of goroutines.
type Sandbox struct {
	clock   func() time.Time
	log     logrus.FieldLogger
	baseURL string

	settings settingsStore
	tokens   tokenIssuer
	menus    menuStore
	orders   orderBook
	faults   faultList
	counters counters
	queue    workQueue
	rejected rejectedOrders
	changes  broadcast // notified after everything that a board shows
	site     *http.CrossOriginProtection
	streams  atomic.Int64 // readers of events

	stop sync.Once
	done chan struct{} // closed when Run ends: every hanging request is let go
}

// New makes a sandbox without any menu: give it one by [Sandbox.SetMenu] or
// [Sandbox.SetGenerated]. It starts nothing.
func New(cfg Config) *Sandbox {
	s := &Sandbox{
		clock:    cfg.Clock,
		log:      cfg.Log,
		baseURL:  cfg.BaseURL,
		tokens:   newTokenIssuer(cmp.Or(cfg.ClientID, "demo"), cmp.Or(cfg.ClientSecret, "demo-secret")),
		done:     make(chan struct{}),
		site:     http.NewCrossOriginProtection(),
		counters: counters{calls: map[string]int{}, done: map[string]int{}},
		menus:    menuStore{put: map[string]*putMenu{}},
		orders:   orderBook{byID: map[string]*order{}},
	}
	if s.clock == nil {
		s.clock = time.Now
	}
	if s.log == nil {
		s.log = silentlog.New()
	}
	s.settings.start(cfg.Settings)
	return s
}

// Run waits until ctx ends and then lets go of every request that a fault
// keeps hanging, so that a graceful shutdown finds nothing in flight. Orders
// need no timer: an order's state is worked out from the clock when it is
// looked at.
func (s *Sandbox) Run(ctx context.Context) error {
	<-ctx.Done()
	s.Close()
	return nil
}

// Close lets go of every hanging request; later hangs end at once. Tests that
// do not use [Sandbox.Run] call it before they close their server.
func (s *Sandbox) Close() {
	s.stop.Do(func() { close(s.done) })
}

// Handler serves the ordering service and its switches.
func (s *Sandbox) Handler() http.Handler {
	table := s.routes()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { s.serve(table, w, r) })
}
