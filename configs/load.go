package configs

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Load reads the configuration: the defaults, over them the YAML file at path,
// over that the LARDER_… variables of env (as os.Environ gives them). An empty
// path reads no file, only defaults and environment.
//
// The error is Errors: everything that is wrong, not only the first.
func Load(path string, env []string, options ...Option) (*Config, error) {
	data, err := readFile(path)
	if err != nil {
		return nil, err
	}
	return Parse(path, data, env, options...)
}

// Option changes how a configuration is read.
type Option func(*loader)

// AllowUnknownKeys makes each key of the file that this version does not know a
// warning instead of an error, so that an older larder starts with the
// configuration of a newer one. A likely misspelling of a known key, and every
// unknown key under auth, remain errors.
func AllowUnknownKeys(l *loader) { l.allowUnknown = true }

// CheckFolders makes a configured folder that exists and is none an error. It
// is for larder check: a larder that serves logs it and goes on.
func CheckFolders(l *loader) { l.checkFolders = true }

// readFile gives the file's text, none for an empty path. The error is Errors.
func readFile(path string) ([]byte, error) {
	if path == "" {
		return nil, nil
	}
	data, err := os.ReadFile(path) //nolint:gosec // G304: the operator names the file
	if errors.Is(err, fs.ErrNotExist) {
		return nil, Errors{{File: path, Msg: "there is no such file: name the configuration with --config, or begin with a copy of configs/larder.yaml"}}
	}
	if err != nil {
		return nil, Errors{{File: path, Msg: fmt.Sprintf("cannot read the configuration: %v", errors.Unwrap(err))}}
	}
	if at := bytes.IndexFunc(data, noText); at >= 0 {
		line := 1 + bytes.Count(data[:at], []byte("\n"))
		return nil, Errors{{File: path, Line: line, Column: at - bytes.LastIndexByte(data[:at], '\n'), Msg: "this is no text: the configuration is YAML in UTF-8, without control characters"}}
	}
	return data, nil
}

// noText tells of what stands in no text, a byte that is no UTF-8 included. A
// terminal would take some of it for commands when it is repeated.
func noText(r rune) bool {
	return r == utf8.RuneError || unicode.IsControl(r) && r != '\n' && r != '\r' && r != '\t'
}

// Parse is Load for YAML text that is already in memory. The name stands in
// the positions of problems, and names of secret files are relative to its folder.
func Parse(name string, data []byte, env []string, options ...Option) (*Config, error) {
	l := newLoader(name, options...)
	cfg := l.parse(data, env)
	if len(l.problems) > 0 {
		return nil, l.sorted()
	}
	return cfg, nil
}

// parse reads and judges; what is wrong is in l.problems.
func (l *loader) parse(data []byte, env []string) *Config {
	cfg := &Config{}
	l.read(data, env, reflect.ValueOf(cfg).Elem())
	if !l.unreadable {
		l.judging = true // what could not be read has been said: no more of it
		cfg.check(l)
	}
	cfg.warnings = l.warnings
	return cfg
}

// Default is the configuration of an empty file and an empty environment.
func Default() *Config {
	cfg := &Config{}
	setDefaults(reflect.ValueOf(cfg).Elem())
	return cfg
}

// read fills the struct that v addresses from all sources, without judging values.
func (l *loader) read(data []byte, env []string, v reflect.Value) {
	setDefaults(v)
	l.fillFile(data, v)
	l.overlay(env, v)
	l.readSecrets(v, lookup(env))
}

func lookup(env []string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		for _, entry := range slices.Backward(env) {
			if key, value, ok := strings.Cut(entry, "="); ok && key == name {
				return value, true
			}
		}
		return "", false
	}
}

// sorted puts the problems into the order of the file.
func (l *loader) sorted() Errors {
	slices.SortStableFunc(l.problems, (*Error).compare)
	return l.problems
}

// relative finds a file that the configuration names: from the folder of the
// configuration itself, not from wherever larder was started.
func (l *loader) relative(name string) string {
	if filepath.IsAbs(name) || l.folder == "" {
		return name
	}
	return filepath.Join(l.folder, name)
}
