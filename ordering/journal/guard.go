package journal

import (
	"context"
	"crypto/rand"
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
	// infoTimeout limits one check of Redis's settings and replicas.
	infoTimeout = 2 * time.Second
	// retrySilent and retrySettings are the Retry-After times of errors. The first is for Redis or
	// replicas that do not respond, the second for settings that a person must change.
	retrySilent   = 5 * time.Second
	retrySettings = time.Minute
)

// guard checks whether Redis can store orders durably. It checks the settings and replicas of Redis
// (policy O14), and whether Redis was restored from a backup or lost orders (policy O14a).
type guard struct {
	*writer

	flight singleflight.Group // for reading the settings
}

// Ready returns nil if a new order of the connection can be stored durably, otherwise a
// *ordering.NotReadyError (policy O14). It caches the result of the check for five seconds. While
// no replica has been seen, it caches the result for one second. If Redis did not respond, the next
// call checks again. The result is no guarantee: Begin ensures that every sent order has a record.
func (g *guard) Ready(ctx context.Context, connection string) error {
	s := g.state(connection)
	s.mu.Lock()
	err, readAt := s.notDurable, s.settingsReadAt
	s.mu.Unlock()
	if time.Since(readAt) >= trustedFor {
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

// checkSettings reads the settings of the Redis server that has the connection's records. It
// detects whether writes must wait for replicas, and caches the result.
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
	_, err := g.Health(ctx, connection) // learns whether a replica ever acknowledged a write
	switch format, other := errors.AsType[*ordering.FormatError](err); {
	case other:
		return &ordering.NotReadyError{Msg: format.Msg(), RetryAfter: retrySettings, Err: format}
	case err != nil:
		return unreachable(err)
	}
	if !s.known().replicated && !g.embedded {
		if facts.online() > 0 {
			if err := g.detect(ctx, connection); err != nil && !errors.Is(err, errReplicas) {
				return unreachable(err)
			}
		}
		at = at.Add(probeEvery - trustedFor) // check again soon: the first replica may connect at any time
	}
	err = g.durabilityError(facts, g.required(connection))
	s.mu.Lock()
	s.notDurable, s.settingsReadAt = err, at
	s.mu.Unlock()
	return err
}

func unreachable(err error) error {
	return &ordering.NotReadyError{Msg: "Redis " + redisdb.SafeText(err), RetryAfter: retrySilent, Err: err}
}

const (
	noEviction = "noeviction"
	yes        = "1"
	// stateFormat is the format of the records, in the field format of a connection's state.
	stateFormat = "2"
)

// durabilityError returns an error if this Redis cannot store orders durably. required is the
// number of replicas that must have an order.
func (g *guard) durabilityError(f info, required int) error {
	policy := f["maxmemory_policy"]
	replicas := f.online()
	msg, retry := "", retrySettings
	switch {
	case policy != noEviction && !g.cfg.AllowEviction:
		msg = fmt.Sprintf("Redis may evict orders when its memory is full (maxmemory-policy is %q): "+
			"set maxmemory-policy noeviction in Redis, or ordering.allow_eviction: true", policy)
	case f["aof_last_write_status"] == "err":
		msg = "Redis cannot write its append-only file (aof_last_write_status is err): check its disk"
	case replicas < required:
		retry = retrySilent
		msg = "Redis has lost its replicas: a failover would lose orders; repair the replicas, or set ordering.wait_replicas to 0"
		if g.cfg.WaitReplicas != nil {
			msg = fmt.Sprintf("Redis has %d replicas, but ordering.wait_replicas is %d: add replicas, or lower the setting", replicas, required)
		}
	case g.cfg.AllowNonDurable || f["aof_enabled"] == yes:
	case g.embedded:
		msg = "the embedded Redis keeps orders in memory only: set redis.url to a Redis with appendonly yes, " +
			"or set ordering.allow_non_durable: true"
	default:
		msg = "Redis does not write every order to disk (appendonly is off, and snapshots lose the latest orders): " +
			"set appendonly yes in Redis, or ordering.allow_non_durable: true"
	}
	if msg == "" {
		return nil
	}
	return &ordering.NotReadyError{Msg: msg, RetryAfter: retry}
}

// info contains the fields of INFO by name.
type info map[string]string

// online returns the number of replicas that INFO reports as online.
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

var errNoInfo = errors.New("INFO lacks maxmemory_policy or aof_enabled")

func readInfo(ctx context.Context, pipe redis.Pipeliner) (info, error) {
	var sections []*redis.StringCmd
	for _, section := range []string{"memory", "persistence", "replication"} {
		sections = append(sections, pipe.Info(ctx, section)) // one command with several sections needs Redis 7
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

// keptPredecessors is the number of replaced epochs that Redis keeps. An instance that remembers an
// older epoch pauses new orders again.
const keptPredecessors = 32

// Watch compares the commits that this instance remembers with those in Redis. It pauses new orders
// if Redis was restored (policy O14a), and learns the commits of other instances. It also makes a
// test write if replicas do not acknowledge (policy O14). Every instance calls it regularly.
func (g *guard) Watch(ctx context.Context, connection string) (ordering.JournalHealth, error) {
	s := g.state(connection)
	defer g.save(connection, s)       // even if Redis does not respond
	ready := g.Ready(ctx, connection) // detects whether writes must wait for replicas
	if err := g.watchState(ctx, s, connection); err != nil {
		return ordering.JournalHealth{}, failed("watch", connection, err)
	}
	if !g.healthOf(s).PausedAt.IsZero() && g.cfg.RestoreAccepted() {
		if err := g.autoAccept(ctx, connection); err != nil {
			return ordering.JournalHealth{}, err
		}
	}
	health := g.healthOf(s)
	s.mu.Lock()
	health.Accepted, s.accepted = s.accepted, false
	s.mu.Unlock()
	var notReady *ordering.NotReadyError
	if errors.As(ready, &notReady) && notReady.Err != nil && !errors.Is(ready, errReplicas) {
		return health, ready // Redis does not answer
	}
	return health, nil
}

func (g *guard) watchState(ctx context.Context, s *state, connection string) error {
	known, required := s.known(), g.required(connection)
	r, _, err := g.run(ctx, g.blank(connection, modeWatch), 0, 0)
	if err != nil || required == 0 || r.mark == known.Mark && r.epoch == known.Epoch {
		return err
	}
	// Other instances have committed. Remember their mark only after enough replicas have a write.
	if err = g.recovered(ctx, connection); err == nil {
		err = g.probe(ctx, connection)
	}
	if errors.Is(err, errReplicas) {
		return nil // the mark is not remembered yet; JournalHealth.Failing shows this
	}
	return err
}

// Health returns the current health of the journal. Unlike Watch, it does not compare commits.
func (g *guard) Health(ctx context.Context, connection string) (ordering.JournalHealth, error) {
	s := g.state(connection)
	var kept struct {
		Paused     string `redis:"paused"`
		Replicated string `redis:"replicated"`
	}
	if err := g.checkFormat(ctx, connection); err != nil {
		return ordering.JournalHealth{}, failed("health", connection, err)
	}
	reply := g.write.HMGet(ctx, g.keys.JournalState(connection), "paused", "replicated")
	if err := reply.Scan(&kept); err != nil {
		return ordering.JournalHealth{}, failed("health", connection, err)
	}
	s.mu.Lock()
	s.replicated = s.replicated || kept.Replicated == yes
	s.mu.Unlock()
	h := g.healthOf(s)
	if kept.Paused != "" {
		h.PausedAt = pausedSince(kept.Paused)
	}
	return h, nil
}

// Accept accepts the records that Redis has now. It ends the pause with a new epoch (policy O14a).
func (g *guard) Accept(ctx context.Context, connection string) (bool, error) {
	s := g.state(connection)
	keys := []string{g.keys.JournalState(connection), g.keys.Orders(connection)}
	accepted, err := acceptScript.Run(ctx, g.write, keys, rand.Text(), s.known().Epoch, keptPredecessors).Bool()
	if err != nil {
		return false, failed("accept", connection, err)
	}
	_, _, _ = g.run(ctx, g.blank(connection, modeWatch), 0, 0) // learns the epoch; if it fails, the next Watch does
	return accepted, nil
}

// autoAccept calls Accept without an operator (ordering.accept_restore). The next Watch reports it.
func (g *guard) autoAccept(ctx context.Context, connection string) error {
	accepted, err := g.Accept(ctx, connection)
	s := g.state(connection)
	s.mu.Lock()
	s.accepted = s.accepted || accepted
	s.mu.Unlock()
	return err
}

// orAccept calls change. If the journal was restored and ordering.accept_restore allows it, it
// accepts the restore and calls change again.
func (g *guard) orAccept(ctx context.Context, connection string, change func() error) error {
	err := change()
	if !is[*ordering.RestoredError](err) || !g.cfg.RestoreAccepted() {
		return err
	}
	if err = g.autoAccept(ctx, connection); err == nil {
		err = change()
	}
	return err
}
