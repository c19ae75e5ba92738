// Package redistest starts a real Redis for a test: one redis-server, one with TLS,
// one with replicas and Sentinels, or a cluster. It uses free loopback ports, keeps
// its data in the test's temporary folder, and stops when the test ends.
//
// Except with Shared no server is shared, so tests may run in parallel, and flush,
// reconfigure and kill servers. Only tests import this package. It never skips
// silently: if no server is installed, the test fails and names the command that
// installs one, unless -short is set.
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
	// readyWithin limits one start; a cold start takes about 10 ms.
	readyWithin = 15 * time.Second
	// pollEvery is the interval at which a starting server is checked.
	pollEvery = 5 * time.Millisecond
	// portRetry is added to the wait before each new attempt at a port that is in use:
	// a killed server's child can have it for a moment.
	portRetry = 50 * time.Millisecond
	// startAttempts limits the attempts if another process takes the port.
	startAttempts = 8
)

// Option changes how the server is started.
type Option func(*Server)

// AppendOnly stores the data in an append-only file, so that Restart keeps
// everything that was acknowledged. Without it a restarted server is empty.
func AppendOnly() Option {
	return Config("appendonly", "yes")
}

// Config sets one directive of redis.conf, for example Config("maxmemory-policy",
// "allkeys-lru").
func Config(directive string, values ...string) Option {
	return func(s *Server) {
		s.directives = append(s.directives, "--"+directive)
		s.directives = append(s.directives, values...)
	}
}

// Password makes the server require a password from all clients and replicas.
func Password(password string) Option {
	return func(s *Server) {
		s.password = password
		Config("requirepass", password)(s)
		Config("masterauth", password)(s)
	}
}

// Patient delays the failover of a group to half a minute: for tests without a
// failover, on a machine that may be too busy to respond within a second.
func Patient() Option { return FailoverAfter(30 * time.Second) }

// FailoverAfter sets how long a master may not respond before a replica takes over.
func FailoverAfter(d time.Duration) Option {
	return func(s *Server) {
		s.downAfter = d
		Config("cluster-node-timeout", strconv.FormatInt(d.Milliseconds(), 10))(s)
	}
}

// Behind makes clients and other servers use the address that front returns for the
// server's own address: that of a proxy before it. The test's own clients (Client)
// connect directly.
func Behind(front func(addr string) string) Option {
	return func(s *Server) { s.front = front }
}

// Server is one running redis-server of one test. Its methods may be called from
// several goroutines; Start and Restart, which can fail the test, only from the
// test's goroutine.
type Server struct {
	tb         testing.TB
	binary     string
	dir        string
	port       int
	directives []string
	password   string
	downAfter  time.Duration // FailoverAfter; 0: the group's default
	tls        *certificates // nil without TLS
	sentinel   string        // only of a Sentinel: what it watches, in the format of redis.conf
	bus        bool          // of a cluster's node: it also uses the port 10,000 above
	keepConfig bool          // Sentinels change the configuration file, which a restart must read
	front      func(addr string) string
	announced  string // the result of front

	mu      sync.Mutex
	process *process // nil while stopped
}

// Start runs a redis-server (or valkey-server) until the test ends, and returns
// when it responds. It stores nothing on disk without AppendOnly.
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

// Addr returns the server's address, host:port with the host as an IP literal. Stop
// and Restart do not change it.
func (s *Server) Addr() string {
	return fmt.Sprintf("%s:%d", loopback, s.port)
}

// Announced returns the address at which others reach the server: Addr, or that of
// the proxy before it (Behind).
func (s *Server) Announced() string {
	if s.announced != "" {
		return s.announced
	}
	return s.Addr()
}

// Dir returns the folder with the server's data.
func (s *Server) Dir() string { return s.dir }

// URL returns the server's address in the format of the configuration, with the
// password: redis://host:port/0, or rediss:// with TLS.
func (s *Server) URL() string { return s.scheme("") + s.Announced() + "/0" }

// scheme returns the start of an address.
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

// Client returns a new client of the server with go-redis's defaults; it is closed
// when the test ends.
func (s *Server) Client() *redis.Client {
	client := redis.NewClient(s.options())
	s.tb.Cleanup(func() {
		// A test may have closed it before.
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

// Stop kills the server with SIGKILL, like a power failure, and returns when the
// process is gone. It does nothing if the server is stopped.
func (s *Server) Stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stopLocked()
}

// Freeze freezes the server's process (SIGSTOP): its connections stay open and
// nothing responds. Restart and Stop work on a frozen server too.
func (s *Server) Freeze() { s.signal(syscall.SIGSTOP) }

// Thaw continues a frozen server.
func (s *Server) Thaw() { s.signal(syscall.SIGCONT) }

func (s *Server) signal(signal os.Signal) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.process != nil {
		_ = s.process.cmd.Process.Signal(signal) // the only error is that it has exited
	}
}

// Restart starts the server again on the same port and folder, and returns when it
// responds. It first kills a running server.
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

// startLocked starts the server, repeatedly while another process has its port;
// newPort reports whether another port may be used.
func (s *Server) startLocked(newPort bool) {
	s.tb.Helper()
	// The test's own context ends before its cleanups, which may use Redis.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(s.tb.Context()), readyWithin)
	defer cancel()
	for attempt := range startAttempts {
		time.Sleep(time.Duration(attempt) * portRetry) //testwaits:allow between two attempts
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

// writeConfig writes the arguments as a configuration file unless there is one.
// Sentinels make servers rewrite the file when they change their role, and the role
// must survive a restart.
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

// announcement makes the server announce the address of the proxy before it. A
// cluster's bus does not use the proxy.
func (s *Server) announcement() []string {
	host, port, _ := strings.Cut(s.announced, ":")
	if s.bus {
		bus := strconv.Itoa(s.port + busOffset)
		return []string{"--cluster-announce-ip", host, "--cluster-announce-port", port, "--cluster-announce-bus-port", bus}
	}
	return []string{"--replica-announce-ip", host, "--replica-announce-port", port}
}

// Binary returns the path of redis-server (or valkey-server). If none is installed,
// it skips the test with -short, and fails it otherwise.
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

// InstallCommand installs redis-server on Debian and Ubuntu.
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
