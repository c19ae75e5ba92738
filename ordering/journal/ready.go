package journal

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
	"golang.org/x/sync/singleflight"

	"larder/internal/redisdb"
	"larder/ordering"
)

const (
	// infoTimeout bounds the question for Redis's settings.
	infoTimeout = 2 * time.Second
	// retrySilent and retrySettings are when a client should ask again: soon
	// when Redis does not answer, later when a person must change a setting.
	retrySilent   = 5 * time.Second
	retrySettings = time.Minute
)

// guard finds out whether orders can be kept safe: whether Redis's settings and
// replicas allow it (policy O14), and whether Redis was restored (policy O14a).
type guard struct {
	*writer

	embedded bool
	flight   singleflight.Group // of readings of the settings
}

// durability is what was last found out about Redis.
type durability struct {
	err error // nil: orders can be kept safe
	at  time.Time
}

// Ready returns nil when a new order of the connection can be kept safe, else a
// *ordering.NotReadyError (policy O14). Redis's settings are read from INFO and
// believed for five seconds, or for one as long as no replica was ever seen; a
// Redis that does not answer is asked again at once.
// That it answered a moment ago is no promise: what keeps an order from being
// sent without a record is Begin.
func (g *guard) Ready(ctx context.Context, connection string) error {
	s := g.state(connection)
	s.mu.Lock()
	known := s.durability
	s.mu.Unlock()
	err := known.err
	if time.Since(known.at) >= trustedFor {
		asked := g.flight.DoChan("ready "+connection, func() (any, error) {
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), infoTimeout)
			defer cancel()
			return nil, g.checkSettings(ctx, connection)
		})
		select {
		case <-ctx.Done():
			err = unreachable(ctx.Err())
		case answer := <-asked:
			err = answer.Err
		}
	}
	if err != nil {
		return err
	}
	return g.recovered(ctx, connection)
}

// checkSettings reads the settings of the server that has the connection's records, finds
// out which rule of replicas applies, and keeps the result.
func (g *guard) checkSettings(ctx context.Context, connection string) error {
	at, s := time.Now(), g.state(connection)
	facts := info{"maxmemory_policy": noEviction}
	if g.embedded {
		if err := g.read.Ping(ctx).Err(); err != nil {
			return unreachable(err)
		}
	} else {
		pipe, err := g.pipelineOf(ctx, g.keys.JournalState(connection), 0)
		if err == nil {
			facts, err = readInfo(ctx, pipe)
		}
		if err != nil {
			return unreachable(err)
		}
	}
	if _, err := g.Health(ctx, connection); err != nil { // whether a replica was ever seen
		return unreachable(err)
	}
	if !s.known().replicated && !g.embedded {
		if facts.online() > 0 {
			if err := g.detect(ctx, connection); err != nil && !errors.Is(err, ErrReplicas) {
				return unreachable(err)
			}
		}
		at = at.Add(probeEvery - trustedFor) // the first replica may come at any time
	}
	err := g.durabilityError(facts, g.required(connection))
	s.mu.Lock()
	s.durability = durability{err: err, at: at}
	s.mu.Unlock()
	return err
}

func unreachable(err error) error {
	return &ordering.NotReadyError{Msg: "Redis " + redisdb.SafeText(err), RetryAfter: retrySilent, Err: err}
}

const (
	noEviction = "noeviction"
	yes        = "1"
)

// durabilityError returns what keeps orders from being safe in a Redis with these settings,
// of which required replicas must have them.
func (g *guard) durabilityError(f info, required int) error {
	policy := f["maxmemory_policy"]
	replicas := f.online()
	msg, retry := "", retrySettings
	switch {
	case policy != noEviction && !g.cfg.AllowEviction:
		msg = fmt.Sprintf("Redis may evict orders when its memory is full (maxmemory-policy is %q): "+
			"set maxmemory-policy noeviction in Redis, or ordering.allow_eviction", policy)
	case f["aof_last_write_status"] == "err":
		msg = "Redis cannot write its append-only file (aof_last_write_status is err): see to its disk"
	case replicas < required:
		retry = retrySilent
		msg = "Redis has lost its replicas: a failover would lose orders; see to the replicas, or set ordering.wait_replicas to 0"
		if g.cfg.WaitReplicas != nil {
			msg = fmt.Sprintf("Redis has replicas: %d; ordering.wait_replicas asks for %d", replicas, required)
		}
	case g.cfg.AllowNonDurable || f["aof_enabled"] == yes:
	case g.embedded:
		msg = "the embedded Redis keeps orders in memory only: set redis.url to a Redis with appendonly yes, or ordering.allow_non_durable"
	default:
		msg = "Redis does not write every order to disk (appendonly is off; snapshots alone forget what came after the last one): " +
			"set appendonly yes in Redis, or ordering.allow_non_durable"
	}
	if msg == "" {
		return nil
	}
	return &ordering.NotReadyError{Msg: msg, RetryAfter: retry}
}

// info is what INFO says, by name.
type info map[string]string

// online counts the replicas that have copied everything and follow.
func (f info) online() int {
	count := 0
	for name, value := range f {
		if number, ok := strings.CutPrefix(name, "slave"); ok && strings.Trim(number, "0123456789") == "" &&
			strings.Contains(value, "state=online") {
			count++
		}
	}
	return count
}

var errNoInfo = errors.New("INFO says nothing of maxmemory_policy or aof_enabled")

func readInfo(ctx context.Context, pipe redis.Pipeliner) (info, error) {
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
