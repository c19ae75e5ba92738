package httpapi

import (
	"context"
	"errors"
	"net"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/sirupsen/logrus"

	"larder/cache"
	"larder/cache/replica"
	"larder/httpapi/audit"
	"larder/httpapi/auth"
	"larder/httpapi/compat"
	"larder/httpapi/events"
	"larder/httpapi/menus"
	"larder/httpapi/metrics"
	"larder/httpapi/ops"
	"larder/httpapi/orders"
	"larder/httpapi/ratelimit"
	"larder/httpapi/respond"
	"larder/httpapi/web"
	"larder/internal/directory"
	"larder/internal/menu"
	"larder/internal/redisdb"
	"larder/internal/setting"
	"larder/internal/silentlog"
	"larder/internal/tracing"
	"larder/internal/upstream"
	"larder/ordering"
	"larder/ordering/validate"
	menusync "larder/sync"
)

// Orders places and changes orders; *ordering.Orders is one, and says what each
// method does and which errors it gives.
type Orders interface {
	orders.Engine
	Health(connection string) (ordering.JournalHealth, bool)
}

// Journal is the record of all orders, as it is read here. An ordering.Journal is
// one, and says what each method does and which errors it gives.
type Journal interface {
	orders.Journal
	Ready(ctx context.Context, connection string) error
}

// Connection is one connection to an ordering service, as far as this package
// must know it.
type Connection struct {
	Name      string
	FieldCase upstream.FieldCase // how an order's names are spelt, also in what validate shows
	// Breaker returns the state of the breaker for reads: closed, open or
	// half-open; nil where there is none to be shown.
	Breaker func() string
	// Load returns how busy the connection is; nil where it is not to be shown.
	Load func() upstream.Load
}

// Deps is what a Server works with. UnknownOrders, Metrics, Clock and Log may be
// left out.
type Deps struct {
	Replica   *replica.Replica
	Store     *cache.Store
	Directory *directory.Directory
	Runner    *menusync.Runner
	Validator *validate.Validator
	Orders    Orders
	Journal   Journal // of Orders
	// UnknownOrders counts the orders of a connection with an operation whose
	// outcome is unknown; *journal.Journal's Unknown is one.
	UnknownOrders func(ctx context.Context, connection string) (int64, error)
	// Connections are the configured connections, in their order.
	Connections []Connection
	Redis       *redisdb.DB
	// AllowMissingKey is ordering.allow_missing_key: orders are taken without
	// Idempotency-Key (policy O7); never a guest's.
	AllowMissingKey bool
	// Photos answers GET /photos/…: pictures of menus whose imageUrls say
	// "/photos/…". Nil: there is no such route.
	Photos  http.Handler
	Metrics *metrics.Metrics
	Tracing *tracing.Tracing // nil: off
	Clock   func() time.Time
	Log     logrus.FieldLogger
	Version string // of the build
}

// Server is larder's HTTP interface. Its handlers may be used by themselves;
// Run serves them. It starts no goroutine before Run.
type Server struct {
	cfg           Config
	authCfg       auth.Config
	deps          Deps
	menus         *menus.Handlers
	opsHandlers   *ops.Handlers
	compat        *compat.Handlers
	orderHandlers *orders.Handlers
	events        *events.Handlers

	assets      *web.Assets
	orderCounts *metrics.OrderCounts
	requests    requestLog
	health      *health

	auth          *auth.Auth
	cors          cors
	validateLimit *ratelimit.Limiter
	placeLimit    *ratelimit.Limiter
	changeLimit   *ratelimit.Limiter
	publicLimit   *ratelimit.Limiter
	publicReads   *ratelimit.Limiter
	proxies       auth.Proxies
	auditLog      *audit.Log
	open          *openConnections

	handler http.Handler
	ops     http.Handler

	listener    net.Listener
	opsListener net.Listener
}

// New checks both sections, with their secrets against where the listeners
// stand (policies H2 and H4), and wires the routes. It expects configurations
// after SetDefaults. It does not touch Redis and opens no listener.
//
// Errors: *setting.Error, joined where there are several.
func New(cfg Config, authCfg auth.Config, deps Deps) (*Server, error) {
	if err := errors.Join(cfg.Validate(), authCfg.Validate(), authCfg.ValidateFor(cfg.Exposed())); err != nil {
		return nil, err
	}
	if deps.Clock == nil {
		deps.Clock = time.Now
	}
	if deps.Log == nil {
		deps.Log = silentlog.New()
	}
	if deps.Metrics == nil {
		deps.Metrics = metrics.New(deps.Version)
	}
	s := &Server{
		cfg: cfg, authCfg: authCfg, deps: deps, cors: newCORS(cfg, authCfg.PublicOrders),
		requests: requestLog{access: cfg.AccessLog, to: deps.Log},
	}
	byAddress := ratelimit.New(cfg.Rate.AddressFailures, deps.Clock)
	s.proxies = auth.NewProxies(cfg.TrustedProxies)
	s.auth = auth.New(authCfg, auth.Deps{
		Redis: deps.Redis, Hosts: cfg.Hosts, Exposed: cfg.Exposed() != "", Proxies: s.proxies,
		TokenFailures:  ratelimit.Failures{ByAddress: byAddress, ByClient: ratelimit.New(cfg.Rate.TokenFailures, deps.Clock)},
		SignInFailures: ratelimit.Failures{ByAddress: byAddress, ByClient: ratelimit.New(cfg.Rate.SignInFailures, deps.Clock)},
		CacheTokens:    cfg.fastPath(), Version: deps.Version, Clock: deps.Clock, Log: deps.Log,
		SignedIn:  func(c *gin.Context) { s.auditLog.Add(c, audit.Entry{Action: audit.SignIn}) },
		SignedOut: func(c *gin.Context) { s.auditLog.Add(c, audit.Entry{Action: audit.SignOut}) },
	})
	s.menus = menus.New(menus.Deps{
		Replica: deps.Replica, Directory: deps.Directory, Stale: deps.Runner.Stale,
		Metrics: deps.Metrics, Clock: deps.Clock, OpenMenu: authCfg.MenuIsOpen(),
		MaxAge: cfg.MaxAge, StaleWhileRevalidate: cfg.StaleWhileRevalidate, StaleIfError: cfg.StaleIfError,
	})
	s.validateLimit = ratelimit.New(cfg.Rate.Validate, deps.Clock)
	s.placeLimit = ratelimit.New(cfg.Rate.Place, deps.Clock)
	s.changeLimit = ratelimit.New(cfg.Rate.Place, deps.Clock)
	s.publicLimit = ratelimit.New(authCfg.PublicOrders.Rate, deps.Clock)
	s.publicReads = ratelimit.New(cfg.Rate.Validate, deps.Clock)
	s.auditLog = audit.New(deps.Redis, deps.Directory, deps.Clock, deps.Log)
	s.health = &health{deps: deps, takesOrders: s.auth.TakesOrders, started: deps.Clock(), tried: map[menu.RestaurantID]bool{}}
	s.events = events.New(events.Deps{
		Config: cfg.Events, DrainDelay: cfg.DrainDelay, Replica: deps.Replica, Auth: s.auth, Directory: deps.Directory, Runner: deps.Runner,
		Metrics: deps.Metrics, Clock: deps.Clock,
	})
	fieldCases := make(map[string]upstream.FieldCase, len(deps.Connections))
	for _, connection := range deps.Connections {
		fieldCases[connection.Name] = connection.FieldCase
	}
	s.orderHandlers = orders.New(orders.Deps{
		Orders: deps.Orders, Journal: deps.Journal, Replica: deps.Replica, Directory: deps.Directory, Auth: s.auth, Audit: s.auditLog,
		Validator: deps.Validator, Metrics: deps.Metrics, Log: deps.Log, ValidateLimit: s.validateLimit, PublicLimit: s.publicLimit,
		FieldCases:      fieldCases,
		AllowMissingKey: deps.AllowMissingKey, GuestPayments: authCfg.PublicOrders.PaymentTypes,
	})
	s.compat = compat.New(compat.Deps{
		Orders: deps.Orders, Directory: deps.Directory, FieldCases: fieldCases,
		View: s.menus.View, Reasons: s.menus.Reasons, Note: s.orderHandlers.Note,
	})
	s.opsHandlers = ops.New(ops.Deps{
		Replica: deps.Replica, Store: deps.Store, Directory: deps.Directory, Runner: deps.Runner, Journal: deps.Journal, Audit: s.auditLog,
		Clock: deps.Clock, Log: deps.Log,
	})
	s.open = newOpenConnections(cfg.MaxConnections, openFiles(), newAddressConnections(cfg.MaxConnectionsPerAddress, s.proxies), deps.Log)
	if err := s.observe(deps.UnknownOrders); err != nil {
		return nil, err
	}
	return s, s.route()
}

// SetClients makes these the clients from now on, as auth.Auth does. It returns
// how many were added, changed or removed.
func (s *Server) SetClients(all []auth.ClientConfig) (changed int) { return s.auth.SetClients(all) }

// Handler serves the public routes and, without http.ops_listen, those of ops.
func (s *Server) Handler() http.Handler { return s.handler }

// OpsHandler serves what http.ops_listen moves to a listener of its own
// (policy H6), and beside it what is needed there: tokens and readiness.
func (s *Server) OpsHandler() http.Handler { return s.ops }

// newEngine is Gin without its logger and without anything it would trust or
// redirect by itself.
func (s *Server) newEngine() (*gin.Engine, error) {
	gin.SetMode(gin.ReleaseMode)
	engine := gin.New()
	engine.RedirectTrailingSlash = false
	engine.HandleMethodNotAllowed = true
	// Ids may hold a slash, sent as %2F: routes match the path as it was sent.
	// Gin's own unescaping takes "+" for a space; param does it right.
	engine.UseRawPath = true
	engine.UnescapePathValues = false
	// X-Real-IP, which Gin reads too, is passed on by proxies as a client sent it.
	engine.RemoteIPHeaders = []string{"X-Forwarded-For"}
	if err := engine.SetTrustedProxies(s.cfg.TrustedProxies); err != nil { // nil trusts none; Gin's default trusts all
		return nil, setting.Errorf("http.trusted_proxies", "%v", err)
	}
	engine.Use(s.instrument)
	engine.NoRoute(respond.Handle(noRoute))
	engine.NoMethod(respond.Handle(s.noMethod))
	return engine, nil
}

// observe registers what a scrape reads of the server.
func (s *Server) observe(unknownOrders func(ctx context.Context, connection string) (int64, error)) error {
	connections := make([]string, len(s.deps.Connections))
	for i, connection := range s.deps.Connections {
		connections[i] = connection.Name
	}
	s.orderCounts = metrics.NewOrderCounts(metrics.OrderSource{
		Connections: connections, Orders: s.deps.Orders, Journal: s.deps.Journal, Unknown: unknownOrders,
		TakesOrders: s.auth.TakesOrders, Log: s.deps.Log,
	})
	state := metrics.State{
		Memory:  func() (used, limit int64) { memory := s.deps.Replica.Memory(); return memory.Used, memory.Limit },
		Streams: s.events.Open,
		Spans:   func() (sent, dropped uint64) { spans := s.deps.Tracing.Spans(); return spans.Sent, spans.Dropped },
		Listener: metrics.Listener{
			Open: s.open.open.Load, Limit: s.open.limit, Filled: s.open.filled.Load, Refused: s.open.each.refused.Load,
		},
		RedisDown: s.deps.Runner.RedisDown, RedisReadOnly: func() bool { return s.deps.Runner.RedisRefusesWrites() != nil },
		RedisPools: s.deps.Redis.Pools(),
	}
	for _, connection := range s.deps.Connections {
		shown := metrics.Connection{Name: connection.Name, Breaker: connection.Breaker, Load: connection.Load}
		state.Connections = append(state.Connections, shown)
	}
	menus := metrics.Menus{Replica: s.deps.Replica, Directory: s.deps.Directory, Runner: s.deps.Runner, Clock: s.deps.Clock}
	for _, collector := range append(state.Collectors(), menus.Collector(), s.orderCounts.Collector()) {
		if err := s.deps.Metrics.Registry().Register(collector); err != nil {
			return err
		}
	}
	return nil
}
