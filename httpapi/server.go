package httpapi

import (
	"context"
	"crypto/sha256"
	"errors"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/sirupsen/logrus"

	"larder/cache"
	"larder/httpapi/web"
	"larder/internal/menu"
	"larder/internal/redisdb"
	"larder/internal/setting"
	"larder/internal/silentlog"
	"larder/internal/tracing"
	"larder/internal/upstream"
	"larder/ordering"
	menusync "larder/sync"
)

// Orders places and changes orders; *ordering.Orders is one, and says what each
// method does and which errors it gives.
type Orders interface {
	Place(ctx context.Context, order ordering.PlaceRequest) (ordering.Result, error)
	Change(ctx context.Context, change ordering.ChangeRequest) (ordering.Result, error)
	Resolve(ctx context.Context, resolution ordering.ResolveRequest) (ordering.Result, error)
	ByOrderID(ctx context.Context, connections []string, orderID string) (ordering.Record, error)
	ByKey(ctx context.Context, connections []string, client, key string) (ordering.Record, error)
	Health(connection string) (ordering.JournalHealth, bool)
	AcceptRestore(ctx context.Context, connection string) (bool, error)
}

// Journal is the record of all orders, as it is read here. An ordering.Journal is
// one, and says what each method does and which errors it gives.
type Journal interface {
	Ready(ctx context.Context, connection string) error
	Record(ctx context.Context, connections []string, ref string) (ordering.Record, error)
	List(ctx context.Context, query ordering.Query) (records []ordering.Record, next string, err error)
	Body(ctx context.Context, connection, ref string, call int) ([]byte, error)
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
	Replica   *cache.Replica
	Store     *cache.Store
	Runner    *menusync.Runner
	Validator *ordering.Validator
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
	Metrics *Metrics
	Tracing *tracing.Tracing // nil: off
	Clock   func() time.Time
	Log     logrus.FieldLogger
	Version string // of the build
}

// Server is larder's HTTP interface. Its handlers may be used by themselves;
// Run serves them. It starts no goroutine before Run.
type Server struct {
	cfg     Config
	authCfg AuthConfig

	replica         *cache.Replica
	store           *cache.Store
	runner          *menusync.Runner
	validator       *ordering.Validator
	orders          Orders
	journal         Journal
	connections     []Connection
	redis           *redisdb.DB
	allowMissingKey bool
	photos          http.Handler
	assets          *web.Assets
	clock           func() time.Time
	log             logrus.FieldLogger
	metrics         *Metrics
	orderCounts     *orderCounts
	tracing         *tracing.Tracing

	auth               *authority
	cors               cors
	validateLimit      *limiter
	placeLimit         *limiter
	changeLimit        *limiter
	publicLimit        *limiter
	publicReads        *limiter
	tokenFailures      failureLimit
	signInFailures     failureLimit
	crossOrigin        http.CrossOriginProtection // of the sessions of /ops
	bearerOps          gin.HandlerFunc            // requireScope(ScopeOps)
	proxies            proxies
	auditLog           *auditLog
	diffSlots          chan struct{} // a place for each comparison under way
	release            string
	sampled            atomic.Uint64
	buffers            sync.Pool // of *buffers
	indexed            atomic.Pointer[restaurantIndex]
	statesMu           sync.Mutex                   // held while states is made
	states             *stateSummary                // the last one
	lastModifiedSeen   atomic.Int64                 // Unix milliseconds: a time that is over
	defaults           map[string]menu.RestaurantID // the connections' own menus
	publicCacheControl string                       // Cache-Control of open menu reads
	readiness          *readiness
	streams            *streams
	open               *openConnections

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
func New(cfg Config, auth AuthConfig, deps Deps) (*Server, error) {
	if err := errors.Join(cfg.Validate(), auth.Validate(), auth.ValidateFor(cfg)); err != nil {
		return nil, err
	}
	s := &Server{
		cfg: cfg, authCfg: auth,
		replica: deps.Replica, store: deps.Store, runner: deps.Runner, validator: deps.Validator, orders: deps.Orders,
		journal:     deps.Journal,
		connections: deps.Connections, redis: deps.Redis, allowMissingKey: deps.AllowMissingKey, photos: deps.Photos,
		clock: deps.Clock, log: deps.Log, metrics: deps.Metrics, tracing: deps.Tracing,
		cors: newCORS(cfg, auth.PublicOrders), publicCacheControl: openCacheControl(cfg),
	}
	if s.clock == nil {
		s.clock = time.Now
	}
	if s.log == nil {
		s.log = silentlog.New()
	}
	if s.metrics == nil {
		s.metrics = NewMetrics(deps.Version)
	}
	s.auth = newAuthority(auth, s.signingKeys(), s.clock)
	if cfg.fastPath() {
		s.auth.tokenCache = &tokenCache{byID: map[[sha256.Size]byte]caller{}}
	}
	s.orderCounts = &orderCounts{server: s, countUnknown: deps.UnknownOrders, unknown: map[string]int64{}, ready: map[string]bool{}}
	s.defaults = map[string]menu.RestaurantID{}
	for _, connection := range s.connections {
		s.defaults[connection.Name] = cache.DefaultMenu(connection.Name)
	}
	s.validateLimit = newLimiter(cfg.Rate.Validate, s.clock)
	s.placeLimit = newLimiter(cfg.Rate.Place, s.clock)
	s.changeLimit = newLimiter(cfg.Rate.Place, s.clock)
	s.publicLimit = newLimiter(auth.PublicOrders.Rate, s.clock)
	s.publicReads = newLimiter(cfg.Rate.Validate, s.clock)
	byAddress := newLimiter(cfg.Rate.AddressFailures, s.clock)
	s.tokenFailures = failureLimit{byAddress, newLimiter(cfg.Rate.TokenFailures, s.clock)}
	s.signInFailures = failureLimit{byAddress, newLimiter(cfg.Rate.SignInFailures, s.clock)}
	s.bearerOps = s.requireScope(ScopeOps)
	s.proxies = newProxies(cfg.TrustedProxies)
	s.auditLog = &auditLog{redis: s.redis.NoRetry(), key: cache.NewKeys(s.redis.Prefix()).OpsAudit()}
	s.diffSlots, s.release = make(chan struct{}, maxDiffs), deps.Version
	s.readiness = &readiness{started: s.clock(), tried: map[menu.RestaurantID]bool{}}
	s.streams = &streams{
		cfg: cfg.Events, replica: deps.Replica, closing: make(chan struct{}),
		byAddress: map[string]int{}, topics: map[menu.RestaurantID]*topic{},
	}
	s.open = newOpenConnections(cfg.MaxConnections, openFiles(), newAddressConnections(cfg.MaxConnectionsPerAddress, s.proxies), s.log)
	for _, collector := range append(s.stateMetrics(), s.menuAge(), s.orderCounts.collector()) {
		if err := s.metrics.registry.Register(collector); err != nil {
			return nil, err
		}
	}
	return s, s.route()
}

// signingKeys are the configured key or those that Redis keeps.
func (s *Server) signingKeys() *signingKeys {
	keys := &signingKeys{clock: s.clock}
	if s.authCfg.SigningKey != "" {
		keys.signing.Store(newSigningKey([]byte(s.authCfg.SigningKey)))
		return keys
	}
	names := cache.NewKeys(s.redis.Prefix())
	keys.redis, keys.name, keys.replacedName = s.redis.Client(), names.SigningKey(), names.ReplacedSigningKeys()
	keys.lifetime = max(s.authCfg.TokenLifetime, s.authCfg.SessionLifetime)
	return keys
}

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
	engine.NoRoute(handle(noRoute))
	engine.NoMethod(handle(s.noMethod))
	return engine, nil
}
