package cache

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// installCommand installs a redis-server on Debian and Ubuntu without running
// it as a service of the machine.
const installCommand = "sudo apt-get install --no-install-recommends redis-server"

// connectWithin bounds a connection to a Unix socket.
const connectWithin = time.Second

// findServer finds the program that a managed Redis runs.
func findServer() (string, error) {
	for _, name := range []string{"redis-server", "valkey-server"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", &ConfigError{Key: "redis.url", Msg: `"managed" needs redis-server or valkey-server in PATH, and neither is there; ` +
		"install one (" + installCommand + "), or name a Redis that runs"}
}

// listens tells whether a process takes connections on a Unix socket.
func listens(ctx context.Context, socket string) bool {
	ctx, cancel := context.WithTimeout(ctx, connectWithin)
	defer cancel()
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, "unix", socket)
	if err != nil {
		return false
	}
	_ = conn.Close() // it was only asked
	return true
}

// serverPID is the process of a server.
func serverPID(ctx context.Context, client *redis.Client) (int, error) {
	info, err := client.Info(ctx, "server").Result()
	if err != nil {
		return 0, err
	}
	pid, err := strconv.Atoi(infoField(info, "process_id"))
	if err != nil || pid < 2 {
		return 0, errNoProcess
	}
	return pid, nil
}

var errNoProcess = errors.New("INFO names no process_id")

// infoField is the value of one name in what INFO says, "" when it is not there.
func infoField(info, name string) string {
	for line := range strings.Lines(info) {
		if value, ok := strings.CutPrefix(line, name+":"); ok {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// lastWords are the last lines of a server's log.
func lastWords(path string) string {
	const lines, bytes = 3, 2 << 10
	body, err := os.ReadFile(path) //nolint:gosec // the path is the configuration's
	if err != nil {
		return err.Error()
	}
	said := strings.Split(strings.TrimSpace(string(body[max(0, len(body)-bytes):])), "\n")
	return strings.Join(said[max(0, len(said)-lines):], " | ")
}

// About is what a Redis says of itself.
type About struct {
	Form    Form
	Server  string // "redis", "valkey" or "miniredis"
	Version string // of the server; "" where it does not say
}

// String says it for a person: "sentinel, redis 7.0.15".
func (a About) String() string {
	return strings.TrimSpace(fmt.Sprintf("%s, %s %s", a.Form, a.Server, a.Version))
}

// About asks the server what it is; of several, any one. The error is
// ErrUnavailable with its cause.
func (r *Redis) About(ctx context.Context) (About, error) {
	if r.form == Embedded {
		return About{Form: Embedded, Server: "miniredis"}, r.Ping(ctx)
	}
	info, err := r.strict.Info(ctx, "server").Result()
	if err != nil {
		return About{}, unavailable("ask for the version", err)
	}
	if version := infoField(info, "valkey_version"); version != "" {
		return About{Form: r.form, Server: "valkey", Version: version}, nil
	}
	return About{Form: r.form, Server: "redis", Version: infoField(info, "redis_version")}, nil
}
