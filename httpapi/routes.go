package httpapi

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"larder/httpapi/web"
	"larder/internal/upstream"
	"larder/ordering"
)

// route registers every route. This is the whole list.
func (s *Server) route() error {
	assets, err := web.NewAssets()
	if err != nil {
		return err
	}
	s.assets = assets
	public, err := s.newEngine()
	if err != nil {
		return err
	}
	ops, err := s.newEngine()
	if err != nil {
		return err
	}
	read, orders := s.requireScope(ScopeMenu), s.requireScope(ScopeOrders)
	get(public, "/v1/restaurants", read, handle(s.listRestaurants))
	get(public, "/v1/restaurants/:restaurant/menu", read, handle(s.menu))
	get(public, "/v1/restaurants/:restaurant/products", read, handle(s.listProducts))
	get(public, "/v1/restaurants/:restaurant/products/:id", read, handle(s.product))
	get(public, "/v1/restaurants/:restaurant/changes", read, handle(s.changesSince))
	get(public, "/v1/rejection-reasons", read, handle(s.rejectionReasons))
	public.GET("/v1/events", read, handle(s.events)) // no HEAD: it has no end to tell of
	public.POST("/v1/restaurants/:restaurant/orders/validate", inLanguage, read, s.limitAddress(s.validateLimit), handle(s.validateOrder))
	public.POST("/v1/restaurants/:restaurant/orders",
		inLanguage, s.requireOrdersOrGuest(s.publicLimit), limitClient(s.placeLimit), handle(s.placeOrder))
	get(public, "/v1/orders", s.requireOrdersOrGuest(s.publicReads), handle(s.orderByKey))
	get(public, "/v1/orders/:orderID", orders, handle(s.order))
	for _, operation := range []ordering.Operation{upstream.OpPay, upstream.OpComplete, upstream.OpReject} {
		public.PUT("/v1/orders/:orderID/"+string(operation), inLanguage, orders, limitClient(s.changeLimit), handle(s.changeOrder(operation)))
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
	return errors.Join(err, s.routeOps(ops))
}

// routeOps registers what http.ops_listen moves (policy H6).
func (s *Server) routeOps(engine *gin.Engine) error {
	guard := s.requireOps
	get(engine, "/ops/session", handle(s.whoAmI))
	engine.POST("/ops/session", s.ownSite, handle(s.signIn))
	engine.DELETE("/ops/session", s.ownSite, handle(s.signOut))
	get(engine, "/v1/ops/summary", guard, withinStore, handle(s.summary))
	get(engine, "/v1/ops/audit", guard, withinStore, handle(s.listAudit))
	get(engine, "/v1/ops/restaurants", guard, withinStore, handle(s.listOpsRestaurants))
	get(engine, "/v1/ops/restaurants/:restaurant", guard, withinStore, handle(s.opsRestaurant))
	engine.POST("/v1/ops/restaurants/:restaurant/sync", guard, handle(s.syncRestaurant))
	engine.POST("/v1/ops/sync", guard, handle(s.syncAll))
	get(engine, "/v1/ops/sync/:batch", guard, handle(s.batch))
	engine.GET("/v1/ops/events", guard, handle(s.opsEvents))
	get(engine, "/v1/ops/restaurants/:restaurant/lint", guard, withinStore, handle(s.lint))
	get(engine, "/v1/ops/restaurants/:restaurant/versions", guard, withinStore, handle(s.listVersions))
	get(engine, "/v1/ops/restaurants/:restaurant/versions/:version/view", guard, withinStore, handle(s.versionView))
	get(engine, "/v1/ops/restaurants/:restaurant/versions/:version/changes", guard, withinStore, handle(s.versionChanges))
	engine.POST("/v1/ops/restaurants/:restaurant/rollback", guard, handle(s.rollBack))
	engine.DELETE("/v1/ops/restaurants/:restaurant/hold", guard, handle(s.releaseHold))
	get(engine, "/v1/ops/runs", guard, withinStore, handle(s.listRuns))
	get(engine, "/v1/ops/runs/:run", guard, withinStore, handle(s.run))
	get(engine, "/v1/ops/orders", guard, withinStore, handle(s.listOrders))
	get(engine, "/v1/ops/orders/:ref", guard, withinStore, handle(s.opsOrder))
	engine.POST("/v1/ops/orders/:ref/resolve", guard, handle(s.resolveOrder))
	engine.POST("/v1/ops/journal/accept", guard, handle(s.acceptJournal))
	show := gin.WrapH(promhttp.HandlerFor(s.metrics.registry, promhttp.HandlerOpts{}))
	switch s.cfg.metricsAccess() {
	case MetricsOff:
	case MetricsOps:
		get(engine, "/metrics", s.bearerOps, s.orderCounts.refresh, show) // never by a session: it is not below /v1/ops
	default:
		get(engine, "/metrics", s.orderCounts.refresh, show)
	}
	return s.routeConsole(engine)
}

// routeShared registers what every listener serves.
func (s *Server) routeShared(engine *gin.Engine) {
	engine.POST("/connect/token", handle(s.token))
	engine.POST("/connect/token/", handle(s.token))
	get(engine, web.Path+":file", handle(s.asset))
	get(engine, "/livez", livez)
	get(engine, "/readyz", handle(s.readyz))
	s.routeDocument(engine)
}

// storeLimit bounds how long a page of ops waits for a Redis that hangs.
const storeLimit = 5 * time.Second

// withinStore ends what a handler asks of Redis in time for an answer.
func withinStore(c *gin.Context) {
	ctx, cancel := context.WithTimeout(c.Request.Context(), storeLimit)
	defer cancel()
	c.Request = c.Request.WithContext(ctx)
	c.Next()
}

// get registers a route for GET and for HEAD.
func get(engine *gin.Engine, path string, handlers ...gin.HandlerFunc) {
	engine.GET(path, handlers...)
	engine.HEAD(path, handlers...)
}

// noRoute answers what no route matches.
func noRoute(*gin.Context) error {
	return &problem{code: CodeNotFound, msg: "there is nothing at this path"}
}

// noMethod answers a method that a path does not take, and OPTIONS, which
// every path takes. Gin has put the other methods into Allow.
func (s *Server) noMethod(c *gin.Context) error {
	header := c.Writer.Header()
	header.Set("Allow", strings.Join(append(header.Values("Allow"), http.MethodOptions), ", "))
	if c.Request.Method != http.MethodOptions {
		return &problem{code: CodeMethodNotAllowed, msg: "the path takes " + header.Get("Allow")}
	}
	if c.GetHeader("Access-Control-Request-Method") != "" && header.Get("Access-Control-Allow-Origin") != "" { // a preflight
		s.cors.preflight(c)
	}
	writeStatus(c, http.StatusNoContent)
	return nil
}
