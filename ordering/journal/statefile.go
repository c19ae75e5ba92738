package journal

import (
	"encoding/json"
	"errors"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"

	"github.com/sirupsen/logrus"
)

// saved is what a file of ordering.state_dir holds: an epoch and marks that Redis,
// and as many replicas as required, had and must still have (policy O14a).
// Instance names this instance in Redis; Own is the mark of its last commit.
type saved struct {
	Epoch    string `json:"epoch"`
	Mark     int64  `json:"mark"`
	Instance string `json:"instance"`
	Own      int64  `json:"own"`
}

func (m *memory) stateFile(connection string) string {
	return filepath.Join(m.cfg.StateDir, "journal-"+url.PathEscape(connection)+".json")
}

// load reads what an earlier process remembered. A file that cannot be read is
// logged; nothing is remembered then.
func (m *memory) load(connection string) saved {
	if m.cfg.StateDir == "" {
		return saved{}
	}
	var kept saved
	_ = os.MkdirAll(m.cfg.StateDir, 0o700) // save tells when there is none
	text, err := os.ReadFile(m.stateFile(connection))
	if err == nil {
		err = json.Unmarshal(text, &kept)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		m.log.WithFields(logrus.Fields{"event": "journal.state_file_not_read", "connection": connection}).WithError(err).
			Error("ordering.state_dir cannot be read: a Redis that was restored while larder was stopped is not detected")
		return saved{}
	}
	return kept
}

// save writes what is remembered now, when it has changed. Its caller is Watch,
// once per second and at the end; until then the file holds less, never more
// than is true: a process that is killed forgets its last second.
func (m *memory) save(connection string, s *state) {
	s.mu.Lock()
	next, last := s.saved, s.inFile
	s.mu.Unlock()
	if m.cfg.StateDir == "" || next == last || next.Epoch == "" {
		return
	}
	text, err := json.Marshal(next)
	if err == nil {
		err = replaceFile(m.stateFile(connection), text)
	}
	s.mu.Lock()
	failedBefore := s.unsaved
	if s.unsaved = err != nil; err == nil {
		s.inFile = next
	}
	s.mu.Unlock()
	if err != nil && !failedBefore {
		m.log.WithFields(logrus.Fields{"event": "journal.state_file_not_saved", "connection": connection}).WithError(err).
			Error("ordering.state_dir cannot be written: a Redis that is restored while larder is stopped may not be detected")
	}
}

// replaceFile writes a file that is there either as before or whole, also after
// a power cut.
func replaceFile(path string, text []byte) error {
	file, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(file.Name()) }() // it is gone when it was renamed
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
