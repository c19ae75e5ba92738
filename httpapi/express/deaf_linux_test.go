package express

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"strconv"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
)

// whole answers every request with one body, and tells how much of it was sent.
type whole struct {
	body []byte
	sent chan int
}

func (w *whole) Answer(_ *Request, answer *Answer) bool {
	answer.Head = append(answer.Head, "HTTP/1.1 200 OK\r\nContent-Length: "+strconv.Itoa(len(w.body))+"\r\n"...)
	answer.Body = w.body
	return true
}

func (w *whole) Sent(body int, _ time.Duration) { w.sent <- body }

// asker is a connection that asks for the body.
type asker struct {
	net.Conn
	in *bufio.Reader
}

func newAsker(t *testing.T, l *Listener) asker {
	t.Helper()
	var dialer net.Dialer
	conn, err := dialer.DialContext(t.Context(), "tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	a := asker{conn, bufio.NewReader(conn)}
	a.ask(t)
	return a
}

func (a asker) ask(t *testing.T) {
	t.Helper()
	if _, err := io.WriteString(a, "GET / HTTP/1.1\r\nHost: l\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
}

func (a asker) read(t *testing.T) []byte {
	t.Helper()
	answer, err := http.ReadResponse(a.in, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	got, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// Who takes a body from its file and then reads no more is cut when the time for
// it is over; the file is given back, is there for the others, and goes with the
// lane.
func TestAFileThatNobodyReadsIsGivenBack(t *testing.T) {
	t.Parallel()
	const patience = 2 * time.Second
	w := &whole{body: body(12<<20, 1), sent: make(chan int, 2*shelfAsked)} // more than the buffers on the way take
	var config net.ListenConfig
	inner, err := config.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := New(inner, Config{
		Answerer:    func() Answerer { return w },
		HeadTimeout: time.Minute, IdleTimeout: time.Minute, WriteTimeout: patience,
		Panicked: func(fault any) { t.Errorf("panicked: %v", fault) },
	})
	var group errgroup.Group
	group.Go(func() error { return l.Run(context.WithoutCancel(t.Context())) })
	defer func() {
		_ = l.Close()
		if err := group.Wait(); err != nil || len(l.shelf.files) != 0 || l.shelf.bytes != 0 {
			t.Errorf("%v; %d files of %d bytes outlive the lane", err, len(l.shelf.files), l.shelf.bytes)
		}
	}()
	users := func() int {
		l.shelf.mu.Lock()
		defer l.shelf.mu.Unlock()
		n := 0
		for _, file := range l.shelf.files {
			n += file.users
		}
		return n
	}
	reader := newAsker(t, l)
	for range shelfAsked - 1 {
		reader.read(t)
		<-w.sent
		reader.ask(t)
	}
	reader.read(t)
	<-w.sent
	if len(l.shelf.files) != 1 { // what is sent from now on comes from it
		t.Fatalf("%d files", len(l.shelf.files))
	}
	begun := time.Now()
	deaf := newAsker(t, l)
	if _, err := deaf.in.Peek(1); err != nil || users() != 1 {
		t.Fatalf("%d take the file, %v", users(), err)
	}
	sent := <-w.sent
	if took := time.Since(begun); took < patience*9/10 || took > 10*patience {
		t.Errorf("cut after %v, want about %v", took, patience)
	}
	got, err := io.ReadAll(deaf.in)
	_, got, _ = bytes.Cut(got, []byte(emptyLine))
	if len(got) >= len(w.body) || len(got) > sent || !bytes.Equal(got, w.body[:len(got)]) {
		t.Errorf("%d bytes of %d were sent and %d came, or others: %v", sent, len(w.body), len(got), err)
	}
	if n := users(); n != 0 {
		t.Errorf("%d still take the file", n)
	}
	reader.ask(t)
	if got := reader.read(t); !bytes.Equal(got, w.body) || len(l.shelf.files) != 1 {
		t.Errorf("then %d bytes of %d, or others, with %d files", len(got), len(w.body), len(l.shelf.files))
	}
	<-w.sent
}
