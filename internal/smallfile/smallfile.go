// Package smallfile reads the files that a configuration names: secrets, keys and certificates (policy H12).
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
	return within(name, func() ([]byte, error) {
		info, err := os.Stat(name) // first: to open a device or a pipe may have effects
		if err == nil && !info.Mode().IsRegular() {
			return nil, errNotRegular
		}
		file, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
		if err != nil {
			return nil, err
		}
		defer func() { _ = file.Close() }() // it was only read
		if info, err = file.Stat(); err == nil && !info.Mode().IsRegular() {
			err = errNotRegular
		}
		if err != nil {
			return nil, err
		}
		return atMost(file, MaxBytes)
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
	case text == "":
		return "", fmt.Errorf("%s %w", name, errEmpty)
	case strings.ContainsFunc(text, unicode.IsControl):
		return "", fmt.Errorf("%s %w", name, errControl)
	}
	return text, nil
}

// Configuration returns the content of a configuration, which may be a pipe at the start of larder.
func Configuration(name string) ([]byte, error) {
	return within(name, func() ([]byte, error) {
		file, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		defer func() { _ = file.Close() }() // it was only read
		return atMost(file, maxConfiguration)
	})
}

// ReadableByOthers reports whether users outside the file's group can read it. It does not look at the folders above.
func ReadableByOthers(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.Mode().Perm()&0o004 != 0
}

func atMost(from io.Reader, most int64) ([]byte, error) {
	content, err := io.ReadAll(io.LimitReader(from, most+1))
	if int64(len(content)) > most {
		return nil, fmt.Errorf("has more than %d bytes", most)
	}
	return content, err
}

// within returns the result of read, or an error after the limit. Then the goroutine of read stays until the system
// ends the read. Every error has the name of the file.
func within(name string, read func() ([]byte, error)) (content []byte, err error) {
	done := make(chan struct{})
	var got []byte
	var failed error
	go func() {
		defer close(done)
		got, failed = read()
	}()
	select {
	case <-done:
		content, err = got, failed
	case <-time.After(limit):
		err = errSlow
	}
	if _, named := errors.AsType[*fs.PathError](err); err != nil && !named {
		err = fmt.Errorf("%s %w", name, err)
	}
	return content, err
}
