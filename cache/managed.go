package cache

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/sirupsen/logrus"
)

const (
	// managedFolder stands in redis.data_dir; nobody but larder's user may look
	// into it, for the records of orders hold guests' data.
	managedFolder = "redis"
	socketFile    = "redis.sock"
	logFile       = "redis.log"
	lockFile      = "larder.lock" // held by the larder that looks after the server
	guardFile     = "redis.lock"  // held by the server itself, as long as it lives
	// maxSocket is the longest name of a Unix socket that every system takes, in
	// bytes.
	maxSocket = 103

	// firstWithin bounds the wait for the first answer of a server that starts.
	firstWithin = 10 * time.Second
	// loadedWithin bounds the wait until it has read its data. Longer, and larder
	// goes on: commands fail with ErrUnavailable until it has.
	loadedWithin = 2 * time.Minute
	// progressEvery is how often the log says how far the loading is.
	progressEvery = 5 * time.Second
	// managedTick is how often the server is looked at.
	managedTick = 250 * time.Millisecond
	// startingTick is how often a server that starts is asked.
	startingTick = 10 * time.Millisecond
	// firstRestart and lastRestart bound the pause before a server that died is
	// started again.
	firstRestart = 500 * time.Millisecond
	lastRestart  = 30 * time.Second
	// stopWithin is how long the server may take to stop. Then it is killed, which
	// its append-only file stands as it stands a power cut.
	stopWithin = 4 * time.Second
	// maxLog is from what size on the server's log is begun anew, in bytes.
	maxLog = 1 << 20
)

// managed is a redis-server that larder starts, looks after, and stops. It
// listens on a Unix socket alone, and it outlives a larder that is killed: the
// next one takes it over.
type managed struct {
	dir    string // absolute
	log    logrus.FieldLogger
	lock   *os.File // nil for a visitor, who neither starts nor stops the server
	client *redis.Client

	mu    sync.Mutex
	pid   int  // of the server, 0 while there is none
	child bool // started here, so that it must be waited for
}

// openManaged starts the server or takes over the one that runs. A visitor uses
// one that another larder looks after, and leaves it as it is.
//
// Errors: *ConfigError for a folder or a program that is of no use; otherwise
// what the server said when it did not start.
func openManaged(ctx context.Context, dataDir string, visitor bool, log logrus.FieldLogger) (*managed, error) {
	m := &managed{log: log}
	if err := m.prepare(dataDir); err != nil {
		return nil, err
	}
	m.client = redis.NewClient(withLimits(redis.UniversalOptions{Addrs: []string{m.socket()}, PoolSize: 1}, noRetries).Simple())
	err := m.take()
	var inUse *ConfigError
	if visitor && errors.As(err, &inUse) && m.lock == nil && listens(ctx, m.socket()) {
		return m, nil
	}
	if err == nil {
		err = m.ensure(ctx)
	}
	if err == nil {
		err = m.loaded(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, m.close()) //nolint:contextcheck // the end is bounded by itself
	}
	return m, nil
}

// prepare makes the folder, for larder's user alone.
func (m *managed) prepare(dataDir string) error {
	dir, err := filepath.Abs(filepath.Join(dataDir, managedFolder))
	if err == nil {
		err = os.MkdirAll(dir, 0o700)
	}
	if err == nil {
		err = os.Chmod(dir, 0o700) //nolint:gosec // a folder that nobody may enter is of no use
	}
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir) // as the server will call it
	}
	if err != nil {
		return &ConfigError{Key: "redis.data_dir", Msg: "cannot be made larder's own: " + err.Error()}
	}
	m.dir = dir
	if n := len(m.socket()); n > maxSocket {
		return &ConfigError{Key: "redis.data_dir", Msg: fmt.Sprintf(
			"is too deep: the name of the Unix socket %s has %d bytes, a system takes %d; choose a shorter path", m.socket(), n, maxSocket)}
	}
	return nil
}

func (m *managed) socket() string { return filepath.Join(m.dir, socketFile) }

// take takes the folder's lock, so that no two larders look after one server.
func (m *managed) take() error {
	path := filepath.Join(m.dir, lockFile)
	file, holder, err := lockFileOnce(path)
	if err == nil && file != nil {
		err = sign(file, os.Getpid())
	}
	switch {
	case err != nil:
		return &ConfigError{Key: "redis.data_dir", Msg: "cannot be locked: " + err.Error()}
	case file == nil:
		return &ConfigError{Key: "redis.data_dir", Msg: fmt.Sprintf(
			"%s is in use by another larder (process %s): give each a folder of its own, or let them share one Redis by redis.url", m.dir, holder)}
	}
	m.lock = file
	return nil
}

// ensure makes sure that a server of this folder runs: the one that listens, or
// a new one as soon as no other has the folder's data. One that lives and cannot
// be reached is neither: two would write the same append-only file.
func (m *managed) ensure(ctx context.Context) error {
	waiting, cancel := context.WithTimeout(ctx, firstWithin)
	defer cancel()
	ticker := time.NewTicker(startingTick)
	defer ticker.Stop()
	for {
		if listens(ctx, m.socket()) {
			return m.adopt(ctx)
		}
		guard, holder, err := lockFileOnce(m.guard())
		if err != nil {
			return fmt.Errorf("cache: lock the data of redis-server: %w", err)
		}
		if guard != nil {
			return errors.Join(m.start(ctx, guard), guard.Close()) // from now on the server's
		}
		select {
		case <-waiting.Done():
			return fmt.Errorf("cache: a redis-server (process %s) has the data in %s and takes no connections on %s; see why, or end it: %w",
				holder, m.dir, socketFile, waiting.Err())
		case <-ticker.C:
		}
	}
}

func (m *managed) guard() string { return filepath.Join(m.dir, guardFile) }

func (m *managed) logPath() string { return filepath.Join(m.dir, logFile) }

// adopt takes over the server that runs, which an earlier larder has left.
func (m *managed) adopt(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, firstWithin)
	defer cancel()
	for _, setting := range m.settings() {
		found, err := m.client.ConfigGet(ctx, setting.name).Result()
		if err != nil {
			return fmt.Errorf("cache: a server listens on %s but does not say what it is (stop it, or see why it hangs): %w", m.socket(), err)
		}
		if found[setting.name] != setting.value {
			return fmt.Errorf("cache: a server listens on %s that is not larder's: its %s is %q, not %q; stop it, or choose another redis.data_dir",
				m.socket(), setting.name, found[setting.name], setting.value)
		}
	}
	pid, err := serverPID(ctx, m.client)
	if err != nil {
		return fmt.Errorf("cache: ask the server on %s for its process: %w", m.socket(), err)
	}
	m.runs(pid, false)
	m.say("redis.managed_adopted").Info("the redis-server of an earlier larder is taken over")
	return nil
}

// setting is one directive of the server.
type setting struct{ name, value string }

// settings are those that make a server larder's own.
func (m *managed) settings() []setting {
	return []setting{
		{"dir", m.dir},
		{"unixsocket", m.socket()},
		{"port", "0"},
		{"appendonly", "yes"},
		{"maxmemory-policy", "noeviction"}, // what orders need (policy O14)
	}
}

// start starts the server, which keeps the guard locked as long as it lives, and
// waits until it answers anything at all.
func (m *managed) start(ctx context.Context, guard *os.File) error {
	binary, err := findServer()
	if err != nil {
		return err
	}
	// Nobody listens there: what stands in the way is a dead server's.
	if err := os.Remove(m.socket()); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("cache: remove the socket of a dead server: %w", err)
	}
	arguments := []string{"--unixsocketperm", "700", "--daemonize", "no", "--save", ""}
	for _, setting := range m.settings() {
		arguments = append(arguments, "--"+setting.name, setting.value)
	}
	pid, err := spawn(binary, arguments, m.dir, m.logPath(), guard)
	if err != nil {
		return fmt.Errorf("cache: start %s: %w", binary, err)
	}
	m.runs(pid, true)
	if err := sign(guard, pid); err != nil {
		return fmt.Errorf("cache: note the process of %s: %w", binary, err)
	}
	ctx, cancel := context.WithTimeout(ctx, firstWithin)
	defer cancel()
	ticker := time.NewTicker(startingTick)
	defer ticker.Stop()
	for !listens(ctx, m.socket()) {
		select {
		case <-ctx.Done():
			return fmt.Errorf("cache: %s does not answer on %s: %w", binary, m.socket(), ctx.Err())
		case <-ticker.C:
		}
		if !m.alive(ctx) {
			return fmt.Errorf("cache: %s ended at its start: %s", binary, lastWords(m.logPath()))
		}
	}
	m.say("redis.managed_started").WithField("binary", binary).Info("redis-server started")
	return nil
}

// loaded waits until the server has read its data.
func (m *managed) loaded(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, loadedWithin)
	defer cancel()
	ticker := time.NewTicker(startingTick)
	defer ticker.Stop()
	said := time.Now()
	for {
		err := m.client.Ping(ctx).Err()
		if err == nil {
			return nil
		}
		if !m.alive(ctx) {
			return fmt.Errorf("cache: redis-server ended while it loaded its data: %s", lastWords(m.logPath()))
		}
		if time.Since(said) >= progressEvery {
			said = time.Now()
			progress := infoField(m.client.Info(ctx, "persistence").Val(), "loading_loaded_perc")
			m.say("redis.managed_loading").WithField("percent", progress).Info("redis-server loads its data")
		}
		select {
		case <-ctx.Done():
			if errors.Is(ctx.Err(), context.Canceled) {
				return fmt.Errorf("cache: wait for redis-server: %w", ctx.Err())
			}
			m.say("redis.managed_slow").WithError(err).Warn("redis-server is not ready yet; larder goes on without it until it is")
			return nil
		case <-ticker.C:
		}
	}
}

// run looks after the server until ctx ends: one that died is started again.
func (m *managed) run(ctx context.Context) {
	if m.lock == nil {
		<-ctx.Done()
		return
	}
	ticker := time.NewTicker(managedTick)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		was := m.process()
		if !m.alive(ctx) && ctx.Err() == nil {
			m.say("redis.managed_died").WithFields(logrus.Fields{"pid": was, "said": lastWords(m.logPath())}).Error("redis-server has ended; it is started again")
			m.revive(ctx)
		}
	}
}

// revive starts the server again and again, with pauses that grow, until it
// answers or ctx ends.
func (m *managed) revive(ctx context.Context) {
	failed := false
	for pause := firstRestart; ctx.Err() == nil; pause = min(2*pause, lastRestart) {
		err := m.ensure(ctx)
		if err == nil {
			return
		}
		if !failed && ctx.Err() == nil {
			failed = true // said once; that it answers again is said too
			m.say("redis.managed_failed").WithError(err).Error("redis-server cannot be started; it is tried on")
		}
		m.end()                                           //nolint:contextcheck // the end is bounded by itself
		timer := time.NewTimer(pause/2 + rand.N(pause/2)) //nolint:gosec // no secret
		select {
		case <-ctx.Done():
			timer.Stop()
		case <-timer.C:
		}
	}
}

// close stops the server, unless it is another larder's, and lets go of the folder.
func (m *managed) close() error {
	err := m.client.Close()
	if m.lock == nil {
		return err
	}
	m.end()
	return errors.Join(err, m.lock.Close()) // closed is unlocked
}

// end stops the server and waits until it is gone.
func (m *managed) end() {
	if pid := m.process(); pid != 0 && !m.endBy(func() { terminate(pid) }) {
		m.say("redis.managed_killed").Warn("redis-server did not stop in time and is killed")
		m.endBy(func() { kill(pid) })
	}
}

// endBy asks the server to end and tells whether it did in time. Whoever wanted
// the server may be gone: the wait is bounded by itself.
func (m *managed) endBy(ask func()) bool {
	ctx, cancel := context.WithTimeout(context.Background(), stopWithin)
	defer cancel()
	if !m.alive(ctx) {
		return true
	}
	ask()
	ticker := time.NewTicker(startingTick)
	defer ticker.Stop()
	for m.alive(ctx) {
		select {
		case <-ctx.Done():
			return false
		case <-ticker.C:
		}
	}
	return true
}

// alive tells whether the server's process is there. Of one that was taken over
// its lock tells or, where it was not larder that started it, the socket: a
// frozen one soon takes no connections any more, and lives.
func (m *managed) alive(ctx context.Context) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.pid == 0 {
		return false
	}
	var there bool
	if m.child {
		there = !reaped(m.pid)
	} else {
		there = exists(m.pid) && (locked(m.guard()) || listens(context.WithoutCancel(ctx), m.socket()))
	}
	if !there {
		m.pid = 0
	}
	return there
}

func (m *managed) runs(pid int, child bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.pid, m.child = pid, child
}

func (m *managed) process() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.pid
}

func (m *managed) say(event string) logrus.FieldLogger {
	return m.log.WithFields(logrus.Fields{"event": event, "pid": m.process(), "dir": m.dir})
}
