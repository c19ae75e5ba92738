package express

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
)

// changing answers with a large body, in whose place another one of the same
// size comes after so many answers; its seed stands in the head.
type changing struct {
	lasts   int64
	answers atomic.Int64
	now     atomic.Pointer[seeded]
}

type seeded struct {
	seed int64
	body []byte
}

func (c *changing) Answer(_ *Request, answer *Answer) bool {
	now := c.now.Load()
	if n := c.answers.Add(1); n%c.lasts == 0 {
		c.now.Store(&seeded{n, body(shelfLeast, byte(n))})
		runtime.GC() // what nobody sends any more goes, and the new ones take its place
	}
	answer.Head = fmt.Appendf(answer.Head, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\nX-Seed: %d\r\n", len(now.body), now.seed)
	answer.Body = now.body
	return true
}

func (*changing) Sent(int, time.Duration) {}

// reader asks so often on one connection, and takes each body as it likes.
func (c *changing) reader(ctx context.Context, address string, seed uint64, times int) error {
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, "tcp", address)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	if err := conn.SetDeadline(time.Now().Add(2 * time.Minute)); err != nil {
		return err
	}
	dice := rand.New(rand.NewPCG(1, seed))
	in := bufio.NewReaderSize(conn, 1<<(4+dice.IntN(14)))
	if _, err := io.WriteString(conn, strings.Repeat("GET / HTTP/1.1\r\nHost: l\r\n\r\n", times)); err != nil {
		return err
	}
	for range times {
		answer, err := http.ReadResponse(in, nil)
		if err != nil {
			return err
		}
		got, err := io.ReadAll(answer.Body)
		_ = answer.Body.Close()
		if err != nil {
			return err
		}
		n, err := strconv.Atoi(answer.Header.Get("X-Seed"))
		if err != nil {
			return err
		}
		if !bytes.Equal(got, body(shelfLeast, byte(n))) {
			return fmt.Errorf("%d bytes of another body than that of %d", len(got), n)
		}
	}
	return nil
}

// Large bodies that are replaced while they are sent from their files arrive
// whole, each as its head tells, however late; and in the end no file is left of
// those that are no more.
func TestLargeBodiesThatChangeArriveWhole(t *testing.T) {
	t.Parallel()
	const readers, times = 8, 100
	c := &changing{lasts: 3 * shelfAsked}
	c.now.Store(&seeded{0, body(shelfLeast, 0)})
	var config net.ListenConfig
	inner, err := config.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := New(inner, Config{
		Answerer:    func() Answerer { return c },
		HeadTimeout: time.Minute, IdleTimeout: time.Minute, WriteTimeout: time.Minute,
		Panicked: func(fault any) { t.Errorf("panicked: %v", fault) },
	})
	var lane, group errgroup.Group
	lane.Go(func() error { return l.Run(context.WithoutCancel(t.Context())) })
	for n := range readers {
		group.Go(func() error { return c.reader(t.Context(), l.Addr().String(), uint64(n), times) })
	}
	if err := group.Wait(); err != nil {
		t.Error(err)
	}
	held := func() (files, turns int) {
		l.shelf.mu.Lock()
		defer l.shelf.mu.Unlock()
		return len(l.shelf.files), int(l.shelf.turn)
	}
	if _, turns := held(); turns < readers*times/4 {
		t.Errorf("%d of %d answers were sent from a file: this proves little", turns, readers*times)
	}
	c.now.Store(nil)
	for begun := time.Now(); ; runtime.GC() {
		files, _ := held()
		if files == 0 {
			break
		}
		if time.Since(begun) > 20*time.Second {
			t.Fatalf("%d files of bodies that are no more", files)
		}
	}
	_ = l.Close()
	if err := lane.Wait(); err != nil {
		t.Error(err)
	}
}
