package chaos

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"larder.local/internal/sandbox"
	"larder.local/internal/testkit/process"
	"larder.local/internal/testkit/redistest"
)

// instances is the number of larder processes of a run.
const instances = 3

// Build builds larder in the folder dir and returns the path of the binary.
func Build(ctx context.Context, dir string) (string, error) {
	binary := filepath.Join(dir, "larder")
	arguments := []string{
		"build", "-buildvcs=false", "-trimpath", "-tags", "nomsgpack", "-ldflags", "-s -w",
		"-o", binary, "larder.local/cmd/larder",
	}
	build := exec.CommandContext(ctx, "go", arguments...)
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if output, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build larder: %w\n%s", err, output)
	}
	return binary, nil
}

// instanceProcess is one instance: a process that is killed and started again at
// the same address.
type instanceProcess struct {
	binary, dir, name string
	config            string
	addr              string
	starts            int
	process           *process.Child
}

// newLarder writes the configuration of an instance.
func newLarder(tb testing.TB, r Run, number int, redisURL, serviceURL string) (*instanceProcess, error) {
	tb.Helper()
	l := &instanceProcess{binary: r.Binary, dir: r.Dir, name: fmt.Sprintf("larder-%d", number)}
	l.addr = fmt.Sprintf("127.0.0.1:%d", redistest.FreePort(tb))
	l.config = filepath.Join(r.Dir, l.name+".yaml")
	durability := ""
	if r.WithoutDisk {
		durability = fmt.Sprintf(", durability: replicas, wait_replicas: %d", r.Wait)
		if r.Wait == 0 {
			durability = ", allow_non_durable: true, wait_replicas: 0"
		}
	}
	text := fmt.Sprintf(`http: {listen: %q, rate: {place: "0", validate: "0"}}
redis: {url: %q}
cache: {poll: 1s}
connections:
  - name: main
    base_url: %[3]q
    auth_url: %[3]q
    client_id: demo
    client_secret: demo-secret
    retry_unavailable: %[6]v
    timeouts: {token: 1s, menu: 5s, write: 1500ms, reuse: 500ms}
sync: {schedule: "@every 10s", deadline: 5s}
ordering: {place_timeout: 2s, in_flight_grace: 1s, sweep_every: 500ms, state_dir: %[5]q%[7]s}
auth:
  signing_key: the-signing-key-of-all-instances-here
  clients:
    - {id: storefront, secret: storefront-secret, scopes: [menu, orders]}
    - {id: ops, secret: ops-secret, scopes: [menu, orders, ops]}
restaurants:
  - {id: %[4]s}
`, l.addr, redisURL, serviceURL, sandbox.BistroID, filepath.Join(r.Dir, l.name+".state"), r.RetryUnavailable, durability)
	return l, os.WriteFile(l.config, []byte(text), 0o600)
}

// start starts the process. It does not wait until the process serves.
func (l *instanceProcess) start(ctx context.Context) (err error) {
	l.starts++
	l.process, err = process.Start(ctx, l.dir, fmt.Sprintf("%s.%d", l.name, l.starts), []string{"LARDER_LOG_FORMAT=json"},
		l.binary, "serve", "--config", l.config)
	return err
}

func (l *instanceProcess) signal(signal syscall.Signal) { _ = syscall.Kill(l.process.PID(), signal) }

// url returns the address of a route.
func (l *instanceProcess) url(path string) string { return "http://" + l.addr + path }

// ready returns nil if the instance serves menus and can place orders.
func (l *instanceProcess) ready(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second) //testwaits:allow limits one attempt; callers repeat it
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, l.url("/readyz"), http.NoBody)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }() // only its status is used
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: /readyz: %d", l.name, response.StatusCode)
	}
	return nil
}

// await waits until so returns nil. It ends the test if that takes longer than
// limit.
func await(tb testing.TB, limit time.Duration, what string, so func(ctx context.Context) error) {
	tb.Helper()
	ctx, cancel := context.WithTimeout(tb.Context(), limit)
	defer cancel()
	ticker := time.NewTicker(50 * time.Millisecond)
	defer ticker.Stop()
	var missing error // the last error, not the timeout
	for {
		err := so(ctx)
		if err == nil {
			return
		}
		if ctx.Err() == nil || missing == nil {
			missing = err
		}
		select {
		case <-ctx.Done():
			tb.Fatalf("chaos: not within %s: %s: %v", limit, what, missing)
		case <-ticker.C:
		}
	}
}
