package cache_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/sirupsen/logrus"
	"github.com/sirupsen/logrus/hooks/test"

	"larder/cache"
	"larder/internal/redistest"
)

// managedDir names the folder in which a child of these tests opens a Redis.
const managedDir = "LARDER_TEST_MANAGED_DIR"

// openManaged opens a managed Redis in a folder, and closes it when the test ends.
func openManaged(tb testing.TB, dir string) (*cache.Redis, *test.Hook) {
	tb.Helper()
	redistest.Binary(tb)
	log, hook := test.NewNullLogger()
	r, err := cache.Open(tb.Context(), managedConfig(dir), log)
	if err != nil {
		tb.Fatalf("open: %v", err)
	}
	tb.Cleanup(func() { _ = r.Close() }) // a test may have closed it already
	return r, hook
}

func managedConfig(dir string) cache.RedisConfig {
	return cache.RedisConfig{URL: cache.Managed, DataDir: dir}
}

func set(tb testing.TB, r *cache.Redis, value string) {
	tb.Helper()
	if err := r.Strict().Set(tb.Context(), "dish", value, 0).Err(); err != nil {
		tb.Fatalf("SET: %v", err)
	}
}

func wantValue(tb testing.TB, r *cache.Redis, want string) {
	tb.Helper()
	if got, err := r.Strict().Get(tb.Context(), "dish").Result(); got != want || err != nil {
		tb.Errorf("GET dish = %q, %v; want %q", got, err, want)
	}
}

// serverPID is the process of the server, which is not this test's group: the
// terminal's Ctrl-C does not reach it.
func serverPID(tb testing.TB, r *cache.Redis) int {
	tb.Helper()
	pid := processOf(tb, r.Strict().Info(tb.Context(), "server").Val())
	if group, err := syscall.Getpgid(pid); err != nil || group != pid {
		tb.Errorf("the server is of group %d, %v; want its own, %d", group, err, pid)
	}
	return pid
}

// processOf is the process that a server's INFO names.
func processOf(tb testing.TB, info string) int {
	tb.Helper()
	for line := range strings.Lines(info) {
		if number, ok := strings.CutPrefix(line, "process_id:"); ok {
			pid, err := strconv.Atoi(strings.TrimSpace(number))
			if err != nil {
				tb.Fatal(err)
			}
			return pid
		}
	}
	tb.Fatal("INFO names no process")
	return 0
}

func count(hook *test.Hook, event string) int {
	n := 0
	for _, entry := range hook.AllEntries() {
		if entry.Data["event"] == event {
			n++
		}
	}
	return n
}

func socketOf(dir string) string { return filepath.Join(dir, "redis", "redis.sock") }

func refuses(tb testing.TB, socket string) bool {
	tb.Helper()
	var dialer net.Dialer
	conn, err := dialer.DialContext(context.WithoutCancel(tb.Context()), "unix", socket)
	if err == nil {
		_ = conn.Close()
	}
	return err != nil
}

func TestManagedKeepsItsData(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r, _ := openManaged(t, dir)
	set(t, r, "soup")
	about, err := r.About(t.Context())
	if err != nil || about.Form != cache.Managed || about.Version == "" {
		t.Errorf("About = %+v, %v; want managed, with a version", about, err)
	}
	for name, want := range map[string]string{"port": "0", "appendonly": "yes", "maxmemory-policy": "noeviction", "unixsocketperm": "700"} {
		if got := r.Client().ConfigGet(t.Context(), name).Val()[name]; got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	if stat, err := os.Stat(filepath.Join(dir, "redis")); err != nil || stat.Mode().Perm() != 0o700 {
		t.Errorf("the folder is %v, %v; want it for larder's user alone", stat.Mode(), err)
	}
	if err := r.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
	if !refuses(t, socketOf(dir)) {
		t.Error("the server runs on after Close")
	}
	again, _ := openManaged(t, dir)
	wantValue(t, again, "soup")
}

// leaveServer lets a larder start a server in the folder, and kills the larder.
func leaveServer(t *testing.T, dir string) {
	t.Helper()
	redistest.Binary(t)
	child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestManagedChild$")
	child.Env = append(os.Environ(), managedDir+"="+dir)
	said, err := child.StdoutPipe()
	if err == nil {
		err = child.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(said)
	for lines.Scan() && lines.Text() != "ready" { // the test's own words come before
	}
	if err := errors.Join(child.Process.Kill(), lines.Err()); err != nil {
		t.Fatal(err)
	}
	_ = child.Wait() // killed is how it ends
}

// TestManagedOutlivesALarderThatIsKilled: the next one takes the server over.
func TestManagedOutlivesALarderThatIsKilled(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	leaveServer(t, dir)
	r, hook := openManaged(t, dir)
	wantValue(t, r, "of the child")
	if count(hook, "redis.managed_adopted") != 1 || count(hook, "redis.managed_started") != 0 {
		t.Errorf("events %v, want the server taken over and none started", hook.AllEntries())
	}
	pid := serverPID(t, r)
	if err := r.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
	if !refuses(t, socketOf(dir)) {
		t.Errorf("the server, process %d, that was taken over runs on after Close", pid)
	}
}

// TestManagedStartsNoSecondServer over the data of one that runs and cannot be
// reached: both would write the same append-only file.
func TestManagedStartsNoSecondServer(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	leaveServer(t, dir)
	left := redis.NewClient(&redis.Options{Addr: socketOf(dir)})
	defer func() { _ = left.Close() }() // connected before its socket is gone
	pid := processOf(t, left.Info(t.Context(), "server").Val())
	if err := os.Remove(socketOf(dir)); err != nil {
		t.Fatal(err)
	}
	log, hook := test.NewNullLogger()
	if r, err := cache.Open(t.Context(), managedConfig(dir), log); err == nil {
		t.Errorf("a second server was started, process %d beside %d", serverPID(t, r), pid)
		_ = r.Close()
	} else if !strings.Contains(err.Error(), fmt.Sprintf("process %d", pid)) {
		t.Errorf("open: %v, want the process %d named that has the data", err, pid)
	}
	if started := count(hook, "redis.managed_started"); started != 0 {
		t.Errorf("%d servers were started, want none", started)
	}
	if err := left.Ping(t.Context()).Err(); err != nil {
		t.Errorf("the server that ran is gone: %v", err)
	}

	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	r, _ := openManaged(t, dir)
	wantValue(t, r, "of the child")
}

// TestManagedChild is the larder that is killed; alone it has nothing to do.
func TestManagedChild(t *testing.T) {
	t.Parallel()
	dir := os.Getenv(managedDir)
	if dir == "" {
		return
	}
	r, _ := openManaged(t, dir)
	set(t, r, "of the child")
	fmt.Println("ready")
	select {} //nolint:gocritic // until it is killed
}

// TestManagedIsStartedAgain when it dies, with all that was acknowledged.
func TestManagedIsStartedAgain(t *testing.T) {
	t.Parallel()
	r, hook := openManaged(t, t.TempDir())
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- r.Run(ctx) }()
	set(t, r, "soup")
	pid := serverPID(t, r)
	var killed []any
	for range 2 {
		killed = append(killed, pid)
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		eventually(t, "it answers again", func() bool { return r.Ping(t.Context()) == nil && r.Client().Ping(t.Context()).Err() == nil })
		wantValue(t, r, "soup")
		next := serverPID(t, r)
		if next == pid {
			t.Errorf("the server is the killed one, %d", pid)
		}
		pid = next
	}
	cancel()
	if err := <-ended; err != nil {
		t.Errorf("Run: %v", err)
	}
	for _, entry := range hook.AllEntries() {
		if entry.Data["event"] == "redis.managed_died" && !slices.Contains(killed, entry.Data["pid"]) {
			t.Errorf("said that %v has died, killed were %v", entry.Data["pid"], killed)
		}
	}
	if died, started := count(hook, "redis.managed_died"), count(hook, "redis.managed_started"); died != 2 || started != 3 {
		t.Errorf("said to have died %d times, to be started %d times; want 2 and 3", died, started)
	}
}

func TestManagedFolderHasOneLarder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r, _ := openManaged(t, dir)
	set(t, r, "soup")
	_, err := cache.Open(t.Context(), managedConfig(dir), quiet())
	var fault *cache.ConfigError
	if !errors.As(err, &fault) || fault.Key != "redis.data_dir" || !strings.Contains(fault.Msg, fmt.Sprintf("process %d", os.Getpid())) {
		t.Errorf("a second larder: %v, want a fault of redis.data_dir that names the first one's process", err)
	}

	visitor, err := cache.Visit(t.Context(), managedConfig(dir), quiet())
	if err != nil {
		t.Fatalf("Visit: %v", err)
	}
	wantValue(t, visitor, "soup")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := errors.Join(visitor.Run(ctx), visitor.Close()); err != nil {
		t.Errorf("the visitor: %v", err)
	}
	wantValue(t, r, "soup")
}

// TestVisitToNobody starts the server, and stops it again.
func TestVisitToNobody(t *testing.T) {
	t.Parallel()
	redistest.Binary(t)
	dir := t.TempDir()
	visitor, err := cache.Visit(t.Context(), managedConfig(dir), quiet())
	if err != nil {
		t.Fatalf("Visit: %v", err)
	}
	if err := errors.Join(visitor.Ping(t.Context()), visitor.Close()); err != nil || !refuses(t, socketOf(dir)) {
		t.Errorf("the visit: %v; gone afterwards %t", err, refuses(t, socketOf(dir)))
	}
}

func TestManagedRemovesAStaleSocket(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "redis"), 0o755); err != nil {
		t.Fatal(err)
	}
	stale, err := (&net.ListenConfig{}).Listen(t.Context(), "unix", socketOf(dir))
	if err != nil {
		t.Fatal(err)
	}
	stale.(*net.UnixListener).SetUnlinkOnClose(false) //nolint:errcheck,forcetypeassert // it is one
	if err := stale.Close(); err != nil {
		t.Fatal(err)
	}
	r, hook := openManaged(t, dir)
	if err := r.Ping(t.Context()); err != nil || count(hook, "redis.managed_started") != 1 {
		t.Errorf("ping: %v; events %v", err, hook.AllEntries())
	}
}

// TestManagedLeavesAStranger alone: a server on its socket that is not its own.
func TestManagedLeavesAStranger(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "redis"), 0o700); err != nil {
		t.Fatal(err)
	}
	stranger := redistest.Start(t, redistest.Config("unixsocket", socketOf(dir)))
	_, err := cache.Open(t.Context(), managedConfig(dir), quiet())
	if err == nil || !strings.Contains(err.Error(), "that is not larder's") {
		t.Errorf("open: %v, want the stranger told of", err)
	}
	if err := stranger.Client().Ping(t.Context()).Err(); err != nil {
		t.Errorf("the stranger was stopped: %v", err)
	}
}

// TestManagedSaysWhyItDoesNotStart by the server's own words.
func TestManagedSaysWhyItDoesNotStart(t *testing.T) {
	t.Parallel()
	redistest.Binary(t)
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "redis", "appendonlydir"), 0o700); err != nil {
		t.Fatal(err)
	}
	manifest := filepath.Join(dir, "redis", "appendonlydir", "appendonly.aof.manifest")
	if err := os.WriteFile(manifest, []byte("nonsense\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := cache.Open(t.Context(), managedConfig(dir), quiet())
	if err == nil || !strings.Contains(err.Error(), "ended") || !strings.Contains(err.Error(), "manifest") {
		t.Errorf("open: %v, want the server's own words about its manifest", err)
	}
}

func TestManagedKillsWhatDoesNotStop(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r, hook := openManaged(t, dir)
	pid := serverPID(t, r)
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
	if !refuses(t, socketOf(dir)) || count(hook, "redis.managed_killed") != 1 {
		t.Errorf("a frozen server is gone: %t; events %v", refuses(t, socketOf(dir)), hook.AllEntries())
	}
}

func TestManagedOpenEndsWithItsContext(t *testing.T) {
	t.Parallel()
	redistest.Binary(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	began := time.Now()
	if _, err := cache.Open(ctx, managedConfig(t.TempDir()), quiet()); !errors.Is(err, context.Canceled) {
		t.Errorf("open: %v, want the context's error", err)
	}
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("it took %s", took)
	}
}

// TestManagedNeedsAServer cannot be parallel: it changes PATH.
// Where only a valkey-server is there, that one is started. It is the
// redis-server under the other name: larder asks both for the same.
func TestManagedTakesValkey(t *testing.T) {
	binary, err := filepath.EvalSymlinks(redistest.Binary(t))
	if err != nil {
		t.Fatal(err)
	}
	path := t.TempDir()
	if err := os.Symlink(binary, filepath.Join(path, "valkey-server")); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", path)
	log, _ := test.NewNullLogger()
	r, err := cache.Open(t.Context(), managedConfig(t.TempDir()), log)
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	t.Cleanup(func() { _ = r.Close() })
	set(t, r, "soup")
	wantValue(t, r, "soup")
}

func TestManagedNeedsAServer(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	_, err := cache.Open(t.Context(), managedConfig(t.TempDir()), quiet())
	var fault *cache.ConfigError
	if !errors.As(err, &fault) || !strings.Contains(fault.Msg, redistest.InstallCommand) {
		t.Errorf("open: %v, want a fault that names %q", err, redistest.InstallCommand)
	}
}

func TestManagedFolderTooDeep(t *testing.T) {
	t.Parallel()
	_, err := cache.Open(t.Context(), managedConfig(filepath.Join(t.TempDir(), strings.Repeat("x", 100))), logrus.New())
	var fault *cache.ConfigError
	if !errors.As(err, &fault) || fault.Key != "redis.data_dir" || !strings.Contains(fault.Msg, "shorter path") {
		t.Errorf("open: %v, want a fault of redis.data_dir", err)
	}
}
