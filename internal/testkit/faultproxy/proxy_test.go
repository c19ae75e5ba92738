package faultproxy_test

import (
	"bufio"
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"time"

	"larder.local/internal/testkit/faultproxy"
	"larder.local/internal/testkit/leaktest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// echo starts a server that returns every line.
func echo(t *testing.T) string {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer func() { _ = conn.Close() }()
				_, _ = io.Copy(conn, conn)
			}()
		}
	}()
	return listener.Addr().String()
}

// line is one client.
type line struct {
	net.Conn
	lines *bufio.Reader
}

func dial(t *testing.T, p *faultproxy.Proxy) *line {
	t.Helper()
	conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", p.Addr())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return &line{conn, bufio.NewReader(conn)}
}

// say sends a word; hear waits until it comes back.
func (l *line) say(word string) error {
	_, err := io.WriteString(l, word+"\n")
	return err
}

func (l *line) hear(within time.Duration) (string, error) {
	if err := l.SetReadDeadline(time.Now().Add(within)); err != nil {
		return "", err
	}
	word, err := l.lines.ReadString('\n')
	return word, err
}

const patience = time.Minute

func (l *line) echoes(t *testing.T, word string) {
	t.Helper()
	if err := l.say(word); err != nil {
		t.Fatal(err)
	}
	if got, err := l.hear(patience); err != nil || got != word+"\n" {
		t.Fatalf("got %q, %v; want %q", got, err, word)
	}
}

func TestHangKeepsAndPassLetsGo(t *testing.T) {
	t.Parallel()
	p := faultproxy.Start(t, echo(t))
	l := dial(t, p)
	l.echoes(t, "before")
	p.Hang()
	if err := l.say("kept"); err != nil {
		t.Fatal(err)
	}
	if got, err := l.hear(50 * time.Millisecond); !errors.Is(err, os.ErrDeadlineExceeded) { //testwaits:allow the test expects no response
		t.Errorf("while it hangs: %q, %v", got, err)
	}
	p.Pass()
	if got, err := l.hear(patience); err != nil || got != "kept\n" {
		t.Errorf("after it: %q, %v; want what was kept", got, err)
	}
}

func TestCutEndsWhatThereIsAndRefuseWhatComes(t *testing.T) {
	t.Parallel()
	p := faultproxy.Start(t, echo(t))
	old := dial(t, p)
	old.echoes(t, "before")
	p.Cut()
	if got, err := old.hear(patience); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("a cut connection: %q, %v; want its end", got, err)
	}
	fresh := dial(t, p)
	fresh.echoes(t, "after a cut")
	p.Refuse()
	if got, err := fresh.hear(patience); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("while it refuses: %q, %v; want its end", got, err)
	}
	conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", p.Addr()) // the end may come before dialling is done
	if err == nil {
		late := &line{conn, bufio.NewReader(conn)}
		if got, err := late.hear(patience); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("one that comes while it refuses: %q, %v; want its end", got, err)
		}
		_ = conn.Close()
	}
	if got := p.Accepted(); got != 3 {
		t.Errorf("%d connections were counted, want 3", got)
	}
	p.Pass()
	dial(t, p).echoes(t, "again")
}

func TestDelayKeepsEachPieceWaiting(t *testing.T) {
	t.Parallel()
	p := faultproxy.Start(t, echo(t))
	l := dial(t, p)
	p.Delay(30 * time.Millisecond)
	began := time.Now()
	l.echoes(t, "slow")
	if took := time.Since(began); took < 60*time.Millisecond {
		t.Errorf("there and back took %v, want at least 60ms", took)
	}
}
