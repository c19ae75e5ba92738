package journal

import (
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
	// mark in as many replicas as the rule requires (policy O14a).
	epoch string
	mark  int64
	// candidate is the epoch that this instance proposes where there is none.
	candidate string
	// replicated: a replica has acknowledged a write of this connection (policy O14).
	replicated bool
	pausedAt   time.Time // zero: creates are not paused
	missing    int64     // commits that were found lost and only reported
	accepted   bool      // a restore was accepted automatically; Watch has not reported it
	// failing: the last WAIT was not acknowledged; openings are rejected until
	// a probe is.
	failing bool
	probing bool
	probed  time.Time

	verdict verdict
	script  *redis.Script
	saved   saved // what the file of state_dir holds
	unsaved bool  // it could not be written
}

// remembered is the part of the state that commit.lua compares.
type remembered struct {
	epoch      string
	mark       int64
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
		s.epoch, s.mark = s.saved.Epoch, s.saved.Mark
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
		epoch: s.epoch, mark: s.mark, candidate: s.candidate, replicated: s.replicated,
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
	behind       int64
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
	var markErr, behindErr error
	r.mark, markErr = strconv.ParseInt(words[2], 10, 64)
	r.behind, behindErr = strconv.ParseInt(words[6], 10, 64)
	if markErr != nil || behindErr != nil {
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

// learn takes what a commit returned that was sent with a remembered mark.
// acknowledged is how many replicas have it, or -1 when nobody waited for any.
func (j *Journal) learn(s *state, r reply, sent int64, acknowledged int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.replicated = s.replicated || r.replicated || acknowledged > 0
	s.pausedAt = time.Time{}
	if r.paused != "" {
		if ms, err := strconv.ParseInt(r.paused, 10, 64); err == nil {
			s.pausedAt = moment(ms)
		}
	}
	if r.epoch == "" || acknowledged < j.requiredLocked(s) && j.requiredLocked(s) > 0 {
		return
	}
	switch {
	case s.epoch == r.epoch && r.behind > 0 && s.pausedAt.IsZero() && s.mark == sent: // only reported
		s.missing += r.behind
		s.mark = r.mark
	case s.epoch == r.epoch && r.mark >= s.mark && r.paused == "":
		s.mark = r.mark
	case s.epoch == "", slices.Contains(strings.Fields(r.predecessors), s.epoch):
		s.epoch, s.mark = r.epoch, r.mark
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
// Each instance has a script of its own, with a nonce: a server that does not
// know it (NOSCRIPT) is one that this instance has not written to since it
// started, or since another was the master. The script is replaced then, so that
// a master that returns is new again.
func (j *Journal) run(ctx context.Context, c *change, wait int, limit time.Duration) (reply, int, error) {
	s := j.state(c.connection())
	script := s.scriptNow()
	call := func(newServer bool) (reply, int, error) {
		known := j.remembered(s)
		arguments := c.arguments(known, newServer)
		done, acknowledged, err := j.eval(ctx, script, newServer, c.keys, arguments, wait, limit)
		if err != nil {
			return reply{}, 0, err
		}
		r, err := readReply(done)
		if err == nil {
			j.learn(s, r, known.mark, acknowledged)
		}
		return r, acknowledged, err
	}
	r, acknowledged, err := call(false)
	if redis.HasErrorPrefix(err, "NOSCRIPT") {
		script = s.replaceScript(script)
		r, acknowledged, err = call(true)
	}
	return r, acknowledged, err
}

// scriptNow returns commit.lua with the nonce of the current master.
func (s *state) scriptNow() *redis.Script {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.script == nil {
		s.script = redis.NewScript(commitSource + "\n-- " + rand.Text())
	}
	return s.script
}

// replaceScript makes another one, unless that was done since used was returned.
func (s *state) replaceScript(used *redis.Script) *redis.Script {
	s.mu.Lock()
	if s.script == used {
		s.script = nil
	}
	s.mu.Unlock()
	return s.scriptNow()
}
