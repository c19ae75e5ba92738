package configs

import (
	"bytes"
	"cmp"
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
// over that the LARDER_… variables of env (as os.Environ returns them). An empty
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

// Parse is Load for YAML text that is already in memory. The name is that of the
// positions of problems, and names of secret files are relative to its folder.
func Parse(name string, data []byte, env []string, options ...Option) (*Config, error) {
	l := newLoader(name, env, options...)
	cfg := l.parse(data)
	if len(l.problems) > 0 {
		return nil, l.problems.sorted()
	}
	return cfg, nil
}

// Option changes how a configuration is read.
type Option func(*loader)

// AllowUnknownKeys makes each key of the file that this version does not know a
// warning instead of an error, so that an older larder starts with the
// configuration of a newer one. A likely misspelling of a known key, and every
// unknown key under auth, remain errors.
func AllowUnknownKeys(l *loader) { l.allowUnknown = true }

// CheckFolders makes a configured folder that exists and is none an error. It
// is for larder check: larder serve logs it and goes on.
func CheckFolders(l *loader) { l.checkFolders = true }

// readFile returns the file's text, none for an empty path. The error is Errors.
func readFile(path string) ([]byte, error) {
	if path == "" {
		return nil, nil
	}
	place := Place{File: path}
	data, err := os.ReadFile(path) //nolint:gosec // G304: the operator names the file
	switch at := bytes.IndexFunc(data, invalidText); {
	case errors.Is(err, fs.ErrNotExist):
		return nil, Errors{{Place: place, Msg: "the file does not exist: check the path, or create it with larder init"}}
	case err != nil:
		return nil, Errors{{Place: place, Msg: fmt.Sprintf("cannot read the configuration: %v", errors.Unwrap(err))}}
	case at >= 0:
		place.Line = 1 + bytes.Count(data[:at], []byte("\n"))
		place.Column = at - bytes.LastIndexByte(data[:at], '\n')
		return nil, Errors{{Place: place, Msg: "invalid character: the configuration must be YAML in UTF-8, without control characters"}}
	default:
		return data, nil
	}
}

// invalidText reports whether the character, or a byte that is not UTF-8, cannot
// stand in a text: a terminal may take it for a command when it is repeated.
func invalidText(r rune) bool {
	return r == utf8.RuneError || unicode.IsControl(r) && r != '\n' && r != '\r' && r != '\t'
}

// loader carries one Load: what is wrong, and where each key is.
type loader struct {
	file     string // as positions name it
	env      []string
	places   places
	problems Errors
	warnings []string

	allowUnknown bool // unknown keys are warnings
	checkFolders bool // ordering.state_dir is looked at

	unreadable bool            // the file is no YAML: nothing is known of its values
	unread     map[string]bool // paths whose values could not be read, and have their defaults
	checking   bool            // reading is over; errors of what was not read are no news
}

func newLoader(path string, env []string, options ...Option) *loader {
	l := &loader{file: path, env: env, places: places{"": {File: path}}, unread: map[string]bool{}}
	for _, option := range options {
		option(l)
	}
	return l
}

// parse reads and checks; what is wrong is in l.problems.
func (l *loader) parse(data []byte) *Config {
	cfg := &Config{}
	l.read(data, reflect.ValueOf(cfg).Elem())
	if !l.unreadable {
		l.checking = true
		cfg.check(l)
	}
	cfg.warnings = l.warnings
	return cfg
}

// read fills the struct that v addresses from all sources, without checking values.
func (l *loader) read(data []byte, v reflect.Value) {
	setDefaults(v)
	tree := l.readYAML(data)
	l.readEnvironment(tree, v)
	l.fill("", tree, v)
}

// problemAt reports what is wrong with a key. While the sources are read that
// also means that its value is not known.
func (l *loader) problemAt(at Place, key, format string, args ...any) {
	if l.checking && l.isUnread(key) {
		return
	}
	if !l.checking && key != "" {
		l.unread[key] = true
	}
	l.problems = append(l.problems, &Error{Place: at, Key: key, Msg: fmt.Sprintf(format, args...)})
}

// problem reports what is wrong with a key that was read, at its place.
func (l *loader) problem(key, format string, args ...any) {
	l.problemAt(l.places.find(key), key, format, args...)
}

// isUnread reports whether the value of the key, or of a section around it, could
// not be read.
func (l *loader) isUnread(path string) bool {
	for ; path != ""; path = parentPath(path) {
		if l.unread[path] {
			return true
		}
	}
	return l.unread[""]
}

// relative returns the path of a file that the configuration names: from the
// folder of the configuration itself, not from where larder was started.
func (l *loader) relative(name string) string {
	if filepath.IsAbs(name) || l.file == "" {
		return name
	}
	return filepath.Join(filepath.Dir(l.file), name)
}

// Error is one thing that is wrong with a configuration. Its JSON has the
// names file, line, column, variable, key and msg.
type Error struct {
	Place
	Key string `json:"key"` // "connections[0].base_url"; empty when it is about no single key
	Msg string `json:"msg"` // what is wrong and what to do

	// Ignorable reports whether AllowUnknownKeys would make it a warning.
	Ignorable bool `json:"-"`
}

// Error returns the problem on one line: where, key, message.
func (p *Error) Error() string {
	parts := []string{p.Place.String(), p.Key, p.Msg}
	return strings.Join(slices.DeleteFunc(parts, func(part string) bool { return part == "" }), ": ")
}

// Errors is every problem that Load found, in the order of the file.
type Errors []*Error

// Error returns the problems, one on each line.
func (p Errors) Error() string {
	lines := make([]string, 0, len(p))
	for _, problem := range p {
		lines = append(lines, problem.Error())
	}
	return strings.Join(lines, "\n")
}

// Unwrap returns the problems for errors.As.
func (p Errors) Unwrap() []error {
	errs := make([]error, 0, len(p))
	for _, problem := range p {
		errs = append(errs, problem)
	}
	return errs
}

// sorted puts the problems into the order of the file, those of the environment last.
func (p Errors) sorted() Errors {
	slices.SortStableFunc(p, func(a, b *Error) int {
		return cmp.Or(strings.Compare(a.Variable, b.Variable), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return p
}

// Place is where a value is given.
type Place struct {
	File     string `json:"file,omitempty"` // as Load was given it
	Line     int    `json:"line,omitempty"` // from 1; 0 when no place in the file is meant
	Column   int    `json:"column,omitempty"`
	Variable string `json:"variable,omitempty"` // of the environment, when the value is from there
}

// String returns "larder.yaml:3:5", "environment LARDER_HTTP_LISTEN", or the file alone.
func (p Place) String() string {
	switch {
	case p.Variable != "":
		return "environment " + p.Variable
	case p.Line > 0:
		return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column)
	default:
		return p.File
	}
}

// places has the place of each key, by its path.
type places map[string]Place

// find returns the place of the key, or of the nearest one around it that is
// given: where a missing key would have to be written.
func (p places) find(path string) Place {
	for {
		if at, ok := p[path]; ok || path == "" {
			return at
		}
		path = parentPath(path)
	}
}

// parentPath returns the path of the section or list that a key is in.
func parentPath(path string) string { return path[:max(strings.LastIndexAny(path, ".["), 0)] }
