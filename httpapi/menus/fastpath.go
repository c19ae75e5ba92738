package menus

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/sirupsen/logrus"

	"larder.local/httpapi/auth"
	"larder.local/httpapi/fastpath"
	"larder.local/httpapi/metrics"
	"larder.local/httpapi/respond"
	"larder.local/httpapi/web"
	"larder.local/internal/jsontext"
)

// FieldWriter writes header fields.
type FieldWriter interface {
	Text(name, value string)
}

// FastPathDeps are the middleware functions that reads on the fast path need, because they bypass the middleware.
type FastPathDeps struct {
	Auth *auth.Auth
	// WriteCORS writes the CORS headers of a response. CORSVaries means that they depend on the origin.
	WriteCORS  func(out FieldWriter, origin string)
	CORSVaries bool
	// ShouldLog reports whether a read is logged. Log logs it.
	ShouldLog func(status int, took time.Duration) bool
	Log       func(line Line)
	OnPanic   func(fault any)
}

// Line is the log line of a read.
type Line struct {
	ID, Method, Route, Path string
	Status, Bytes           int
	Took                    time.Duration
	Client                  string        // empty without a token
	Code                    respond.Code  // of a failure, else empty
	Causes                  []string      // of a failure
	Trace                   logrus.Fields // trace ids; nil if the request is not traced
}

// FastPath returns a handler for the reads of one connection. It answers with the functions of the handlers.
// Requests that it cannot answer from memory, and requests that fail, are left to the handlers.
func (h *Handlers) FastPath(deps *FastPathDeps) fastpath.Handler {
	return &fastPathHandler{Handlers: h, fast: deps}
}

// fastPathHandler answers the requests of one connection. Only the goroutine of the connection uses it.
type fastPathHandler struct {
	*Handlers
	fast   *FastPathDeps
	out    wireFields
	header []byte // a copy of the Authorization header, for hashing

	// State of the current request.
	request *fastpath.Request
	route   string // as registered in Gin, for metrics and log
	status  int
	hit     bool // the encoded body was cached
	client  string
	id      []byte
}

// Respond implements fastpath.Handler.
func (l *fastPathHandler) Respond(request *fastpath.Request, answer *fastpath.Response) (ok bool) {
	defer func() {
		if fault := recover(); fault != nil {
			l.fast.OnPanic(fault)
			ok = false // net/http answers instead
		}
	}()
	var read menuRead
	l.request = request
	if l.route, ok = readOf(request, &read); !ok {
		return false
	}
	known, ok := l.authorize(&read)
	if !ok {
		return false
	}
	id, err := l.menuOf(&read)
	if err != nil {
		return false
	}
	snapshot, held := l.deps.Replica.Cached(id)
	if !held {
		return false
	}
	found, err := read.resolve(snapshot)
	if err != nil {
		return false
	}
	accepted := AcceptedEncodings(request.AcceptEncoding)
	if accepted == 0 {
		return false
	}
	unchanged := unmodifiedSince(request.IfModifiedSince, found.modified)
	encoding := accepted.First(found.what)
	body, ready := l.deps.Replica.Ready(found.snapshot, found.what, encoding)
	if !ready {
		// A menu or a dish is built here from memory, because a handed-off connection does not
		// return to the fast path. A view may need Redis.
		if read.kind == readView {
			return false
		}
		if body, err = l.build(context.Background(), found, encoding); err != nil {
			return false
		}
	}
	if request.IfNoneMatch != "" {
		unchanged = web.ListsETag(request.IfNoneMatch, body.ETag)
	}
	v := l.versionedResponse(found.snapshot, found.modified, body, unchanged, known)
	l.status, l.client, l.hit = v.status, read.who.Client, ready
	l.writeHeaders(&v, answer, read.kind)
	return true
}

// authorize reports whether the read is allowed, as RequireScope does, and whether it has a
// token. It knows only cached tokens.
func (l *fastPathHandler) authorize(read *menuRead) (known, ok bool) {
	if l.request.Authorization == "" {
		return false, read.kind != readView && l.deps.OpenMenu
	}
	l.header = append(l.header[:0], l.request.Authorization...)
	if who := l.fast.Auth.Cached(l.header); who != nil {
		read.who, known = *who, true
	}
	scope := auth.ScopeMenu
	if read.kind == readView {
		scope = auth.ScopeOrders // policy H2
	}
	return known, known && auth.Holds(read.who.Scopes, scope)
}

// writeHeaders writes the response's headers in the order of net/http.
func (l *fastPathHandler) writeHeaders(v *versionedResponse, answer *fastpath.Response, kind readKind) {
	status := "HTTP/1.1 200 OK\r\n"
	if v.status == http.StatusNotModified {
		status = "HTTP/1.1 304 Not Modified\r\n"
	}
	l.out.lines = append(answer.Head, status...)
	if kind != readView { // the routes with CORS
		l.fast.WriteCORS(&l.out, l.request.Origin)
		v.varies = l.fast.CORSVaries
	}
	v.writeHeaders(&l.out)
	head := append(append(l.out.lines, respond.HeaderRequestID...), ": "...)
	begin := len(head)
	if respond.ValidRequestID(l.request.RequestID) {
		head = append(head, l.request.RequestID...)
	} else {
		head = respond.AppendRequestID(head)
	}
	l.id = head[begin:]
	answer.Head, answer.Body = append(head, "\r\n"...), v.body
}

// Sent implements fastpath.Handler.
func (l *fastPathHandler) Sent(body int, took time.Duration) {
	method := http.MethodGet
	if l.request.Head {
		method = http.MethodHead
	}
	l.deps.Metrics.Request(l.route, method, l.status, took, false)
	l.deps.Metrics.Read(metrics.Fast, l.hit)
	if l.fast.ShouldLog(l.status, took) {
		l.fast.Log(Line{
			ID:     string(l.id),
			Method: method,
			Route:  l.route,
			Path:   strings.Clone(l.request.Path),
			Status: l.status,
			Bytes:  body,
			Took:   took,
			Client: l.client,
		})
	}
	l.out.lines, l.id, l.request = nil, nil, nil
}

// ViewPath is the route of the menu view on the compatible API. It is also registered with a trailing slash.
const ViewPath = "/orders/api/v1/menu/view"

// readOf parses the path and query of a menu read, and returns its route in Gin. ok is false for other requests.
func readOf(request *fastpath.Request, read *menuRead) (route string, ok bool) {
	if rest, found := strings.CutPrefix(request.Path, "/v1/restaurants/"); found {
		restaurant, rest, _ := strings.Cut(rest, "/")
		read.restaurant = restaurant
		if rest == "menu" {
			read.kind = readMenu
			return "/v1/restaurants/:restaurant/menu", request.Query == ""
		}
		id, isProduct := strings.CutPrefix(rest, "products/")
		if !isProduct || id == "" || strings.Contains(id, "/") {
			return "", false
		}
		read.kind, read.product = readProduct, id
		if request.Query == "by=externalId" {
			read.by = "externalId"
		} else if request.Query != "" {
			return "", false
		}
		return "/v1/restaurants/:restaurant/products/:id", true
	}
	route = ViewPath
	if strings.HasSuffix(request.Path, "/") {
		route = ViewPath + "/"
	}
	if request.Path != route {
		return "", false
	}
	read.kind = readView
	if request.Query == "" {
		return route, true
	}
	name, id, _ := strings.Cut(request.Query, "=")
	read.restaurant = id
	return route, id != "" && !strings.Contains(id, "=") && isRestaurantID(name)
}

// isRestaurantID reports whether a parameter is the restaurant's id. The usual spellings do not allocate.
func isRestaurantID(name string) bool {
	return name == "restaurantId" || name == "restaurantID" || jsontext.FoldName(name) == "restaurantid"
}
