package redistest

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

const (
	loopback = "127.0.0.1"
	// Ports are below the range for outgoing connections: a port of that range
	// could be taken between Stop and Restart.
	firstPort = 20_000
	portCount = 12_000
	// A cluster's node also uses the port 10,000 above its own, which must be below
	// that range too.
	busOffset = 10_000
	busCount  = 2_500
)

var errExited = errors.New("the server ended by itself")

// process is one redis-server process.
type process struct {
	cmd     *exec.Cmd
	logPath string
	exited  chan struct{} // closed when the process has been reaped
}

// startProcess starts the binary with its output in a new file at logPath.
// Cancelling ctx does not stop the process; only kill does.
func startProcess(ctx context.Context, binary string, arguments []string, logPath string) (*process, error) {
	output, err := os.Create(logPath)
	if err != nil {
		return nil, fmt.Errorf("create the log: %w", err)
	}
	cmd := exec.CommandContext(context.WithoutCancel(ctx), binary, arguments...)
	cmd.Stdout, cmd.Stderr = output, output
	cmd.SysProcAttr = dieWithParent()
	if err := errors.Join(cmd.Start(), output.Close()); err != nil {
		return nil, err
	}
	p := &process{cmd: cmd, logPath: logPath, exited: make(chan struct{})}
	go func() {
		defer close(p.exited)
		_ = cmd.Wait() // it is always killed
	}()
	return p, nil
}

// kill sends SIGKILL to the process and returns when it has been reaped.
func (p *process) kill() {
	_ = p.cmd.Process.Kill() // the only error is that it has exited
	<-p.exited
}

func (p *process) log() string {
	return readTail(p.logPath)
}

// waitReady waits until this process, and no other one at its address, responds to
// commands.
func (p *process) waitReady(ctx context.Context, to *redis.Options) error {
	ticker := time.NewTicker(pollEvery)
	defer ticker.Stop()
	for {
		err := p.answers(ctx, to)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("not ready within %s: %w", readyWithin, err)
		case <-p.exited:
			return errExited
		case <-ticker.C:
		}
	}
}

func (p *process) answers(ctx context.Context, to *redis.Options) (err error) {
	// A plain connection first: go-redis logs each refused connection.
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, "tcp", to.Addr)
	if err != nil {
		return err
	}
	if err := conn.Close(); err != nil {
		return err
	}
	to.MaxRetries, to.DialerRetries, to.PoolSize = -1, 1, 1
	client := redis.NewClient(to)
	defer func() { err = errors.Join(err, client.Close()) }()
	// Redis rejects PING while it loads the append-only file.
	if err := client.Ping(ctx).Err(); err != nil {
		return err
	}
	info, err := client.Info(ctx, "server").Result()
	if err != nil {
		return err
	}
	if !strings.Contains(info, fmt.Sprintf("process_id:%d\r\n", p.cmd.Process.Pid)) {
		return fmt.Errorf("another server already answers on %s", to.Addr)
	}
	return nil
}

// FreePort returns a free loopback port, for a server that is started and stopped several times. No other test uses the
// port until this test ends, and the system gives it to no connection.
func FreePort(tb testing.TB) int {
	tb.Helper()
	ctx, cancel := context.WithTimeout(tb.Context(), readyWithin)
	defer cancel()
	return freePort(ctx, tb, false)
}

// freePort returns a free loopback port. With bus, the port 10,000 above is free
// too.
func freePort(ctx context.Context, tb testing.TB, bus bool) int {
	tb.Helper()
	count := portCount
	if bus {
		count = busCount
	}
	for ctx.Err() == nil {
		offset, err := rand.Int(rand.Reader, big.NewInt(int64(count)))
		if err != nil {
			tb.Fatalf("redistest: choose a port: %v", err)
		}
		port := firstPort + int(offset.Int64())
		if reserve(tb, port) && isFree(ctx, port) && (!bus || reserve(tb, port+busOffset) && isFree(ctx, port+busOffset)) {
			return port
		}
	}
	tb.Fatalf("redistest: no free port within %s", readyWithin)
	return 0
}

// ports is the folder with a file for each reserved port. It does not follow a later change of TMPDIR.
//
//nolint:gochecknoglobals // it never changes
var ports = filepath.Join(os.TempDir(), fmt.Sprintf("larder-test-ports-%d", os.Getuid()))

// reserve locks the port until the test ends, and reports whether no other test, also of
// another process, has locked it. So no other test uses it while its server is stopped.
func reserve(tb testing.TB, port int) bool {
	tb.Helper()
	if err := os.MkdirAll(ports, 0o700); err != nil {
		tb.Fatalf("redistest: create the folder of the ports: %v", err)
	}
	file, err := os.OpenFile(filepath.Join(ports, strconv.Itoa(port)), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		tb.Fatalf("redistest: reserve port %d: %v", port, err)
	}
	if !lock(file) {
		_ = file.Close()
		return false
	}
	tb.Cleanup(func() { _ = file.Close() }) // which unlocks it
	return true
}

func isFree(ctx context.Context, port int) bool {
	var listen net.ListenConfig
	listener, err := listen.Listen(ctx, "tcp", fmt.Sprintf("%s:%d", loopback, port))
	return err == nil && listener.Close() == nil
}
