package measure

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"larder.local/internal/sleep"
	"larder.local/internal/testkit/process"
)

const (
	redisWithin = 15 * time.Second
	redisPause  = 20 * time.Millisecond
)

// Redis is a redis-server for a measurement, on a loopback port.
type Redis struct {
	*process.Child
	// Client is a connection to it.
	Client *redis.Client
	// URL is redis.url for larder.
	URL string
	// Address is its host:port.
	Address string
}

// StartRedis starts the redis-server or valkey-server in PATH, with appendonly and
// without snapshots, and returns when it responds. words are a command prefix, such as
// `taskset -c 0`. A folder can be used by one server only.
func StartRedis(ctx context.Context, dir string, before ...string) (*Redis, error) {
	return StartRedisWith(ctx, dir, before)
}

// StartRedisWith is StartRedis with settings, such as "--appendfsync", "always".
func StartRedisWith(ctx context.Context, dir string, before []string, settings ...string) (*Redis, error) {
	program, err := findRedis()
	if err != nil {
		return nil, err
	}
	port, err := FreePort(ctx)
	if err != nil {
		return nil, err
	}
	address := net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	words := slices.Concat(before, []string{
		program, "--port", strconv.Itoa(port), "--bind", "127.0.0.1",
		"--dir", dir, "--save", "", "--appendonly", "yes", "--maxmemory-policy", "noeviction",
	}, settings)
	child, err := process.Start(ctx, dir, "redis", nil, words[0], words[1:]...)
	if err != nil {
		return nil, err
	}
	r := &Redis{
		Child:   child,
		Client:  redis.NewClient(&redis.Options{Addr: address}),
		URL:     "redis://" + address + "/0",
		Address: address,
	}
	if err := r.ready(ctx); err != nil {
		r.Close()
		return nil, err
	}
	return r, nil
}

func findRedis() (string, error) {
	for _, name := range []string{"redis-server", "valkey-server"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", errors.New("measure: neither redis-server nor valkey-server is in the PATH: install one, as with  sudo apt-get install --no-install-recommends redis-server")
}

// FreePort returns a loopback port that is free at the moment.
func FreePort(ctx context.Context) (int, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return 0, fmt.Errorf("measure: find a free port: %w", err)
	}
	address, _ := listener.Addr().(*net.TCPAddr)
	return address.Port, listener.Close()
}

// ready waits until this process responds.
func (r *Redis) ready(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, redisWithin)
	defer cancel()
	for {
		info, err := r.Client.InfoMap(ctx, "server").Result()
		if err == nil && info["Server"]["process_id"] == strconv.Itoa(r.PID()) {
			return nil
		}
		if alive := r.Alive(); alive != nil {
			return alive
		}
		if sleep.For(ctx, redisPause) != nil {
			return fmt.Errorf("measure: redis does not answer within %v (%w); its log is %s", redisWithin, err, filepath.Base(r.LogPath()))
		}
	}
}

// Memory returns the memory that Redis reports, in bytes.
func (r *Redis) Memory(ctx context.Context) (int64, error) {
	info, err := r.Client.InfoMap(ctx, "memory").Result()
	if err != nil {
		return 0, fmt.Errorf("measure: memory of Redis: %w", err)
	}
	return strconv.ParseInt(info["Memory"]["used_memory"], 10, 64)
}

// Version returns the server's name and version.
func (r *Redis) Version(ctx context.Context) string {
	info, err := r.Client.InfoMap(ctx, "server").Result()
	if err != nil {
		return "unknown"
	}
	return "Redis " + strings.TrimSpace(info["Server"]["redis_version"])
}

// Close ends the server.
func (r *Redis) Close() {
	_ = r.Client.Close()
	r.Kill() // its data is not needed
}
