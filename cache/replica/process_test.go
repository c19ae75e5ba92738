package replica

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"larder.local/cache"
	"larder.local/internal/menu"
	"larder.local/internal/redisdb"
	"larder.local/internal/silentlog"
	"larder.local/internal/testkit/cachetest"
)

const (
	// publisherOf is the environment variable that makes the test binary a publisher.
	// Its value is the URL of Redis.
	publisherOf = "LARDER_TEST_PUBLISHER"
	// frozenAt makes the publisher stop itself (SIGSTOP) directly before the step
	// that makes this version current.
	frozenAt = "LARDER_TEST_FROZEN_AT"
)

// publisher is a process that publishes versions of the bistro until it is killed or
// rejected. The price of all dishes is the version number. It prints a line for each
// version.
func publisher(url string) int {
	log := silentlog.New()
	ctx := context.Background()
	r, err := redisdb.Open(redisdb.Config{URL: url}, log)
	if err != nil {
		return failed(err)
	}
	s := cache.NewStore(r, cache.StoreConfig{})
	fence, err := r.Client().HIncrBy(ctx, cache.NewKeys(r.Prefix()).Fence(bistro), "fence", 1).Result()
	if err != nil {
		return failed(err)
	}
	freezeAt, _ := strconv.ParseInt(os.Getenv(frozenAt), 10, 64)
	for {
		current, err := s.Current(ctx, bistro)
		if err != nil && !errors.Is(err, cache.ErrNoCatalogue) {
			return failed(err)
		}
		version := current.Version + 1
		view, published, err := menu.DecodePublished(cachetest.MenuJSON(dishesPerVersion, version))
		if err != nil {
			return failed(err)
		}
		if version == freezeAt {
			r.NoRetry().AddHook(freeze{})
		}
		_, err = s.Publish(ctx, cache.Publication{
			Restaurant: bistro,
			Name:       "The Bistro",
			Fence:      fence,
			Base:       current.Version,
			Published:  published,
			Catalogue:  menu.Compile(view, bistro, menu.DefaultSettings()),
			SyncedAt:   time.Now(),
		})
		if err != nil {
			return failed(err)
		}
		fmt.Println("published", version)
	}
}

func failed(err error) int {
	fmt.Println("failed", errors.Is(err, cache.ErrFenced), err)
	return 1
}

// freeze stops the process before its next script, like a paused machine.
type freeze struct{}

func (freeze) DialHook(next redis.DialHook) redis.DialHook { return next }
func (freeze) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

func (freeze) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		if strings.HasPrefix(cmd.Name(), "eval") {
			fmt.Println("frozen")
			resumed := make(chan os.Signal, 1)
			signal.Notify(resumed, syscall.SIGCONT)
			if err := syscall.Kill(os.Getpid(), syscall.SIGSTOP); err != nil {
				return err
			}
			<-resumed // another thread may have been stopped
		}
		return next(ctx, cmd)
	}
}

// child is a running publisher.
type child struct {
	cmd   *exec.Cmd
	lines *bufio.Scanner
}

func startPublisher(t *testing.T, url string, env ...string) *child {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(append(os.Environ(), publisherOf+"="+url), env...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	c := &child{cmd: cmd, lines: bufio.NewScanner(out)}
	t.Cleanup(c.kill)
	return c
}

// line returns the next line of the publisher. It is empty at the end.
func (c *child) line() string {
	if !c.lines.Scan() {
		return ""
	}
	return c.lines.Text()
}

// kill kills the publisher at any point. It may be called more than once.
func (c *child) kill() {
	_ = c.cmd.Process.Kill() // kill -9
	_ = c.cmd.Wait()         // killed, or already waited for
}
