package redistest

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
)

// CutReplication keeps the server, a replica, from following any master: the
// connection is closed, and the master refuses new ones. Clients, Sentinels and the
// cluster's bus still reach the server.
func (s *Server) CutReplication(ctx context.Context) error {
	return s.setReplication(ctx, "nobody", "wrong")
}

// RestoreReplication ends CutReplication.
func (s *Server) RestoreReplication(ctx context.Context) error {
	return s.setReplication(ctx, "", s.password)
}

func (s *Server) setReplication(ctx context.Context, user, password string) error {
	client := s.once()
	err := errors.Join(
		client.ConfigSet(ctx, "masteruser", user).Err(),
		client.ConfigSet(ctx, "masterauth", password).Err(),
		client.Do(ctx, "CLIENT", "KILL", "TYPE", "master").Err())
	if s.keepConfig { // a Sentinel may have made it save the other user
		err = errors.Join(err, client.ConfigRewrite(ctx).Err())
	}
	return errors.Join(err, client.Close())
}

// IsMaster reports whether the server responds and considers itself a master.
func (s *Server) IsMaster(ctx context.Context) bool {
	return strings.Contains(s.Info(ctx, "replication"), "role:master")
}

// LogPath returns the path of the log of the server's last start.
func (s *Server) LogPath() string { return filepath.Join(s.dir, "redis.log") }

// dataFiles returns the data files of a server with AppendOnly, of all versions.
func dataFiles() []string { return []string{"appendonlydir", "appendonly.aof", "dump.rdb"} }

// Backup copies the data of a running server into the folder dir.
func (s *Server) Backup(dir string) error {
	for _, name := range dataFiles() {
		from, to := filepath.Join(s.dir, name), filepath.Join(dir, name)
		about, err := os.Stat(from)
		switch {
		case errors.Is(err, os.ErrNotExist):
		case err != nil:
			return err
		case about.IsDir():
			err = os.CopyFS(to, os.DirFS(from))
		default:
			var body []byte
			if body, err = os.ReadFile(from); err == nil {
				err = errors.Join(os.MkdirAll(dir, 0o700), os.WriteFile(to, body, 0o600))
			}
		}
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return nil
}

// RestoreBackup replaces the data of a stopped server with a Backup. Without a
// folder the server loses its data.
func (s *Server) RestoreBackup(dir string) error {
	if s.running() {
		return errors.New("the server runs")
	}
	for _, name := range dataFiles() {
		if err := os.RemoveAll(filepath.Join(s.dir, name)); err != nil {
			return err
		}
	}
	if dir == "" {
		return nil
	}
	return os.CopyFS(s.dir, os.DirFS(dir))
}

// Signal sends a signal to the server's process, such as syscall.SIGSTOP to freeze
// it and syscall.SIGCONT to continue it. It does nothing if the server is stopped.
func (s *Server) Signal(signal os.Signal) {
	s.tb.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.process == nil {
		return
	}
	if err := s.process.cmd.Process.Signal(signal); err != nil {
		s.tb.Errorf("redistest: %v: %v", signal, err)
	}
}
