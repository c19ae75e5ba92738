// Package sandbox is a complete ordering service in one process, for demos, development and tests: the interface of
// docs/ordering-service.md (token endpoint and six endpoints), steps of an operator, and faults on demand.
//
// It validates orders with its own code, independent of larder's packages. So an
// order that larder accepts and the sandbox refuses reveals a bug. Only commands
// and tests may import it. It keeps all data in memory and starts no goroutines.
package sandbox

import (
	"cmp"
	"crypto/rand"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sirupsen/logrus"

	"larder.local/internal/silentlog"
)

// BistroID is the restaurant of the demo menu.
const BistroID = "76439fb3-c0c4-42ca-a269-64f031a6a33b"

// DefaultMenu is the name of the menu view that is returned without restaurantId.
const DefaultMenu = "default"

// Config configures a sandbox. The zero value is valid.
type Config struct {
	// ClientID and ClientSecret are the only credentials that get a token. Default: demo and demo-secret.
	ClientID     string
	ClientSecret string
	// Clock returns the time; nil: the system's clock.
	Clock func() time.Time
	// Settings are the initial settings.
	Settings Settings
	// Log receives one line for every request and order, without personal data; nil: no log.
	Log logrus.FieldLogger
	// BaseURL is the sandbox's address in image URLs, such as "http://127.0.0.1:9090"; empty: URLs without a host.
	BaseURL string
}

// Sandbox is a running ordering service. It is safe for concurrent use.
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
	changes  broadcast // of everything that the board shows
	site     *http.CrossOriginProtection
	streams  atomic.Int64 // open event streams

	stop sync.Once
	done chan struct{} // closed when the sandbox stops, to end hanging requests
}

// New returns a sandbox without menus; [Sandbox.SetMenu] and [Sandbox.SetGenerated] add them. It starts nothing.
func New(cfg Config) *Sandbox {
	s := &Sandbox{
		clock:    cfg.Clock,
		log:      cmp.Or(cfg.Log, silentlog.New()),
		baseURL:  cfg.BaseURL,
		done:     make(chan struct{}),
		site:     http.NewCrossOriginProtection(),
		counters: counters{calls: map[string]int{}, done: map[string]int{}},
		menus:    menuStore{put: map[string]*putMenu{}},
		changes:  broadcast{next: make(chan struct{})},
		orders:   orderBook{byID: map[string]*order{}},
		tokens: tokenIssuer{
			clientID:     cmp.Or(cfg.ClientID, "demo"),
			clientSecret: cmp.Or(cfg.ClientSecret, "demo-secret"),
			key:          []byte(rand.Text() + rand.Text()),
		},
	}
	if s.clock == nil {
		s.clock = time.Now
	}
	s.settings.start(cfg.Settings)
	return s
}

// Close ends all hanging requests, and later ones immediately, so that a graceful shutdown of the server does not
// wait for them. Orders need no timer, because their state is computed from the clock when it is read.
func (s *Sandbox) Close() {
	s.stop.Do(func() { close(s.done) })
}

// Handler returns the handler of the ordering service and the sandbox's routes.
func (s *Sandbox) Handler() http.Handler {
	table := s.routes()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { s.serve(table, w, r) })
}
