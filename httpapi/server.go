package httpapi

import (
	"context"
	"errors"
	"net"
	"net/http"
	"slices"
	"sync/atomic"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/sirupsen/logrus"

	"larder.local/cache"
	"larder.local/cache/replica"
	"larder.local/httpapi/audit"
	"larder.local/httpapi/auth"
	"larder.local/httpapi/compat"
	"larder.local/httpapi/events"
	"larder.local/httpapi/menus"
	"larder.local/httpapi/metrics"
	"larder.local/httpapi/ops"
	"larder.local/httpapi/orders"
	"larder.local/httpapi/ratelimit"
	"larder.local/httpapi/respond"
	"larder.local/httpapi/visible"
	"larder.local/httpapi/web"
	"larder.local/internal/directory"
	"larder.local/internal/menu"
	"larder.local/internal/redisdb"
	"larder.local/internal/setting"
	"larder.local/internal/tracing"
	"larder.local/internal/upstream"
	"larder.local/ordering"
	"larder.local/ordering/validate"
	menusync "larder.local/sync"
	"larder.local/sync/runlog"
)

// Orders places and changes orders; *ordering.Orders implements it.
type Orders interface {
	orders.Engine
	Health(connection string) (ordering.JournalHealth, bool)
}

// Connection is one connection to an ordering service.
type Connection struct {
	metrics.Connection
	FieldCase upstream.FieldCase // spelling of field names in orders, also in those that validate returns
}

// Deps are the dependencies of a Server. Photos, Tracing and Clock are optional.
type Deps struct {
	Replica   *replica.Replica
	Store     *cache.Store
	Directory *directory.Directory
	Scheduler *menusync.Scheduler
	Runner    *menusync.Runner // of the Scheduler
	Validator *validate.Validator
	Orders    Orders
	Journal   ordering.Journal // the journal of Orders
	// UnknownOrders counts the orders of a connection with an unknown outcome, as Unknown of
	// *journal.Journal.
	UnknownOrders func(ctx context.Context, connection string) (int64, error)
	Connections   []Connection // in the order of the configuration
	Redis         *redisdb.DB
	// AllowMissingKey is ordering.allow_missing_key: orders without Idempotency-Key are
	// accepted, except from guests (policy O7).
	AllowMissingKey bool
	Photos          http.Handler // answers GET /photos/…, the imageUrls of menus; nil: no such route
	Metrics         *metrics.Metrics
	Tracing         *tracing.Tracing // nil: off
	Clock           func() time.Time
	Log             logrus.FieldLogger
	Version         string // of the build
}

// Server is larder's HTTP interface. It starts no goroutine before Run.
type Server struct {
	cfg           Config
	authCfg       auth.Config
	deps          Deps
	menus         *menus.Handlers
	opsHandlers   *ops.Handlers
	compat        *compat.Handlers
	orderHandlers *orders.Handlers
	events        *events.Handlers

	assets  *web.Assets
	scrape  *metrics.Scrape
	sampled atomic.Uint64 // requests that http.access_log may select
	health  *health

	auth     *auth.Auth
	cors     cors
	proxies  auth.Proxies
	auditLog *audit.Log
	served   visible.Served
	open     *openConnections

	validateLimit, placeLimit, changeLimit, publicLimit, publicReads *ratelimit.Limiter

	handler http.Handler // the public routes and, without http.ops_listen, the ops routes
	ops     http.Handler // the ops routes, tokens and health checks for the listener of http.ops_listen (policy H6)

	listener    net.Listener
	opsListener net.Listener
}

// New validates both sections, including the secrets for these listeners (policies H2 and H4),
// and registers the routes. It expects configurations after SetDefaults. It does not use Redis
// and opens no listener. Its errors are *setting.Error, joined if there are several.
func New(cfg Config, authCfg auth.Config, deps Deps) (*Server, error) {
	if err := errors.Join(cfg.Validate(), authCfg.Validate(), authCfg.ValidateFor(cfg.Exposed())); err != nil {
		return nil, err
	}
	if deps.Clock == nil {
		deps.Clock = time.Now
	}
	s := &Server{
		cfg:     cfg,
		authCfg: authCfg,
		deps:    deps,
		cors:    newCORS(cfg, authCfg.PublicOrders),
	}
	s.served = visible.Served{Directory: deps.Directory, Replica: deps.Replica, Terms: deps.Validator.Terms, Clock: deps.Clock}
	s.limitRequests()
	s.auditLog = audit.New(deps.Redis, s.served, deps.Log)
	s.auth = s.newAuth()
	s.health = &health{deps: deps, auth: s.auth, started: deps.Clock(), tried: map[menu.RestaurantID]bool{}}
	s.newMenuHandlers()
	s.newOrderHandlers()
	s.events = events.New(events.Deps{
		Served:     s.served,
		Config:     cfg.Events,
		DrainDelay: cfg.DrainDelay,
		Auth:       s.auth,
		Follow:     func() *runlog.Follower { return deps.Runner.Log().Follow() },
		Order:      s.orderHandlers.Follow,
		Accepts: func(id menu.RestaurantID) []byte {
			now := deps.Clock()
			delivery, pickup := deps.Validator.Terms(id, now)
			return menus.AppendAccepts(nil, delivery, pickup, now)
		},
		Metrics: deps.Metrics,
	})
	s.observe()
	return s, s.route()
}

// limitRequests creates the limits of connections and requests.
func (s *Server) limitRequests() {
	rate, clock := s.cfg.Rate, s.deps.Clock
	s.proxies = auth.NewProxies(s.cfg.TrustedProxies)
	each := &addressConnections{limit: s.cfg.MaxConnectionsPerAddress, exempt: s.proxies, open: map[string]int{}}
	s.open = newOpenConnections(s.cfg.MaxConnections, openFiles(), each, s.deps.Log)
	s.validateLimit = ratelimit.New("validate", rate.Validate, clock)
	s.placeLimit = ratelimit.New("place", rate.Place, clock)
	s.changeLimit = ratelimit.New("change", rate.Place, clock)
	s.publicLimit = ratelimit.New("guest", s.authCfg.PublicOrders.Rate, clock)
	s.publicReads = ratelimit.New("guest-reads", rate.Validate, clock)
}

func (s *Server) newAuth() *auth.Auth {
	cfg, deps := s.cfg, s.deps
	byAddress := ratelimit.New("", cfg.Rate.AddressFailures, deps.Clock)
	return auth.New(s.authCfg, auth.Deps{
		Redis:          deps.Redis,
		Hosts:          cfg.Hosts,
		Exposed:        cfg.Exposed() != "",
		Proxies:        s.proxies,
		TokenFailures:  ratelimit.Failures{ByAddress: byAddress, ByClient: ratelimit.New("", cfg.Rate.TokenFailures, deps.Clock)},
		SignInFailures: ratelimit.Failures{ByAddress: byAddress, ByClient: ratelimit.New("", cfg.Rate.SignInFailures, deps.Clock)},
		Failed:         deps.Metrics.AuthFailed,
		Version:        deps.Version,
		Clock:          deps.Clock,
		Log:            deps.Log,
		SignedIn:       func(c *gin.Context) { s.auditLog.Add(c, audit.Entry{Action: audit.SignIn}) },
		SignedOut:      func(c *gin.Context) { s.auditLog.Add(c, audit.Entry{Action: audit.SignOut}) },
	})
}

// newMenuHandlers creates the groups of handlers that serve menus, to readers and to operators.
func (s *Server) newMenuHandlers() {
	cfg, deps := s.cfg, s.deps
	s.menus = menus.New(menus.Deps{
		Served:       s.served,
		Stale:        deps.Runner.Stale,
		Metrics:      deps.Metrics,
		OpenMenu:     s.authCfg.MenuIsOpen(),
		CacheControl: menus.PublicCacheControl(cfg.MaxAge, cfg.StaleWhileRevalidate, cfg.StaleIfError),
	})
	s.opsHandlers = ops.New(ops.Deps{
		Served:    s.served,
		Store:     deps.Store,
		Scheduler: deps.Scheduler,
		Runner:    deps.Runner,
		Journal:   deps.Journal,
		Paused:    s.paused,
		Tokens: func(connection string) upstream.TokenStatus {
			i := slices.IndexFunc(deps.Connections, func(c Connection) bool { return c.Name == connection })
			return deps.Connections[i].Token()
		},
		Audit: s.auditLog,
		Log:   deps.Log,
	})
}

// paused reports whether orders of a connection are paused (policy O14a), as the instance knows it.
func (s *Server) paused(connection string) bool {
	health, _ := s.deps.Orders.Health(connection)
	return !health.PausedAt.IsZero()
}

// newOrderHandlers creates the groups of handlers that place and change orders.
func (s *Server) newOrderHandlers() {
	deps := s.deps
	fieldCases := make(map[string]upstream.FieldCase, len(deps.Connections))
	for _, connection := range deps.Connections {
		fieldCases[connection.Name] = connection.FieldCase
	}
	s.orderHandlers = &orders.Handlers{
		Served:          s.served,
		Orders:          deps.Orders,
		Journal:         deps.Journal,
		Paused:          s.paused,
		Auth:            s.auth,
		Audit:           s.auditLog,
		Validator:       deps.Validator,
		Metrics:         deps.Metrics,
		Log:             deps.Log,
		ValidateLimit:   s.validateLimit,
		PublicLimit:     s.publicLimit,
		FieldCases:      fieldCases,
		AllowMissingKey: deps.AllowMissingKey,
		GuestPayments:   s.authCfg.PublicOrders.PaymentTypes,
	}
	s.compat = &compat.Handlers{
		Orders:     deps.Orders,
		Directory:  deps.Directory,
		FieldCases: fieldCases,
		View:       s.menus.View,
		Reasons:    s.menus.Reasons,
		Note:       s.orderHandlers.Note,
	}
}

// SetClients replaces the clients; see auth.Auth. It returns how many were added, changed or removed.
func (s *Server) SetClients(all []auth.ClientConfig) (changed int) { return s.auth.SetClients(all) }

// newEngine returns a Gin engine without its logger, trusted proxies and redirects.
func (s *Server) newEngine() (*gin.Engine, error) {
	gin.SetMode(gin.ReleaseMode)
	engine := gin.New()
	engine.RedirectTrailingSlash = false
	engine.HandleMethodNotAllowed = true
	// Ids may contain a slash, sent as %2F, so routes match the raw path. Gin's own unescaping
	// decodes "+" as a space; respond.Param does not.
	engine.UseRawPath = true
	engine.UnescapePathValues = false
	// Gin also reads X-Real-IP by default, but proxies pass it on as the client sent it.
	engine.RemoteIPHeaders = []string{"X-Forwarded-For"}
	if err := engine.SetTrustedProxies(s.cfg.TrustedProxies); err != nil { // nil trusts none; Gin's default trusts all
		return nil, setting.Errorf("http.trusted_proxies", "%v", err)
	}
	engine.Use(s.instrument)
	engine.NoRoute(respond.Handle(noRoute))
	engine.NoMethod(respond.Handle(s.noMethod))
	return engine, nil
}
