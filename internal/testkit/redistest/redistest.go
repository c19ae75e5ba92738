// Package redistest gives a test its own real Redis: one redis-server, one with
// TLS, one with replicas and Sentinels, or a cluster. All of it listens on free
// loopback ports, keeps its data in the test's temporary folder, and is gone
// when the test ends.
//
// But for Shared no server is shared, so tests may run in parallel, flush,
// reconfigure and kill as they like. Only tests import this package. It never
// skips silently: where no server is installed the test fails and names the
// command that installs one, unless -short was asked for.
package redistest

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

const (
	// readyWithin bounds one start; a cold start takes some 10 ms.
	readyWithin = 15 * time.Second
	// pollEvery is how often a starting server is asked whether it is ready.
	pollEvery = 5 * time.Millisecond
	// startAttempts bounds the tries when another process takes the port.
	startAttempts = 8
)

// Option changes how the server is started.
type Option func(*Server)

// AppendOnly keeps the data in an append-only file, so that Restart finds
// again everything that was acknowledged. Without it a restarted server is
// empty.
func AppendOnly() Option {
	return Config("appendonly", "yes")
}

// Config sets one directive of redis.conf, for instance
// Config("maxmemory-policy", "allkeys-lru").
func Config(directive string, values ...string) Option {
	return func(s *Server) {
		s.directives = append(s.directives, "--"+directive)
		s.directives = append(s.directives, values...)
	}
}

// Password makes the server want a password from everybody, its replicas too.
func Password(password string) Option {
	return func(s *Server) {
		s.password = password
		Config("requirepass", password)(s)
		Config("masterauth", password)(s)
	}
}

// Patient lets a group wait for half a minute before it replaces a master: for
// tests that lose none, on a machine that may be too busy to answer in a second.
func Patient() Option { return FailoverAfter(30 * time.Second) }

// FailoverAfter is how long a master must not have answered before a replica
// takes over.
func FailoverAfter(d time.Duration) Option {
	return func(s *Server) {
		s.downAfter = d
		Config("cluster-node-timeout", strconv.FormatInt(d.Milliseconds(), 10))(s)
	}
}

// Behind lets clients and other servers reach the server at the address that
// front returns for the server's own: that of a proxy before it. The test's own
// clients (Client) still connect directly.
func Behind(front func(addr string) string) Option {
	return func(s *Server) { s.front = front }
}

// Server is one running redis-server of one test. Its methods may be called
// from several goroutines; those that can fail the test (Start, Restart) only
// from the test's own.
type Server struct {
	tb         testing.TB
	binary     string
	dir        string
	port       int
	directives []string
	password   string
	downAfter  time.Duration // FailoverAfter; 0: as the group has it
	tls        *certificates // nil without TLS
	sentinel   string        // of a Sentinel alone: what it watches, as redis.conf says it
	bus        bool          // of a cluster's node: the port 10,000 above is its too
	keepConfig bool          // Sentinels change the configuration file, which a restart must read
	front      func(addr string) string
	announced  string // what front returned

	mu      sync.Mutex
	process *process // nil while stopped
}

// Start runs a redis-server (or valkey-server) until the test ends and returns
// when it answers. It keeps nothing on disk unless AppendOnly is given.
func Start(tb testing.TB, options ...Option) *Server {
	tb.Helper()
	s := &Server{tb: tb, binary: Binary(tb), dir: tb.TempDir()}
	for _, option := range options {
		option(s)
	}
	return s.start()
}

func (s *Server) start() *Server {
	s.tb.Helper()
	s.tb.Cleanup(s.Stop)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.startLocked(true)
	return s
}

// Addr is the server's address, host:port with the host as an IP literal. It
// stays the same over Stop and Restart.
func (s *Server) Addr() string {
	return fmt.Sprintf("%s:%d", loopback, s.port)
}

// Announced is the address at which others reach the server: Addr, or that of
// the proxy before it (Behind).
func (s *Server) Announced() string {
	if s.announced != "" {
		return s.announced
	}
	return s.Addr()
}

// Dir is the folder with the server's data.
func (s *Server) Dir() string { return s.dir }

// URL is the server's address as configuration takes it: redis://host:port/0,
// or rediss:// with TLS; the password included.
func (s *Server) URL() string { return s.scheme("") + s.Announced() + "/0" }

// scheme is what an address begins with.
func (s *Server) scheme(form string) string {
	scheme := "redis"
	if s.tls != nil {
		scheme = "rediss"
	}
	if s.password == "" {
		return scheme + form + "://"
	}
	return scheme + form + "://:" + url.QueryEscape(s.password) + "@"
}

// Client is a new client of the server with go-redis's own defaults; it is
// closed when the test ends.
func (s *Server) Client() *redis.Client {
	client := redis.NewClient(s.options())
	s.tb.Cleanup(func() {
		// A test may have closed it already, to see what happens then.
		_ = client.Close()
	})
	return client
}

func (s *Server) options() *redis.Options {
	options := &redis.Options{Addr: s.Addr(), Password: s.password}
	if s.tls != nil {
		options.TLSConfig = s.tls.trusting()
	}
	return options
}

// Stop kills the server as a power cut or the kernel would (SIGKILL), with no
// time to save or to say goodbye to its clients, and returns when the process
// is gone. Stopping a stopped server does nothing.
func (s *Server) Stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stopLocked()
}

// Freeze stops the server's process where it stands (SIGSTOP): its connections
// stay open and nothing answers. Restart and Stop work on a frozen server too.
func (s *Server) Freeze() { s.signal(syscall.SIGSTOP) }

// Thaw lets a frozen server go on.
func (s *Server) Thaw() { s.signal(syscall.SIGCONT) }

func (s *Server) signal(signal os.Signal) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.process != nil {
		_ = s.process.cmd.Process.Signal(signal) // the only error is that it is gone
	}
}

// Restart starts the server again on the same port and the same folder, and
// returns when it answers. A server that still runs is killed first.
func (s *Server) Restart() {
	s.tb.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stopLocked()
	s.startLocked(false)
}

func (s *Server) stopLocked() {
	if s.process != nil {
		s.process.kill()
		s.process = nil
	}
}

// startLocked starts the server, again and again while another process holds
// its port; newPort says whether another port may be tried.
func (s *Server) startLocked(newPort bool) {
	s.tb.Helper()
	// The test's own context ends before its cleanups run; they may want Redis.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(s.tb.Context()), readyWithin)
	defer cancel()
	for range startAttempts {
		if newPort {
			s.port = freePort(ctx, s.tb, s.bus)
			if s.front != nil {
				s.announced = s.front(s.Addr())
			}
		}
		p, err := startProcess(ctx, s.binary, s.arguments(), filepath.Join(s.dir, "redis.log"))
		if err != nil {
			s.tb.Fatalf("redistest: start %s: %v", s.binary, err)
		}
		err = p.waitReady(ctx, s.options())
		if err == nil {
			s.process = p
			return
		}
		p.kill()
		if log := p.log(); !strings.Contains(log, "already in use") {
			s.tb.Fatalf("redistest: %s on %s: %v\n%s", s.binary, s.Addr(), err, log)
		}
	}
	s.tb.Fatalf("redistest: no free port for %s in %d attempts, the last was %d", s.binary, startAttempts, s.port)
}

func (s *Server) arguments() []string {
	if s.sentinel != "" {
		return []string{s.writeSentinel(), "--sentinel"}
	}
	port := strconv.Itoa(s.port)
	arguments := []string{
		"--bind", loopback,
		"--dir", s.dir,
		"--save", "",
		"--daemonize", "no",
	}
	if s.tls != nil {
		arguments = append(arguments, "--port", "0", "--tls-port", port)
		arguments = append(arguments, s.tls.directives()...)
	} else {
		arguments = append(arguments, "--port", port)
	}
	if s.announced != "" {
		arguments = append(arguments, s.announcement()...)
	}
	arguments = append(arguments, s.directives...)
	if s.keepConfig {
		return []string{s.writeConfig(arguments)}
	}
	return arguments
}

// writeConfig writes the arguments as a configuration file unless there is one:
// when Sentinels make a server a master or a replica, they let it rewrite the
// file, and it must still be one after a restart.
func (s *Server) writeConfig(arguments []string) string {
	path := filepath.Join(s.dir, fmt.Sprintf("redis-%d.conf", s.port))
	if _, err := os.Stat(path); err == nil {
		return path
	}
	var text strings.Builder
	for _, argument := range arguments {
		if directive, ok := strings.CutPrefix(argument, "--"); ok {
			text.WriteString("\n" + directive)
			continue
		}
		fmt.Fprintf(&text, " %q", argument)
	}
	if err := os.WriteFile(path, []byte(text.String()+"\n"), 0o600); err != nil {
		s.tb.Fatalf("redistest: %v", err)
	}
	return path
}

// announcement makes the server announce the address of the proxy before it.
// A cluster's bus does not go through the proxy.
func (s *Server) announcement() []string {
	host, port, _ := strings.Cut(s.announced, ":")
	if s.bus {
		bus := strconv.Itoa(s.port + busOffset)
		return []string{"--cluster-announce-ip", host, "--cluster-announce-port", port, "--cluster-announce-bus-port", bus}
	}
	return []string{"--replica-announce-ip", host, "--replica-announce-port", port}
}

// Binary is the path of redis-server (or valkey-server). It ends the test when
// none is installed: as skipped under -short, as failed otherwise.
func Binary(tb testing.TB) string {
	tb.Helper()
	for _, name := range []string{"redis-server", "valkey-server"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	const missing = "redistest: this test needs redis-server; install it with: " + InstallCommand
	if testing.Short() {
		tb.Skip(missing)
	}
	tb.Fatal(missing)
	return ""
}

// InstallCommand installs redis-server on Debian and Ubuntu, without starting
// it as a service of the machine.
const InstallCommand = "sudo apt-get install --no-install-recommends redis-server"

// logTail is how much of a server's log a failure shows, in bytes.
const logTail = 4 << 10

// readTail returns the last bytes of the file, or why it cannot be read.
func readTail(path string) string {
	body, err := os.ReadFile(path)
	if err != nil {
		return err.Error()
	}
	return string(body[max(0, len(body)-logTail):])
}
