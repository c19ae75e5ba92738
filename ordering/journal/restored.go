package journal

import (
	"cmp"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/sirupsen/logrus"

	"larder.local/internal/smallfile"
	"larder.local/ordering"
)

// history has the commits that this instance has seen. Each commit compares them with those that Redis has (restored.lua,
// policy O14a).
type history struct {
	cfg *ordering.Config
	log logrus.FieldLogger

	mu     sync.Mutex
	states map[string]*state // by connection
}

// state is what this instance remembers about one connection's history.
type state struct {
	mu sync.Mutex
	remembered

	pausedAt time.Time // zero without a pause
	missing  int64     // how many times lost commits were only reported
	accepted bool      // a restore was accepted automatically and is not reported yet

	inFile  saved       // content of the file in state_dir
	unsaved bool        // the file could not be written
	writing atomic.Bool // the file is being written
}

// saveLimit is the longest that anything waits for a write of the file in state_dir.
const saveLimit = 5 * time.Second

// remembered is the part of the state that restored.lua compares.
type remembered struct {
	// saved has the mark that as many replicas have as the rule requires.
	saved
	// seen is the highest mark of all replies. Later commits get higher marks on any master.
	seen int64
	// candidate is the epoch that this instance proposes if Redis has no epoch.
	candidate string
	// replicated is true once a replica has acknowledged a write of this connection (policy O14).
	replicated bool
}

// state returns the state of a connection.
func (h *history) state(connection string) *state {
	h.mu.Lock()
	defer h.mu.Unlock()
	s := h.states[connection]
	if s == nil {
		kept := h.load(connection)
		s = &state{inFile: kept, remembered: remembered{saved: kept, seen: kept.Mark, candidate: rand.Text()}}
		s.Instance = cmp.Or(kept.Instance, rand.Text())
		h.states[connection] = s
	}
	return s
}

// restoreAccepted reports whether lost data of Redis is accepted without an operator (policy O14a).
func (h *history) restoreAccepted() bool { return *h.cfg.AcceptRestore }

func (s *state) known() remembered {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.remembered
}

// reply is the result of commit.lua.
type reply struct {
	refused      bool // new calls are paused
	now          time.Time
	epoch        string
	mark         int64
	predecessors []string
	pausedAt     time.Time
	replicated   bool
	behind       bool

	acknowledged int    // number of Redis replicas that acknowledged; -1 if no WAIT was sent
	waitRefused  string // how Redis refused WAIT, "" if it did not
}

func readReply(cmd *redis.Cmd) (reply, error) {
	text, err := cmd.Text()
	if err != nil {
		return reply{}, err
	}
	words := slices.AppendSeq(make([]string, 0, 8), strings.SplitSeq(text, ","))
	switch {
	case text == "0":
		return reply{}, errMoved
	case words[0] == "0":
		return reply{}, &keyError{strings.TrimPrefix(text, "0,")}
	case len(words) != 8:
		return reply{}, fmt.Errorf("%w: commit.lua returned %d values", errCorrupt, len(words))
	}
	now, wrongTime := strconv.ParseInt(words[1], 10, 64)
	mark, wrongMark := strconv.ParseInt(words[3], 10, 64)
	if wrongTime != nil || wrongMark != nil {
		return reply{}, fmt.Errorf("%w: time or mark", errCorrupt)
	}
	return reply{
		refused:      words[0] == "2",
		now:          moment(now),
		epoch:        words[2],
		mark:         mark,
		predecessors: strings.Fields(words[4]),
		pausedAt:     pausedSince(words[5]),
		replicated:   words[6] == yes,
		behind:       words[7] == yes,
	}, nil
}

// pausedSince parses the field paused of a connection's state.
func pausedSince(text string) time.Time {
	if text == "" {
		return time.Time{}
	}
	ms, _ := strconv.ParseInt(text, 10, 64)
	return moment(max(ms, 1)) // any value means a pause
}

// learn updates the state from a reply of commit.lua. mode is the script's mode, and known what the instance
// remembered before.
func (h *history) learn(s *state, r reply, mode string, known remembered) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.replicated = s.replicated || r.replicated || r.acknowledged > 0
	s.seen = max(s.seen, r.mark)
	s.pausedAt = r.pausedAt
	if enough := required(h.cfg, s.remembered); r.epoch == "" || enough > 0 && r.acknowledged < enough {
		return // only what enough replicas have is remembered
	}
	own := int64(0)
	if (mode == modeBegin || mode == modeCommit) && !r.refused {
		own = r.mark
	}
	switch {
	case s.Epoch == r.epoch && r.behind && s.pausedAt.IsZero(): // Redis lacks commits, and the configuration only reports it
		if s.Mark == known.Mark && s.Own == known.Own {
			s.missing++
			s.Mark, s.Own = r.mark, own
		}
	case s.Epoch == r.epoch && r.pausedAt.IsZero(): // the usual reply
		s.Mark, s.Own = max(s.Mark, r.mark), max(s.Own, own)
	case s.Epoch == "", slices.Contains(r.predecessors, s.Epoch): // the first reply, or a restore was accepted
		s.Epoch, s.Mark, s.Own = r.epoch, r.mark, own
	}
	// Otherwise new calls are paused, or the epoch is not known: what is remembered proves the loss, so it stays.
}

// saved is the content of a file in ordering.state_dir: an epoch and marks that Redis, and as many
// replicas as required, had and must still have (policy O14a). Instance is the name of this
// instance in Redis; Own is the mark of its last commit.
type saved struct {
	Epoch    string `json:"epoch"`
	Mark     int64  `json:"mark"`
	Instance string `json:"instance"`
	Own      int64  `json:"own"`
}

func (h *history) stateFile(connection string) string {
	return filepath.Join(h.cfg.StateDir, "journal-"+url.PathEscape(connection)+".json")
}

// load reads the file of an earlier process. If that fails, it logs the error and returns nothing.
func (h *history) load(connection string) saved {
	if h.cfg.StateDir == "" {
		return saved{}
	}
	var kept saved
	text, err := smallfile.Read(h.stateFile(connection))
	if err == nil {
		err = json.Unmarshal(text, &kept)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		h.log.WithFields(logrus.Fields{"event": "journal.state_file_not_read", "connection": connection}).WithError(err).
			Error("ordering.state_dir cannot be read: a restore of Redis while larder was stopped is not detected")
		return saved{}
	}
	return kept
}

// save writes the remembered marks if they have changed. Watch calls it once per second and at the
// end. A process that is killed loses the last second; the file never contains more than is true.
func (h *history) save(connection string, s *state) {
	s.mu.Lock()
	next, last := s.saved, s.inFile
	s.mu.Unlock()
	if h.cfg.StateDir == "" || next == last || next.Epoch == "" || !s.writing.CompareAndSwap(false, true) {
		return // nothing to write, or an earlier write hangs
	}
	done := make(chan error, 1)
	go func() {
		text, err := json.Marshal(next)
		if err == nil {
			err = errors.Join(os.MkdirAll(h.cfg.StateDir, 0o700), replaceFile(h.stateFile(connection), text))
		}
		s.writing.Store(false)
		done <- err
	}()
	var err error
	select {
	case err = <-done:
	case <-time.After(saveLimit):
		err = fmt.Errorf("the file was not written within %s: check the file system", saveLimit)
	}
	s.mu.Lock()
	failedBefore := s.unsaved
	if s.unsaved = err != nil; err == nil {
		s.inFile = next
	}
	s.mu.Unlock()
	if err != nil && !failedBefore {
		h.log.WithFields(logrus.Fields{"event": "journal.state_file_not_saved", "connection": connection}).WithError(err).
			Error("ordering.state_dir cannot be written: a restore of Redis while larder is stopped may not be detected")
	}
}

// replaceFile replaces a file atomically, even if the power fails.
func replaceFile(path string, text []byte) error {
	file, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(file.Name()) }() // fails after the rename
	_, err = file.Write(text)
	if err = errors.Join(err, file.Sync(), file.Close()); err != nil {
		return err
	}
	if err := os.Rename(file.Name(), path); err != nil {
		return err
	}
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}
