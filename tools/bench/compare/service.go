package compare

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// fault is what the ordering service does with the calls of one step that place or
// change an order. The zero value answers them as documented.
type fault struct {
	Name string
	// Response is the whole response, with its status line. "%d" in it is the number of
	// the order. Empty: the documented success.
	Response string
	// Cut closes the connection after the response, or without one.
	Cut bool
	// Unread closes the connection before the request is read.
	Unread bool
	// Wait is a pause before the response.
	Wait time.Duration
	// Always is true if all calls of the step fail, otherwise the first.
	Always bool
}

// service is an ordering service for one build. Its methods may be called from several
// goroutines.
type service struct {
	listener net.Listener
	serving  sync.WaitGroup

	mu     sync.Mutex
	open   map[net.Conn]bool
	menus  map[string][]byte
	fault  fault
	failed int      // calls of this step that met the fault
	orders int      // the number of the last order
	calls  []string // requests of this step that place or change an order
	reads  []string // other requests since the last step
}

func startService(ctx context.Context) (*service, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("compare: start the ordering service: %w", err)
	}
	s := &service{listener: listener, open: map[net.Conn]bool{}, menus: map[string][]byte{}}
	s.serving.Go(s.accept)
	return s, nil
}

func (s *service) url() string { return "http://" + s.listener.Addr().String() }

func (s *service) close() {
	_ = s.listener.Close()
	s.mu.Lock()
	for conn := range s.open {
		_ = conn.Close()
	}
	s.mu.Unlock()
	s.serving.Wait()
}

func (s *service) accept() {
	for {
		conn, err := s.listener.Accept()
		if err != nil {
			return // closed
		}
		s.mu.Lock()
		s.open[conn] = true
		s.mu.Unlock()
		s.serving.Go(func() {
			s.serve(conn)
			_ = conn.Close()
			s.mu.Lock()
			delete(s.open, conn)
			s.mu.Unlock()
		})
	}
}

// serve answers the requests of a connection until it ends.
func (s *service) serve(conn net.Conn) {
	var raw bytes.Buffer
	reader := bufio.NewReader(io.TeeReader(conn, &raw))
	for {
		if _, err := reader.Peek(1); err != nil {
			return
		}
		if s.unread() {
			return
		}
		request, err := http.ReadRequest(reader)
		if err != nil {
			return
		}
		if _, err := io.Copy(io.Discard, request.Body); err != nil {
			return
		}
		response, wait, cut := s.answer(request, raw.String())
		raw.Reset() // larder sends one request at a time
		if wait > 0 {
			time.Sleep(wait)
		}
		if _, err := io.WriteString(conn, response); err != nil || cut {
			return
		}
	}
}

// unread reports whether the connection ends before its request is read.
func (s *service) unread() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.fault.Unread || s.failed > 0 && !s.fault.Always {
		return false
	}
	s.failed++
	return true
}

// answer returns the response to a request, the pause before it, and whether the
// connection ends after it.
func (s *service) answer(request *http.Request, raw string) (response string, wait time.Duration, cut bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	const api = "/orders/api/v1"
	path := request.URL.Path
	switch path {
	case "/connect/token":
		return ok(`{"access_token":"token-of-the-service","token_type":"Bearer","expires_in":86400}`), 0, false
	case api + "/menu/view":
		s.reads = append(s.reads, raw)
		body, found := s.menus[request.URL.Query().Get("restaurantId")]
		if !found {
			return respond("404 Not Found", `{"code":"not_found","msg":"no menu","requestId":"r","errors":null}`), 0, false
		}
		return ok(string(body)), 0, false
	case api + "/rejectionReasons":
		return ok(`{"result":[{"ID":"late","reason":"Too late","type":"simple","isPossibleDelete":false},{"ID":"other","reason":"Other","type":"text","isPossibleDelete":true}]}`), 0, false
	}
	s.calls = append(s.calls, raw)
	if create := path == api+"/orders"; create {
		s.orders++
		response = respond("201 Created", fmt.Sprintf(`{"result":{"orderID":"%d"}}`, s.orders))
	} else {
		response = ok(`{"result":{}}`)
	}
	if s.fault.Name == "" || s.fault.Unread || s.failed > 0 && !s.fault.Always {
		return response, 0, false
	}
	s.failed++
	response = strings.ReplaceAll(s.fault.Response, "%d", strconv.Itoa(s.orders))
	return response, s.fault.Wait, s.fault.Cut
}

func ok(body string) string { return respond("200 OK", body) }

func respond(status, body string) string {
	return fmt.Sprintf("HTTP/1.1 %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", status, len(body), body)
}

// begin sets the fault of the next step.
func (s *service) begin(f fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fault, s.failed, s.calls = f, 0, nil
}

// sent returns the requests of this step that place or change an order.
func (s *service) sent() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.calls)
}

// setMenu replaces the menu of a restaurant.
func (s *service) setMenu(restaurant string, body []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.menus[restaurant] = body
}

// fetched returns the requests for menus since the last call.
func (s *service) fetched() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	found := s.reads
	s.reads = nil
	return found
}

var errNoCalls = errors.New("compare: the plan sent no call to the ordering service, so it compares nothing")
