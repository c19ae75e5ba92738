package sandbox

import (
	"crypto/rand"
	_ "embed" // welcome.txt
	"errors"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/sirupsen/logrus"
)

const (
	maxBody     = 4 << 20   // of a call
	maxMenuBody = 128 << 20 // of a menu
)

// call is one request with its body read.
type call struct {
	r         *http.Request
	path      string // without trailing slash
	id        string // the value of {id}
	body      []byte
	requestID string
	at        time.Time
}

// route is one operation. Its name, the key of its counters, is method and pattern.
type route struct {
	method, pattern string
	serve           func(*call) answer
	stream          func(http.ResponseWriter, *call) // instead of serve
}

// routes returns all routes.
func (s *Sandbox) routes() []route {
	return []route{
		{method: http.MethodPost, pattern: "/connect/token", serve: s.issueToken},
		{method: http.MethodGet, pattern: "/orders/api/v1/menu/view", serve: s.menuView},
		{method: http.MethodPost, pattern: "/orders/api/v1/orders", serve: s.createOrder},
		{method: http.MethodPut, pattern: "/orders/api/v1/orders/{id}/pay", serve: s.payOrder},
		{method: http.MethodPut, pattern: "/orders/api/v1/orders/{id}/complete", serve: s.completeOrder},
		{method: http.MethodPut, pattern: "/orders/api/v1/orders/{id}/reject", serve: s.rejectOrder},
		{method: http.MethodGet, pattern: "/orders/api/v1/rejectionReasons", serve: s.rejectionReasons},

		{method: http.MethodPut, pattern: "/sandbox/menus/{id}", serve: s.menus.putMenu},
		{method: http.MethodGet, pattern: "/sandbox/menus/{id}", serve: s.menus.showMenu},
		{method: http.MethodGet, pattern: "/sandbox/menus", serve: s.menus.listMenus},
		{method: http.MethodPatch, pattern: "/sandbox/stop-list/{id}", serve: s.menus.patchStops},
		{method: http.MethodGet, pattern: "/sandbox/orders", serve: s.listOrders},
		{method: http.MethodGet, pattern: "/sandbox/orders/{id}", serve: s.showOrder},
		{method: http.MethodPost, pattern: "/sandbox/orders/{id}/advance", serve: s.advanceOrder},
		{method: http.MethodPut, pattern: "/sandbox/settings", serve: s.putSettings},
		{method: http.MethodGet, pattern: "/sandbox/settings", serve: s.settings.show},
		{method: http.MethodPut, pattern: "/sandbox/faults", serve: s.faults.put},
		{method: http.MethodPost, pattern: "/sandbox/faults", serve: s.faults.post},
		{method: http.MethodGet, pattern: "/sandbox/faults", serve: s.faults.show},
		{method: http.MethodGet, pattern: "/sandbox/counters", serve: s.counters.show},
		{method: http.MethodDelete, pattern: "/sandbox/counters", serve: s.counters.clear},
		{method: http.MethodGet, pattern: "/sandbox/events", stream: s.streamEvents},
		{method: http.MethodGet, pattern: "/sandbox/board/{id}", serve: boardFile},
		{method: http.MethodGet, pattern: "/sandbox/images/{id}", serve: image},
		{method: http.MethodGet, pattern: iconPath, serve: icon},
		{method: http.MethodGet, pattern: "", serve: welcome},
	}
}

func (s *Sandbox) serve(table []route, w http.ResponseWriter, r *http.Request) {
	c := &call{r: r, path: strings.TrimRight(r.URL.EscapedPath(), "/"), requestID: requestID(r), at: s.clock()}
	w.Header().Set("X-Request-Id", c.requestID)
	rt, id, allowed := find(table, r.Method, c.path)
	c.id = id
	name := "other"
	if rt != nil {
		name = rt.method + " " + rt.pattern
	}
	own := c.path == "" || c.path == iconPath || c.path == "/sandbox" || strings.HasPrefix(c.path, "/sandbox/")
	run := func() answer { return s.execute(rt, c, allowed) }

	limit := int64(maxBody)
	if own {
		limit = maxMenuBody
	}
	var err error
	if c.body, err = io.ReadAll(http.MaxBytesReader(w, r.Body, limit)); err != nil {
		run = func() answer { return c.unreadable(err) }
	}
	if own {
		if err := s.sameSite(r); err != nil {
			run = func() answer { return c.refuse(http.StatusForbidden, "cross_site", err.Error()) }
		}
		s.serveOwn(w, rt, c, run)
		return
	}
	s.counters.count(s.counters.calls, name)
	s.changes.notify()
	counted := func() answer {
		a := run()
		s.changes.notify()
		if a.ok() && rt != nil {
			s.counters.count(s.counters.done, name)
		}
		s.log.WithFields(logrus.Fields{
			"event":      "sandbox.call",
			"call":       name,
			"status":     a.status,
			"request_id": c.requestID,
		}).Debug("call")
		return a
	}
	if f := s.faults.next(c); f != nil {
		s.inject(w, c, f, counted)
		return
	}
	counted().write(w)
}

// sameSite refuses changes by a browser on behalf of another site. A form of
// another site can send JSON as text/plain; programs do not need that.
func (s *Sandbox) sameSite(r *http.Request) error {
	if media, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); r.Method == http.MethodPost && media == "text/plain" {
		return errors.New("send the body as application/json: a page of another site could send text/plain")
	}
	if err := s.site.Check(r); err != nil {
		return errors.New("the request comes from a page of another site")
	}
	if reboundPage(r) {
		return errors.New("the page's host name is not this machine's; open it at localhost")
	}
	return nil
}

// reboundPage reports whether a page's host name was made to resolve to this machine (DNS rebinding). Browsers treat
// such a page as the sandbox's own. If the address is not a loopback one, every host name is allowed.
func reboundPage(r *http.Request) bool {
	local, _ := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
	if local == nil || !local.IP.IsLoopback() || r.Header.Get("Origin") == "" {
		return false
	}
	name := (&url.URL{Host: r.Host}).Hostname()
	return name != "localhost" && !strings.HasSuffix(name, ".localhost") && net.ParseIP(name) == nil
}

// serveOwn serves the sandbox's own routes, outside the interface.
func (s *Sandbox) serveOwn(w http.ResponseWriter, rt *route, c *call, run func() answer) {
	if rt != nil && rt.stream != nil && c.r.Method == http.MethodGet {
		rt.stream(w, c)
		return
	}
	a := run()
	if c.r.Method != http.MethodGet && c.r.Method != http.MethodHead {
		s.changes.notify()
	}
	a.write(w)
}

// execute runs one call.
func (s *Sandbox) execute(rt *route, c *call, allowed []string) answer {
	if rt == nil && len(allowed) > 0 {
		return c.refuse(http.StatusMethodNotAllowed, "method_not_allowed", c.r.Method+" is not served here").
			with("Allow", strings.Join(allowed, ", "))
	}
	if rt == nil {
		return c.refuse(http.StatusNotFound, "not_found", "nothing is served at "+c.path)
	}
	ordering := strings.HasPrefix(rt.pattern, "/orders/") // needs a token, and a change capacity
	if ordering {
		if err := s.tokens.authorize(c.r, s.clock); err != nil {
			return c.refuse(http.StatusUnauthorized, "unauthorized", err.Error()).
				with("WWW-Authenticate", `Bearer error="invalid_token"`)
		}
	}
	if rt.serve == nil { // HEAD of a stream
		return answer{status: http.StatusOK, header: http.Header{"Content-Type": {"text/event-stream; charset=utf-8"}}}
	}
	if ordering && rt.method != http.MethodGet {
		return s.withCapacity(c, rt.serve)
	}
	return rt.serve(c)
}

func (c *call) unreadable(err error) answer {
	if large := (*http.MaxBytesError)(nil); errors.As(err, &large) {
		return c.refuse(http.StatusRequestEntityTooLarge, "body_too_large", "the body is too large")
	}
	return c.refuse(http.StatusBadRequest, "body_unreadable", "the body could not be read")
}

// find returns the route of a path without trailing slash, or the allowed methods of the path.
func find(table []route, method, path string) (rt *route, id string, allowed []string) {
	for i := range table {
		got, ok := table[i].match(path)
		if !ok {
			continue
		}
		if table[i].method == method || (method == http.MethodHead && table[i].method == http.MethodGet) {
			return &table[i], got, nil
		}
		allowed = append(allowed, table[i].method)
	}
	slices.Sort(allowed)
	return nil, "", slices.Compact(allowed)
}

func (rt route) match(path string) (id string, ok bool) {
	before, after, variable := strings.Cut(rt.pattern, "{id}")
	if !variable {
		return "", path == rt.pattern
	}
	rest, starts := strings.CutPrefix(path, before)
	rest, ends := strings.CutSuffix(rest, after)
	id, err := url.PathUnescape(rest)
	return id, starts && ends && rest != "" && !strings.Contains(rest, "/") && err == nil
}

// requestID returns the client's request id if it is valid, or a new one.
func requestID(r *http.Request) string {
	const plain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._:-"
	id := r.Header.Get("X-Request-Id")
	if id == "" || len(id) > 64 || strings.Trim(id, plain) != "" {
		return rand.Text()
	}
	return id
}

//go:embed welcome.txt
var welcomeText []byte

// welcome returns the board to browsers and a short text to other clients.
func welcome(c *call) answer {
	if strings.Contains(c.r.Header.Get("Accept"), "text/html") {
		return page()
	}
	return answer{
		status: http.StatusOK,
		header: http.Header{"Content-Type": {"text/plain; charset=utf-8"}, "Vary": {"Accept"}},
		body:   welcomeText,
	}
}
