package httpapi

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"runtime/debug"
	"strings"
	"time"

	"github.com/sirupsen/logrus"

	"larder/httpapi/auth"
	"larder/httpapi/fastpath"
	"larder/httpapi/metrics"
	"larder/httpapi/respond"
	"larder/httpapi/web"
	"larder/internal/jsontext"
)

// newFastPath puts the fast path before the public listener. It answers hot
// reads as the handlers do, by the same functions; whatever is not at hand, or
// is to be refused, is left to them.
func (s *Server) newFastPath(inner net.Listener) *fastpath.Listener {
	return fastpath.New(inner, fastpath.Config{
		Handler:     func() fastpath.Handler { return &fastPathHandler{Server: s} },
		HeadTimeout: readTimeout, IdleTimeout: idleTimeout, WriteTimeout: writeTimeout,
		OnPanic: s.onFastPathPanic,
	})
}

// onFastPathPanic logs a panic of the fast path.
func (s *Server) onFastPathPanic(fault any) {
	s.log.WithFields(logrus.Fields{
		"event": "http.panic", "route": "fast path", "panic": fmt.Sprint(fault), "stack": string(debug.Stack()),
	}).Error("the fast path panicked")
}

// fastPathHandler answers the requests of one connection. It belongs to its goroutine.
type fastPathHandler struct {
	*Server
	out    wireFields
	header []byte // a copy of the Authorization, to be hashed

	// Of the request being answered.
	request *fastpath.Request
	route   string // as Gin has it: its name in metrics and log
	status  int
	hit     bool // the body was in memory
	client  string
	id      []byte
}

// Respond implements fastpath.Handler.
func (l *fastPathHandler) Respond(request *fastpath.Request, answer *fastpath.Response) (ok bool) {
	defer func() {
		if fault := recover(); fault != nil {
			l.onFastPathPanic(fault)
			ok = false // net/http answers 500, or better
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
	snapshot, held := l.replica.Cached(id)
	if !held {
		return false
	}
	found, err := read.resolve(snapshot)
	if err != nil {
		return false
	}
	accepted := acceptedEncodings(request.AcceptEncoding)
	if accepted == 0 {
		return false
	}
	encoding := accepted.First(found.what)
	body, ready := l.replica.Ready(found.snapshot, found.what, encoding)
	if !ready {
		// A menu or a dish is built here, in memory alone: given away, the
		// connection would not come back. A view may have to be asked of Redis.
		if read.kind == readView {
			return false
		}
		if body, err = l.build(context.Background(), found, encoding); err != nil {
			return false
		}
	}
	unchanged := unmodifiedSince(request.IfModifiedSince, found.modified)
	if request.IfNoneMatch != "" {
		unchanged = web.ListsETag(request.IfNoneMatch, body.ETag)
	}
	v := l.versionedResponse(found.snapshot, found.modified, body, unchanged, known)
	l.status, l.client, l.hit = v.status, read.who.Client, ready
	l.writeHeaders(&v, answer, read.kind)
	return true
}

// authorize reports whether the read is allowed, as RequireScope does, and whether its
// client named itself. Only tokens that were read before are known here.
func (l *fastPathHandler) authorize(read *menuRead) (known, ok bool) {
	if l.request.Authorization == "" {
		return false, read.kind != readView && l.authCfg.MenuIsOpen()
	}
	l.header = append(l.header[:0], l.request.Authorization...)
	who, known := l.auth.Cached(l.header)
	read.who = who
	scope := auth.ScopeMenu
	if read.kind == readView {
		scope = auth.ScopeOrders // policy H2
	}
	return known, known && auth.Holds(who.Scopes, scope)
}

// writeHeaders lays the answer out, in the order in which net/http has the fields.
func (l *fastPathHandler) writeHeaders(v *versionedResponse, answer *fastpath.Response, kind readKind) {
	status := "HTTP/1.1 200 OK\r\n"
	if v.status == http.StatusNotModified {
		status = "HTTP/1.1 304 Not Modified\r\n"
	}
	l.out.lines = append(answer.Head, status...)
	if kind != readView { // what cors covers
		l.cors.writeHeaders(&l.out, l.request.Origin)
		v.varies = l.cors.varies()
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
	l.metrics.Request(l.route, method, l.status, took, false)
	l.metrics.Read(metrics.Fast, l.hit)
	if l.shouldLog(false, false, l.status, took) {
		l.logRequest(requestLine{
			id: string(l.id), method: method, route: l.route, path: strings.Clone(l.request.Path),
			status: l.status, bytes: body, took: took, client: l.client,
		})
	}
	l.out.lines, l.id, l.request = nil, nil, nil
}

// readOf takes the hot read out of a request, and returns the route as Gin has
// it; ok is false for any other request.
func readOf(request *fastpath.Request, read *menuRead) (route string, ok bool) {
	const viewPath = compatPath + "v1/menu/view"
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
	route = viewPath
	if strings.HasSuffix(request.Path, "/") {
		route = viewPath + "/"
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

// isRestaurantID reports whether a parameter is the restaurant's id; the usual
// spellings take nothing from the heap.
func isRestaurantID(name string) bool {
	return name == "restaurantId" || name == "restaurantID" || jsontext.FoldName(name) == "restaurantid"
}
