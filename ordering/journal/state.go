package journal

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"larder/ordering"
)

// state is what this instance knows of one connection's journal.
type state struct {
	mu sync.Mutex
	// epoch and mark are what Redis must still have: the instance has seen the
	// mark in as many replicas as the rule requires (policy O14a). own is the mark
	// of the instance's last commit that so many have.
	epoch     string
	mark, own int64
	// instance names this instance in Redis.
	instance string
	// seen is the highest mark of all replies. The marks of later commits are
	// above it, whichever server is the master then.
	seen int64
	// candidate is the epoch that this instance proposes where there is none.
	candidate string
	// replicated: a replica has acknowledged a write of this connection (policy O14).
	replicated bool
	pausedAt   time.Time // zero: creates are not paused
	missing    int64     // how many times commits were found lost and only reported
	accepted   bool      // a restore was accepted automatically; Watch has not reported it
	// failing: the last WAIT was not acknowledged; openings are rejected until
	// a probe is.
	failing bool
	probing bool
	probed  time.Time

	verdict verdict
	saved   saved // what the file of state_dir holds
	unsaved bool  // it could not be written
}

// remembered is the part of the state that commit.lua compares.
type remembered struct {
	epoch      string
	mark, own  int64
	instance   string
	seen       int64
	candidate  string
	reportOnly bool
	replicated bool
}

// state returns what is known of a connection.
func (j *Journal) state(connection string) *state {
	j.mu.Lock()
	defer j.mu.Unlock()
	s := j.states[connection]
	if s == nil {
		s = &state{candidate: rand.Text()}
		s.saved = j.load(connection)
		s.epoch, s.mark, s.own = s.saved.Epoch, s.saved.Mark, s.saved.Own
		s.instance, s.seen = cmp.Or(s.saved.Instance, rand.Text()), s.saved.Mark
		j.states[connection] = s
	}
	return s
}

// required returns how many replicas must acknowledge a commit (policy O14).
func (j *Journal) required(s *state) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return j.requiredLocked(s)
}

func (j *Journal) requiredLocked(s *state) int {
	switch {
	case j.cfg.WaitReplicas != nil:
		return *j.cfg.WaitReplicas
	case s.replicated:
		return 1
	default:
		return 0
	}
}

func (j *Journal) remembered(s *state) remembered {
	s.mu.Lock()
	defer s.mu.Unlock()
	return remembered{
		epoch: s.epoch, mark: s.mark, own: s.own, instance: s.instance, seen: s.seen,
		candidate: s.candidate, replicated: s.replicated,
		reportOnly: s.replicated && j.cfg.WaitReplicas != nil && *j.cfg.WaitReplicas == 0,
	}
}

// reply is commit.lua's result.
type reply struct {
	status       int64 // 1 made, 2 refused, 0 something was otherwise
	now          string
	epoch        string
	mark         int64
	predecessors string
	paused       string
	replicated   bool
	behind       bool
}

// statusPaused is the status of a create that was refused.
const statusPaused = 2

func readReply(cmd *redis.Cmd) (reply, error) {
	result, err := cmd.Slice()
	if err != nil {
		return reply{}, err
	}
	status, _ := at(result, 0).(int64)
	if status == 0 && len(result) == 2 {
		return reply{}, errMoved
	}
	r := reply{status: status}
	var words [7]string
	for i := range words {
		text, ok := at(result, i+1).(string)
		if !ok {
			return reply{}, fmt.Errorf("%w: %d results of a change", ErrCorrupt, len(result))
		}
		words[i] = text
	}
	r.now, r.epoch, r.predecessors, r.paused, r.replicated = words[0], words[1], words[3], words[4], words[5] == yes
	r.behind = words[6] == yes
	if r.mark, err = strconv.ParseInt(words[2], 10, 64); err != nil {
		return reply{}, fmt.Errorf("%w: mark", ErrCorrupt)
	}
	return r, nil
}

func at(list []any, i int) any {
	if i < len(list) {
		return list[i]
	}
	return nil
}

// learn takes what commit.lua returned, in a mode, to an instance that
// remembered known. acknowledged is how many replicas have it, or -1 when nobody
// waited for any.
func (j *Journal) learn(s *state, r reply, mode string, known remembered, acknowledged int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.replicated = s.replicated || r.replicated || acknowledged > 0
	s.seen = max(s.seen, r.mark)
	s.pausedAt = time.Time{}
	if r.paused != "" {
		if ms, err := strconv.ParseInt(r.paused, 10, 64); err == nil {
			s.pausedAt = moment(ms)
		}
	}
	if r.epoch == "" || acknowledged < j.requiredLocked(s) && j.requiredLocked(s) > 0 {
		return
	}
	own := int64(0)
	if (mode == modeCreate || mode == modeCommit) && r.status != statusPaused {
		own = r.mark
	}
	switch {
	case s.epoch == r.epoch && r.behind && s.pausedAt.IsZero(): // only reported
		if s.mark == known.mark && s.own == known.own {
			s.missing++
			s.mark, s.own = r.mark, own
		}
	case s.epoch == r.epoch && r.paused == "":
		s.mark, s.own = max(s.mark, r.mark), max(s.own, own)
	case s.epoch == "", slices.Contains(strings.Fields(r.predecessors), s.epoch):
		s.epoch, s.mark, s.own = r.epoch, r.mark, own
	}
}

// paused returns the error of a create that is refused (policy O14a).
func (s *state) paused(connection string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return &ordering.RestoredError{Connection: connection, Since: s.pausedAt}
}

// run runs commit.lua for a change on the server that has its keys. With wait it
// waits for so many replicas and returns how many have the change, else -1.
//
// WAIT covers what its own connection has written, so both go down one pipeline.
func (j *Journal) run(ctx context.Context, c *change, wait int, limit time.Duration) (reply, int, error) {
	s := j.state(c.connection())
	known := j.remembered(s)
	arguments := c.arguments(known)
	var (
		done         *redis.Cmd
		acknowledged = -1
		err          error
	)
	if wait == 0 {
		done = j.scripts.commit.Run(ctx, j.write, c.keys, arguments...)
	} else if done, acknowledged, err = j.evalAndWait(ctx, c.keys, arguments, wait, limit); err != nil {
		return reply{}, 0, err
	}
	r, err := readReply(done)
	if err == nil {
		j.learn(s, r, c.mode, known, acknowledged)
	}
	return r, acknowledged, err
}
