package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"larder.local/httpapi/auth"
	"larder.local/httpapi/compat"
	"larder.local/httpapi/openapi"
	"larder.local/httpapi/ratelimit"
	"larder.local/httpapi/respond"
	"larder.local/httpapi/web"
	"larder.local/internal/upstream"
	"larder.local/ordering"
)

// route registers all routes.
func (s *Server) route() error {
	s.assets = web.NewAssets()
	s.assets.Add("robots.txt", []byte(robotsText))
	public, err := s.newEngine()
	if err != nil {
		return err
	}
	ops, err := s.newEngine()
	if err != nil {
		return err
	}
	read, placing := s.auth.RequireScope(auth.ScopeMenu), s.auth.RequireScope(auth.ScopeOrders)
	get(public, "/v1/restaurants", read, respond.Handle(s.menus.Restaurants))
	get(public, "/v1/restaurants/:restaurant", read, respond.Handle(s.menus.Restaurant))
	get(public, "/v1/restaurants/:restaurant/menu", read, respond.Handle(s.menus.Menu))
	get(public, "/v1/restaurants/:restaurant/products", read, respond.Handle(s.menus.Products))
	get(public, "/v1/restaurants/:restaurant/products/:id", read, respond.Handle(s.menus.Product))
	get(public, "/v1/restaurants/:restaurant/changes", read, respond.Handle(s.menus.Changes))
	get(public, "/v1/rejection-reasons", read, respond.Handle(s.menus.RejectionReasons))
	public.GET("/v1/events", read, respond.Handle(s.events.Menu)) // no HEAD: the stream does not end
	public.POST("/v1/restaurants/:restaurant/orders/validate",
		respond.VaryByLanguage, read, s.limitAddress(s.validateLimit), respond.Handle(s.orderHandlers.Validate))
	public.POST("/v1/restaurants/:restaurant/orders",
		respond.VaryByLanguage, s.auth.RequireOrdersOrGuest(s.publicLimit), auth.LimitClient(s.placeLimit), respond.Handle(s.orderHandlers.Place))
	get(public, "/v1/orders", s.auth.RequireOrdersOrGuest(s.publicReads), respond.Handle(s.orderHandlers.ByKey))
	public.GET("/v1/orders/events", s.auth.RequireOrdersOrGuest(s.publicReads), respond.Handle(s.events.Order))
	get(public, "/v1/orders/:orderID", placing, respond.Handle(s.orderHandlers.Order))
	for _, operation := range []ordering.Operation{upstream.OpPay, upstream.OpComplete, upstream.OpReject} {
		public.PUT("/v1/orders/:orderID/"+string(operation),
			respond.VaryByLanguage, placing, auth.LimitClient(s.changeLimit), respond.Handle(s.orderHandlers.Change(operation)))
	}
	s.routeCompat(public)
	if err := s.routePage(public); err != nil {
		return err
	}
	s.routeShared(ops)
	s.routeShared(public)
	s.handler, s.ops = public, ops
	if s.cfg.OpsListen == "" {
		err = s.routeOps(public)
	}
	err = errors.Join(err, s.routeOps(ops))
	for _, registered := range append(public.Routes(), ops.Routes()...) {
		s.deps.Metrics.StartRoute(registered.Path, registered.Method)
	}
	return err
}

// routeOps registers the routes that http.ops_listen moves (policy H6).
func (s *Server) routeOps(engine *gin.Engine) error {
	known, ofMenu, said := onlyKnownQuery(queryNames()), s.opsHandlers.OfMenu, s.opsHandlers.Availability
	guard := func(want auth.Scope, others ...auth.Scope) gin.HandlerFunc {
		required := s.auth.RequireOps(want, others...)
		return func(c *gin.Context) {
			if required(c); !c.IsAborted() {
				known(c)
			}
		}
	}
	reads, changes := guard(auth.ScopeOpsRead), guard(auth.ScopeOps)
	get(engine, "/ops/session", respond.Handle(s.auth.WhoAmI))
	engine.POST("/ops/session", s.auth.OwnSite, respond.Handle(s.auth.SignIn))
	engine.DELETE("/ops/session", s.auth.OwnSite, respond.Handle(s.auth.SignOut))
	get(engine, "/v1/ops/summary", reads, withinStore, respond.Handle(s.opsHandlers.Summary))
	get(engine, "/v1/ops/audit", reads, withinStore, respond.Handle(s.auditLog.List))
	get(engine, "/v1/ops/restaurants", reads, withinStore, respond.Handle(s.opsHandlers.Restaurants))
	get(engine, "/v1/ops/restaurants/:restaurant", reads, withinStore, ofMenu(s.opsHandlers.Restaurant))
	engine.POST("/v1/ops/restaurants/:restaurant/sync", guard(auth.ScopeSync), ofMenu(s.opsHandlers.Sync))
	engine.POST("/v1/ops/sync", changes, respond.Handle(s.opsHandlers.SyncAll))
	get(engine, "/v1/ops/sync/:batch", reads, respond.Handle(s.opsHandlers.Batch))
	engine.GET("/v1/ops/events", reads, respond.Handle(s.events.Ops))
	get(engine, "/v1/ops/restaurants/:restaurant/lint", reads, withinStore, ofMenu(s.opsHandlers.Lint))
	get(engine, "/v1/ops/restaurants/:restaurant/versions", reads, withinStore, ofMenu(s.opsHandlers.Versions))
	get(engine, "/v1/ops/restaurants/:restaurant/versions/:version/view", reads, withinStore, ofMenu(s.opsHandlers.VersionView))
	get(engine, "/v1/ops/restaurants/:restaurant/versions/:version/changes", reads, withinStore, ofMenu(s.opsHandlers.VersionChanges))
	get(engine, "/v1/ops/restaurants/:restaurant/quarantined", reads, withinStore, ofMenu(s.opsHandlers.Quarantined))
	get(engine, "/v1/ops/restaurants/:restaurant/quarantined/changes", reads, withinStore, ofMenu(s.opsHandlers.QuarantinedChanges))
	get(engine, "/v1/ops/restaurants/:restaurant/quarantined/lint", reads, withinStore, ofMenu(s.opsHandlers.QuarantinedLint))
	engine.POST("/v1/ops/restaurants/:restaurant/rollback", changes, ofMenu(s.opsHandlers.RollBack))
	engine.DELETE("/v1/ops/restaurants/:restaurant/hold", changes, ofMenu(s.opsHandlers.ReleaseHold))
	engine.POST("/v1/ops/restaurants/:restaurant/pause", changes, withinStore, ofMenu(said.Pause))
	engine.DELETE("/v1/ops/restaurants/:restaurant/pause", changes, withinStore, ofMenu(said.Unpause))
	engine.POST("/v1/ops/restaurants/:restaurant/busy", changes, withinStore, ofMenu(said.Busy))
	engine.DELETE("/v1/ops/restaurants/:restaurant/busy", changes, withinStore, ofMenu(said.EndBusy))
	engine.POST("/v1/ops/restaurants/:restaurant/snooze", changes, withinStore, ofMenu(said.Snooze))
	engine.DELETE("/v1/ops/restaurants/:restaurant/snooze/:id", changes, withinStore, ofMenu(said.Wake))
	get(engine, "/v1/ops/changes", reads, withinStore, respond.Handle(s.opsHandlers.Changes))
	get(engine, "/v1/ops/runs", reads, withinStore, respond.Handle(s.opsHandlers.Runs))
	get(engine, "/v1/ops/runs/:run", guard(auth.ScopeOpsRead, auth.ScopeSync), withinStore, respond.Handle(s.opsHandlers.Run))
	get(engine, "/v1/ops/orders", reads, withinStore, respond.Handle(s.orderHandlers.List))
	get(engine, "/v1/ops/orders/:ref", reads, withinStore, respond.Handle(s.orderHandlers.Details))
	engine.POST("/v1/ops/orders/resolve", changes, respond.Handle(s.orderHandlers.ResolveSeveral))
	engine.POST("/v1/ops/orders/:ref/resolve", changes, respond.Handle(s.orderHandlers.Resolve))
	engine.POST("/v1/ops/journal/accept", changes, respond.Handle(s.orderHandlers.AcceptJournal))
	show := gin.WrapH(s.scrape)
	switch s.cfg.metricsAccess() {
	case MetricsOff:
	case MetricsOps:
		get(engine, "/metrics", s.auth.RequireScope(auth.ScopeOps), show) // sessions are accepted only below /v1/ops
	default:
		get(engine, "/metrics", show)
	}
	return s.routeConsole(engine)
}

// routeShared registers the routes of every listener.
func (s *Server) routeShared(engine *gin.Engine) {
	engine.POST("/connect/token", respond.Handle(s.auth.Token))
	engine.POST("/connect/token/", respond.Handle(s.auth.Token))
	get(engine, web.Path+":file", respond.Handle(s.asset))
	get(engine, "/favicon.ico", s.assetAt("icon.svg"))
	get(engine, "/robots.txt", s.assetAt("robots.txt"))
	get(engine, "/.well-known/oauth-authorization-server", respond.Handle(s.auth.Metadata))
	get(engine, "/livez", livez)
	get(engine, "/readyz", respond.Handle(s.health.readyz))
	s.routeDocument(engine)
}

// storeLimit limits how long a read of the ops routes waits for Redis.
const storeLimit = 5 * time.Second

// withinStore ends the Redis calls of a handler in time for a response.
func withinStore(c *gin.Context) {
	ctx, cancel := context.WithTimeout(c.Request.Context(), storeLimit)
	defer cancel()
	c.Request = c.Request.WithContext(ctx)
	c.Next()
}

// get registers a route for GET and HEAD.
func get(engine *gin.Engine, path string, handlers ...gin.HandlerFunc) {
	engine.GET(path, handlers...)
	engine.HEAD(path, handlers...)
}

// noRoute answers requests that match no route.
func noRoute(*gin.Context) error {
	return &respond.Problem{Code: respond.CodeNotFound, Msg: "this path does not exist; /openapi.json lists the paths"}
}

// noMethod answers OPTIONS, and methods that a path does not support. Gin has listed the supported methods in Allow.
func (s *Server) noMethod(c *gin.Context) error {
	header := c.Writer.Header()
	header.Set("Allow", strings.Join(append(header.Values("Allow"), http.MethodOptions), ", "))
	if c.Request.Method != http.MethodOptions {
		return &respond.Problem{Code: respond.CodeMethodNotAllowed, Msg: "this path supports " + header.Get("Allow")}
	}
	if c.GetHeader("Access-Control-Request-Method") != "" && header.Get("Access-Control-Allow-Origin") != "" { // a preflight
		s.cors.preflight(c)
	}
	respond.Status(c, http.StatusNoContent)
	return nil
}

// limitAddress limits the requests of an address.
func (s *Server) limitAddress(l *ratelimit.Limiter) gin.HandlerFunc {
	return func(c *gin.Context) { ratelimit.Take(c, l, ratelimit.AddressKey(s.auth.ClientIP(c))) }
}

// routeCompat registers the compatible API, each path with and without a trailing slash. Every
// endpoint needs the scope orders (policy H2).
func (s *Server) routeCompat(engine *gin.Engine) {
	orders := s.auth.RequireScope(auth.ScopeOrders)
	place, change := auth.LimitClient(s.placeLimit), auth.LimitClient(s.changeLimit)
	for _, slash := range []string{"", "/"} {
		path := func(rest string) string { return compat.Path + "v1/" + rest + slash }
		get(engine, path("menu/view"), orders, respond.Handle(s.compat.Menu))
		get(engine, path("rejectionReasons"), orders, respond.Handle(s.compat.RejectionReasons))
		engine.POST(path("orders"), orders, place, respond.Handle(s.compat.Place))
		for _, operation := range []ordering.Operation{upstream.OpPay, upstream.OpComplete, upstream.OpReject} {
			engine.PUT(path("orders/:orderID/"+string(operation)), orders, change, respond.Handle(s.compat.Change(operation)))
		}
	}
}

// parameter is a parameter of the API document, or a reference to one.
type parameter struct {
	Ref  string `json:"$ref"`
	Name string
	In   string
}

// queryNames returns the names of the query parameters of each path of the API document, in the spelling of Gin.
func queryNames() map[string][]string {
	var document struct {
		Paths      map[string]map[string]json.RawMessage
		Components struct{ Parameters map[string]parameter }
	}
	_ = json.Unmarshal(openapi.JSON(), &document) // cannot fail: it is embedded, and the tests read it
	names := make(map[string][]string, len(document.Paths))
	for path, operations := range document.Paths {
		path = strings.NewReplacer("{", ":", "}", "").Replace(path)
		names[path] = nil
		for _, text := range operations {
			var operation struct{ Parameters []parameter }
			_ = json.Unmarshal(text, &operation) // what is no operation has no parameters
			for _, one := range operation.Parameters {
				if name, found := strings.CutPrefix(one.Ref, "#/components/parameters/"); found {
					one = document.Components.Parameters[name]
				}
				if one.In == "query" {
					names[path] = append(names[path], one.Name)
				}
			}
		}
	}
	return names
}

// onlyKnownQuery rejects query parameters that an operators' route does not have: a misspelled one, such as
// ?force=true of a sync, would otherwise change nothing and seem to work.
func onlyKnownQuery(names map[string][]string) gin.HandlerFunc {
	return func(c *gin.Context) {
		known := names[c.FullPath()]
		for name := range c.Request.URL.Query() {
			if !slices.Contains(known, name) {
				msg := "is not a query parameter of this route"
				if len(known) > 0 {
					msg += ", which has " + strings.Join(known, ", ")
				}
				respond.Fail(c, respond.InvalidParameter(name, msg))
				return
			}
		}
	}
}
