package redistest_test

import (
	"context"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"larder.local/internal/testkit/redistest"
)

func TestMain(m *testing.M) {
	redis.SetLogger(silent{}) // it logs each step of a failover
	os.Exit(m.Run())
}

type silent struct{}

func (silent) Printf(context.Context, string, ...any) {}

func TestServerAnswersAtItsURL(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)

	options, err := redis.ParseURL(server.URL())
	if err != nil {
		t.Fatalf("ParseURL(%q): %v", server.URL(), err)
	}
	if options.Addr != server.Addr() {
		t.Errorf("URL %q names %q, want %q", server.URL(), options.Addr, server.Addr())
	}
	client := server.Client()
	if err := client.Set(t.Context(), "dish", "soup", 0).Err(); err != nil {
		t.Fatalf("SET: %v", err)
	}
	if got, err := client.Get(t.Context(), "dish").Result(); got != "soup" || err != nil {
		t.Errorf("GET dish = %q, %v; want soup", got, err)
	}
}

func TestServersAreNotShared(t *testing.T) {
	t.Parallel()
	one, two := redistest.Start(t), redistest.Start(t)

	if one.Addr() == two.Addr() {
		t.Fatalf("both servers listen on %s", one.Addr())
	}
	if err := one.Client().Set(t.Context(), "dish", "soup", 0).Err(); err != nil {
		t.Fatalf("SET: %v", err)
	}
	if n, err := two.Client().DBSize(t.Context()).Result(); n != 0 || err != nil {
		t.Errorf("the other server holds %d keys, %v; want 0", n, err)
	}
}

func TestStoppedServerRefuses(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)

	server.Stop()
	server.Stop() // stopping twice does nothing
	if answers(t, server) {
		t.Errorf("the stopped server still answers on %s", server.Addr())
	}
}

func TestRestart(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		options []redistest.Option
		running bool // at the time of the restart
		want    int64
	}{
		{"append-only keeps what was acknowledged", []redistest.Option{redistest.AppendOnly()}, false, 1},
		{"otherwise the server comes back empty", nil, false, 0},
		{"a running server is killed first", nil, true, 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			server := redistest.Start(t, test.options...)
			addr, client := server.Addr(), server.Client()
			if err := client.Set(t.Context(), "dish", "soup", 0).Err(); err != nil {
				t.Fatalf("SET: %v", err)
			}

			if !test.running {
				server.Stop()
			}
			server.Restart()
			if server.Addr() != addr {
				t.Errorf("restarted on %s, want %s", server.Addr(), addr)
			}
			if n, err := server.Client().DBSize(t.Context()).Result(); n != test.want || err != nil {
				t.Errorf("%d keys after the restart, %v; want %d", n, err, test.want)
			}
		})
	}
}

func TestConfigReachesTheServer(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t, redistest.Config("maxmemory-policy", "allkeys-lru"))

	got, err := server.Client().ConfigGet(t.Context(), "maxmemory-policy").Result()
	if err != nil || got["maxmemory-policy"] != "allkeys-lru" {
		t.Errorf("CONFIG GET maxmemory-policy = %v, %v; want allkeys-lru", got, err)
	}
}

func TestNothingOutlivesTheTest(t *testing.T) {
	t.Parallel()
	var server *redistest.Server
	var client *redis.Client
	t.Cleanup(func() { // cleanups run last in, first out: this one after those of Start and Client
		if err := client.Ping(context.WithoutCancel(t.Context())).Err(); !errors.Is(err, redis.ErrClosed) {
			t.Errorf("PING through the ended test's client: %v, want %v", err, redis.ErrClosed)
		}
		if answers(t, server) {
			t.Errorf("the ended test's server still answers on %s", server.Addr())
		}
	})

	server = redistest.Start(t)
	client = server.Client()
	if !answers(t, server) {
		t.Errorf("the server does not answer on %s", server.Addr())
	}
}

// answers reports whether a server listens on the address.
func answers(t *testing.T, server *redistest.Server) bool {
	t.Helper()
	var dialer net.Dialer
	conn, err := dialer.DialContext(context.WithoutCancel(t.Context()), "tcp", server.Addr())
	if err != nil {
		return false
	}
	if err := conn.Close(); err != nil {
		t.Errorf("close the connection to %s: %v", server.Addr(), err)
	}
	return true
}

// TestMissingServer runs this test binary again with an empty PATH.
func TestMissingServer(t *testing.T) {
	t.Parallel()
	const child = "LARDER_REDISTEST_CHILD"
	if os.Getenv(child) != "" {
		redistest.Start(t)
		return
	}
	tests := []struct {
		name, flag, want string
		fails            bool
	}{
		{"fails and names the command", "-test.short=false", redistest.InstallCommand, true},
		{"is skipped under -short", "-test.short=true", "--- SKIP", false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			binary, err := filepath.Abs(os.Args[0])
			if err != nil {
				t.Fatal(err)
			}
			cmd := exec.CommandContext(t.Context(), binary, "-test.run=^TestMissingServer$", "-test.v", test.flag)
			cmd.Env = []string{child + "=1", "PATH=" + t.TempDir(), "TMPDIR=" + t.TempDir()}
			output, err := cmd.CombinedOutput()
			if failed := err != nil; failed != test.fails {
				t.Errorf("failed = %t (%v), want %t", failed, err, test.fails)
			}
			if !strings.Contains(string(output), test.want) {
				t.Errorf("output lacks %q:\n%s", test.want, output)
			}
		})
	}
}
