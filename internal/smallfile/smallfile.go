// Package smallfile reads the files that a configuration names: secrets, keys, certificates and the state of the journal (policy H12).
//
// Its invariant: a read ends, whatever the name is. A pipe, a device or a file system that does not respond
// must not stop a reload or the end of the process. The package knows no settings.
package smallfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"time"
	"unicode"
)

const (
	// MaxBytes is the maximum size of a secret, a key or a file of certificates.
	MaxBytes = 64 << 10
	// maxConfiguration is the maximum size of a configuration.
	maxConfiguration = 256 << 20
	// limit is the maximum time of a read.
	limit = 5 * time.Second
)

var (
	errNotRegular = errors.New("is not a regular file: use the path of a file, not of a folder, pipe, socket or device")
	errSlow       = fmt.Errorf("was not read within %s: check the file system, or what writes to it", limit)
	errControl    = errors.New("contains a control character, such as a tab or a second line: a secret is one line of text in UTF-8")
	errEmpty      = errors.New("is empty: write the secret to it")
)

// Read returns the content of a regular file of at most MaxBytes. It follows links.
func Read(name string) ([]byte, error) {
	return within(name, MaxBytes, func() (*os.File, error) {
		info, err := os.Stat(name) // first: to open a device or a pipe may have effects
		if err == nil && !info.Mode().IsRegular() {
			return nil, errNotRegular
		}
		return os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	})
}

// Secret returns the secret in a file, without a byte order mark and one line end.
func Secret(name string) (string, error) {
	content, err := Read(name)
	if err != nil {
		return "", err
	}
	text, ended := strings.CutSuffix(strings.TrimPrefix(string(content), "\ufeff"), "\n")
	if ended {
		text = strings.TrimSuffix(text, "\r")
	}
	switch {
	case strings.TrimSpace(text) == "":
		return "", fmt.Errorf("%s %w", name, errEmpty)
	case strings.ContainsFunc(text, unicode.IsControl):
		return "", fmt.Errorf("%s %w", name, errControl)
	}
	return text, nil
}

// Configuration returns the content of a configuration, which may be a pipe at the start of larder.
func Configuration(name string) ([]byte, error) {
	return within(name, maxConfiguration, func() (*os.File, error) { return os.Open(name) })
}

// OpenToOthers reports whether users outside the file's group can read or change it. It does not look at the folders above.
func OpenToOthers(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.Mode().Perm()&0o006 != 0
}

// within returns the content of a file, or an error after the limit. Then its goroutine stays until the system ends the
// read. Every error has the name of the file.
func within(name string, most int64, open func() (*os.File, error)) (content []byte, err error) {
	done := make(chan struct{})
	var got []byte
	var failed error
	go func() {
		defer close(done)
		var file *os.File
		if file, failed = open(); failed == nil {
			got, failed = io.ReadAll(io.LimitReader(file, most+1))
			_ = file.Close() // it was only read
		}
	}()
	select {
	case <-done:
		content, err = got, failed
	case <-time.After(limit):
		err = errSlow
	}
	if int64(len(content)) > most {
		content, err = nil, fmt.Errorf("has more than %d bytes", most)
	}
	if _, named := errors.AsType[*fs.PathError](err); err != nil && !named {
		err = fmt.Errorf("%s %w", name, err)
	}
	return content, err
}
