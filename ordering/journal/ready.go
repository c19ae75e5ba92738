package journal

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"larder/cache"
	"larder/ordering"
)

const (
	// askWithin bounds the question for Redis's settings.
	askWithin = 2 * time.Second
	// retrySilent and retrySettings are when a client should ask again: soon
	// when Redis does not answer, later when a person must change a setting.
	retrySilent   = 5 * time.Second
	retrySettings = time.Minute
)

// verdict is what was last found out about Redis.
type verdict struct {
	err error // nil: orders can be kept safe
	at  time.Time
}

// Ready tells whether a new order can be kept safe (policy O14). Redis's
// settings are read from INFO and believed for five seconds; a Redis that does
// not answer is asked again at once. That it answered a moment ago is no
// promise: what keeps an order from being sent without a record is Begin.
func (j *Journal) Ready(ctx context.Context) error {
	j.mu.Lock()
	known := j.verdict
	j.mu.Unlock()
	if !known.at.IsZero() && time.Since(known.at) < trusted {
		return known.err
	}
	asked := j.flight.DoChan("ready", func() (any, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), askWithin)
		defer cancel()
		return nil, j.ask(ctx)
	})
	select {
	case <-ctx.Done():
		return silent(ctx.Err())
	case answer := <-asked:
		return answer.Err
	}
}

// ask reads the settings and keeps the verdict.
func (j *Journal) ask(ctx context.Context) error {
	at := time.Now()
	if j.embedded {
		if err := j.read.Ping(ctx).Err(); err != nil {
			return silent(err)
		}
		return j.judged(at, j.judge(info{"maxmemory_policy": noEviction, "connected_slaves": "0"}))
	}
	facts, err := j.facts(ctx)
	if err != nil {
		return silent(err)
	}
	for _, f := range facts {
		if err := j.judge(f); err != nil {
			return j.judged(at, err)
		}
	}
	return j.judged(at, nil)
}

func (j *Journal) judged(at time.Time, err error) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.verdict = verdict{err: err, at: at}
	return err
}

func silent(err error) error {
	return &ordering.NotReadyError{Msg: "Redis " + cache.Plain(err), RetryAfter: retrySilent, Err: err}
}

// facts gives the settings of Redis, in a cluster those of every master.
func (j *Journal) facts(ctx context.Context) ([]info, error) {
	cluster, ok := j.read.(*redis.ClusterClient)
	if !ok {
		f, err := readInfo(ctx, j.read)
		return []info{f}, err
	}
	var (
		mu  sync.Mutex
		all []info
	)
	err := cluster.ForEachMaster(ctx, func(ctx context.Context, master *redis.Client) error {
		f, err := readInfo(ctx, master)
		mu.Lock()
		defer mu.Unlock()
		all = append(all, f)
		return err
	})
	return all, err
}

const (
	noEviction = "noeviction"
	yes        = "1"
	writeFails = "err"
)

// judge tells what keeps orders from being safe in a Redis with these settings.
func (j *Journal) judge(f info) error {
	policy := f["maxmemory_policy"]
	replicas, _ := strconv.Atoi(f["connected_slaves"])
	msg, retry := "", retrySettings
	switch {
	case policy != noEviction && !j.cfg.AllowEviction:
		msg = fmt.Sprintf("Redis may evict orders when its memory is full (maxmemory-policy is %q): "+
			"set maxmemory-policy noeviction in Redis, or ordering.allow_eviction", policy)
	case f["aof_last_write_status"] == writeFails:
		msg = "Redis cannot write its append-only file (aof_last_write_status is err): see to its disk"
	case replicas < j.cfg.WaitReplicas:
		msg = fmt.Sprintf("Redis has replicas: %d; ordering.wait_replicas asks for %d", replicas, j.cfg.WaitReplicas)
		retry = retrySilent
	case j.cfg.AllowVolatile || f["aof_enabled"] == yes:
	case j.embedded:
		msg = "the embedded Redis keeps orders in memory only: set redis.url to a Redis with appendonly yes, or ordering.allow_volatile"
	default:
		msg = "Redis does not write every order to disk (appendonly is off; snapshots alone forget what came after the last one): " +
			"set appendonly yes in Redis, or ordering.allow_volatile"
	}
	if msg == "" {
		return nil
	}
	return &ordering.NotReadyError{Msg: msg, RetryAfter: retry}
}

// info is what INFO says, by name.
type info map[string]string

var errNoInfo = errors.New("INFO says nothing of maxmemory_policy or aof_enabled")

func readInfo(ctx context.Context, client redis.Cmdable) (info, error) {
	pipe := client.Pipeline()
	var sections []*redis.StringCmd
	for _, section := range []string{"memory", "persistence", "replication"} {
		sections = append(sections, pipe.Info(ctx, section)) // one command takes several from Redis 7 on only
	}
	if _, err := pipe.Exec(ctx); err != nil {
		return nil, err
	}
	f := info{}
	for _, section := range sections {
		for line := range strings.Lines(section.Val()) {
			if name, value, ok := strings.Cut(strings.TrimSpace(line), ":"); ok {
				f[name] = value
			}
		}
	}
	if f["maxmemory_policy"] == "" || f["aof_enabled"] == "" {
		return nil, errNoInfo
	}
	return f, nil
}
