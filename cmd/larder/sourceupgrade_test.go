package main

import (
	"bufio"
	"cmp"
	"crypto/tls"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"larder.local/internal/testkit/clitest"
)

// For many ticks, one of two instances has the new configuration. Each is killed and started again once, in both orders,
// and the menu of each service changes. Neither changes what the other serves, publishes or sends.
func TestTwoInstancesWithDifferentServices(t *testing.T) {
	t.Parallel()
	for _, order := range []string{"old first", "new first"} {
		t.Run(order, func(t *testing.T) {
			t.Parallel()
			m, a, b := newMoving(t), newPOS(t, 10), newPOS(t, 20)
			often := func(service *pos) configured { c := over(service); c.schedule = "@every 1s"; return c }
			sides := []*side{{pos: a, instance: m.start(t, "a", often(a))}, {pos: b}}
			sides[0].version = sides[0].waitFor(t, 10)
			sides[1].instance = m.start(t, "b", often(b))
			sides[1].version = sides[1].waitFor(t, 20)
			checkSides(t, sides, "both run")
			both := slices.Clone(sides)
			if order == "new first" {
				slices.Reverse(both)
			}
			for n, s := range both {
				s.kill(t)
				s.instance = m.startWith(t, s.config)
				clitest.Eventually(t, "a menu", func() bool { _, price, _ := s.serves(t); return price > 0 })
				checkSides(t, sides, fmt.Sprintf("after restart %d", n))
				s.pos.changePrice(s.pos.price + 1)
				s.version = s.waitFor(t, s.pos.price)
				checkSides(t, sides, fmt.Sprintf("after change %d", n))
				last := strings.TrimPrefix(s.pos.URL, "http://") + " shop"
				if source := m.redis.Client().HGet(t.Context(), "larder:{r:r}:current", "source").Val(); source != last {
					t.Errorf("after change %d, current is of %q, want %q", n, source, last)
				}
			}
		})
	}
}

// side is an instance with its service.
type side struct {
	*instance
	pos     *pos
	version int64 // that it serves
	orders  int
}

// checkSides waits for several ticks of each side, and fails if a side serves or sends something of the other.
func checkSides(t *testing.T, sides []*side, when string) {
	t.Helper()
	for _, s := range sides {
		before, _, _ := s.pos.seen()
		clitest.Eventually(t, "several ticks", func() bool { after, _, _ := s.pos.seen(); return len(after) >= len(before)+4 })
	}
	for n, s := range sides {
		var v int64
		var price int
		clitest.Eventually(t, "a menu that is not stale", func() bool { // a busy machine may miss three ticks
			at, cost, stale := s.serves(t)
			v, price = at, cost
			return !stale
		})
		if v != s.version || price != s.pos.price {
			t.Errorf("%s: instance %d serves version %d, price %d; want version %d, price %d", when, n, v, price, s.version, s.pos.price)
		}
		s.place(t, fmt.Sprintf("key-of-%d-%s", n, when)).is(t, "an order "+when, http.StatusCreated, "")
		s.orders++
		_, orders, _ := s.pos.seen()
		if price := fmt.Sprintf(`"price":%d`, s.pos.price); len(orders) != s.orders || !strings.Contains(orders[len(orders)-1], price) {
			t.Errorf("%s: service %d got %d orders, the last is %s; want %d, with %s", when, n, len(orders), orders[len(orders)-1], s.orders, price)
		}
	}
}

// An upgrade with open orders: menus that were stored without a source belong to the first configuration that reads
// them. Nothing stops, and a later configuration gets neither the menus nor the orders.
func TestUpgradeWithOpenOrders(t *testing.T) {
	t.Parallel()
	m, old, next := newMoving(t), newPOS(t, 10), newPOS(t, 20)
	older := os.Getenv("LARDER_OLDER") // the path of an older larder, for a test by hand
	first := m.startProgram(t, cmp.Or(older, built), m.write(t, "", over(old)))
	version := first.waitFor(t, 10)
	first.place(t, "key-1-before-the-upgrade").is(t, "an order", http.StatusCreated, "")
	first.place(t, "key-2-before-the-upgrade").is(t, "an order", http.StatusCreated, "")
	first.kill(t)
	if older == "" {
		m.forgetSources(t)
	}

	old.answerMenus(http.StatusInternalServerError) // nothing may depend on it
	second := m.start(t, "", over(old))
	if v, price, stale := second.serves(t); v != version || price != 10 || stale {
		t.Errorf("after the upgrade: version %d, price %d, stale %v", v, price, stale)
	}
	second.place(t, "key-3-after-the-upgrade").is(t, "an order after the upgrade", http.StatusCreated, "")
	second.pay(t, "1", "").is(t, "a payment after the upgrade", http.StatusOK, "")
	if older != "" { // while instances are replaced one after the other
		rolled := m.startProgram(t, older, second.config)
		rolled.pay(t, "3", "").is(t, "a payment at the older one, of an order of the newer one", http.StatusOK, "")
		rolled.kill(t)
	}
	second.kill(t)

	third := m.start(t, "", over(next))
	third.waitFor(t, 20)
	third.pay(t, "2", "").is(t, "a payment of an older order at another service", http.StatusConflict, "order_of_another_service")
}

// forgetSources makes Redis look as an older larder has left it.
func (m *moving) forgetSources(t *testing.T) {
	t.Helper()
	ctx, client := t.Context(), m.redis.Client()
	for _, key := range client.Keys(ctx, "larder:{r:r}:s:*").Val() {
		_, after, _ := strings.Cut(key, ":s:")
		_, name, _ := strings.Cut(after, ":")
		if name == "current" {
			client.Del(ctx, key)
			continue
		}
		client.Rename(ctx, key, "larder:{r:r}:"+name)
	}
	client.Del(ctx, "larder:{r:r}:f4:sources")
	client.HDel(ctx, "larder:{r:r}:current", "source")
	for _, key := range append(client.Keys(ctx, "larder:{r:r}:v:*:record").Val(), "current") {
		strip := func(text string) string {
			var record map[string]any
			if err := json.Unmarshal([]byte(text), &record); err != nil {
				t.Fatal(err)
			}
			for _, name := range []string{"source", "settings", "readAt"} {
				delete(record, name)
			}
			plain, _ := json.Marshal(record)
			return string(plain)
		}
		if key == "current" {
			client.HSet(ctx, "larder:{r:r}:current", "record", strip(client.HGet(ctx, "larder:{r:r}:current", "record").Val()))
			continue
		}
		client.Set(ctx, key, strip(client.Get(ctx, key).Val()), 0)
	}
}

// The address of the same service changes from http to https, and back. Its orders are paid, its menu is fetched with its
// validator, and nothing is published again.
func TestTheSameServiceOverHTTPS_O16(t *testing.T) {
	t.Parallel()
	m, service := newMoving(t), newPOS(t, 10)
	service.Close()
	service.Server = httptest.NewUnstartedServer(service)
	borrowed := httptest.NewUnstartedServer(nil) // for its certificate
	borrowed.StartTLS()
	t.Cleanup(borrowed.Close)
	service.Listener = newBothSchemes(service.Listener, borrowed.TLS)
	service.Start()
	t.Cleanup(service.Close)
	certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: borrowed.Certificate().Raw})
	m.env = []string{"SSL_CERT_FILE=" + clitest.WriteFile(t, "ca.pem", string(certificate))}

	plain, secure := over(service), over(service)
	secure.connections[0] = strings.Replace(secure.connections[0], "http://", "https://", 1)
	first := m.start(t, "", plain)
	version := first.waitFor(t, 10)
	first.place(t, "key-1-over-http").is(t, "an order", http.StatusCreated, "")
	first.kill(t)

	second := m.start(t, "", secure)
	second.validate(t, "").is(t, "validate with https", http.StatusOK, "")
	second.pay(t, "1", "").is(t, "a payment of the order", http.StatusOK, "")
	second.place(t, "key-1-over-http").is(t, "the repeated key", http.StatusCreated, "")
	second.place(t, "key-2-over-https").is(t, "another order", http.StatusCreated, "")
	must(t, clitest.AsOps(second.base, "sync", "r")...)
	if v, price, stale := second.serves(t); v != version || price != 10 || stale {
		t.Errorf("https: version %d, price %d, stale %v; want version %d", v, price, stale, version)
	}
	second.kill(t)

	third := m.start(t, "", plain)
	third.pay(t, "2", "").is(t, "a payment over http", http.StatusOK, "")
	reads, orders, changes := service.seen()
	if len(orders) != 2 || len(changes) != 2 || reads[len(reads)-1] == "" {
		t.Errorf("the service got the validators %q, %d orders and the changes %q", reads, len(orders), changes)
	}
}

// bothSchemes is a listener for http and https at one address.
type bothSchemes struct {
	net.Listener
	accepted chan net.Conn
	closed   chan struct{}
	once     sync.Once
}

func newBothSchemes(l net.Listener, settings *tls.Config) *bothSchemes {
	b := &bothSchemes{Listener: l, accepted: make(chan net.Conn), closed: make(chan struct{})}
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go b.sort(conn, settings) // a client may open a connection that it does not use
		}
	}()
	return b
}

func (b *bothSchemes) sort(conn net.Conn, settings *tls.Config) {
	peeked := &peekedConn{Conn: conn, reader: bufio.NewReader(conn)}
	var sorted net.Conn = peeked
	if first, err := peeked.reader.Peek(1); err == nil && first[0] == 0x16 { // a handshake of TLS
		sorted = tls.Server(peeked, settings)
	}
	select {
	case b.accepted <- sorted:
	case <-b.closed:
		_ = conn.Close()
	}
}

// Accept implements net.Listener.
func (b *bothSchemes) Accept() (net.Conn, error) {
	select {
	case conn := <-b.accepted:
		return conn, nil
	case <-b.closed:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (b *bothSchemes) Close() error {
	b.once.Do(func() { close(b.closed) })
	return b.Listener.Close()
}

type peekedConn struct {
	net.Conn
	reader *bufio.Reader
}

// Read implements net.Conn.
func (c *peekedConn) Read(p []byte) (int, error) { return c.reader.Read(p) }
