package configs

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"larder.local/internal/smallfile"
)

// Load returns the configuration. A LARDER_… variable in env (see os.Environ) overrides the YAML
// file at path, and the file overrides the defaults. If path is empty, Load reads no file. The
// error is Errors, with all problems that Load found.
func Load(path string, env []string, options ...Option) (*Config, error) {
	data, err := readFile(path)
	if err != nil {
		return nil, err
	}
	return Parse(path, data, env, options...)
}

// Parse is like Load, but reads the YAML from data. Errors contain name as the name of the file.
// Relative paths of secret files start at its folder.
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

// AllowUnknownKeys reports unknown keys as warnings. So an older version of larder can start with
// the configuration of a newer version. These stay errors: a key that is probably a misspelled
// known key, and an unknown key in the section auth.
func AllowUnknownKeys(l *loader) { l.allowUnknown = true }

// Thorough reports an ordering.state_dir that is not a folder and a file without connections, which larder serve only logs.
// It warns of files with secrets that others can read (policy H12), and of weak secrets.
func Thorough(l *loader) { l.thorough = true }

// readFile returns the content of the file, or nil if path is empty. The error is Errors.
func readFile(path string) ([]byte, error) {
	if path == "" {
		return nil, nil
	}
	place := Position{File: path}
	data, err := smallfile.Configuration(path)
	switch at := bytes.IndexFunc(data, invalidText); {
	case errors.Is(err, fs.ErrNotExist):
		return nil, Errors{{Position: place, Msg: "the file does not exist", err: err}}
	case err != nil:
		return nil, Errors{{Position: place, Msg: fmt.Sprintf("cannot read the configuration: %v", cmp.Or(errors.Unwrap(err), err)), err: err}}
	case at >= 0:
		place.Line = 1 + bytes.Count(data[:at], []byte("\n"))
		place.Column = at - bytes.LastIndexByte(data[:at], '\n')
		return nil, Errors{{Position: place, Msg: "invalid character: the configuration must be YAML in UTF-8, without control characters"}}
	default:
		return data, nil
	}
}

// invalidText reports whether r is invalid UTF-8 or a control character that a terminal executes.
func invalidText(r rune) bool {
	return r == utf8.RuneError || unicode.IsControl(r) && r != '\n' && r != '\r' && r != '\t'
}

// loader is the state of one call of Load or Parse.
type loader struct {
	file     string // the name in error messages
	env      []string
	places   places
	problems Errors
	warnings []string

	variables map[string]string // the LARDER_… variables that are not used yet
	names     []string          // the names of variables beside those that are used, for a warning

	allowUnknown bool // unknown keys are warnings
	thorough     bool // see Thorough
	secretInside bool // the file contains a secret, not only its place

	unreadable bool            // the file is invalid YAML, so its values are unknown
	unread     map[string]bool // keys whose values could not be read, so that the defaults apply
	checking   bool            // all values are read; errors of unread values are now omitted
}

func newLoader(path string, env []string, options ...Option) *loader {
	l := &loader{
		file:   path,
		env:    env,
		places: places{"": {File: path}},
		unread: map[string]bool{},

		variables: variablesOf(env),
	}
	for _, option := range options {
		option(l)
	}
	return l
}

// parse reads and checks the configuration. Errors are in l.problems.
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

// read sets v from all sources without checking values.
func (l *loader) read(data []byte, v reflect.Value) {
	setDefaults(v)
	l.fill("", strings.TrimSuffix(envPrefix, "_"), l.readYAML(data), v)
	l.warnOfVariables(v.Type())
}

// problemAt adds an error of a key to l.problems. During reading, it also marks the key as unread.
func (l *loader) problemAt(at Position, key, format string, args ...any) {
	if l.checking && l.isUnread(key) {
		return
	}
	if !l.checking && key != "" {
		l.unread[key] = true
	}
	l.problems = append(l.problems, &Error{Position: at, Key: key, Msg: fmt.Sprintf(format, args...)})
}

// problem reports an error of a key at the key's place.
func (l *loader) problem(key, format string, args ...any) {
	l.problemAt(l.places.find(key), key, format, args...)
}

// isUnread reports whether the key at path, or a section that contains it, is unread.
func (l *loader) isUnread(path string) bool {
	for ; path != ""; path = parentPath(path) {
		if l.unread[path] {
			return true
		}
	}
	return l.unread[""]
}

// relative resolves a path in the configuration. Relative paths start at the folder of the file.
func (l *loader) relative(name string) string {
	if filepath.IsAbs(name) || l.file == "" {
		return name
	}
	return filepath.Join(filepath.Dir(l.file), name)
}

// Error is one error in a configuration.
type Error struct {
	Position
	Key string `json:"key"` // such as "connections[0].base_url"; empty if the error is not about one key
	Msg string `json:"msg"` // what is wrong and what to do

	// Ignorable reports whether AllowUnknownKeys makes this error a warning.
	Ignorable bool `json:"-"`

	err error // why the file could not be read
}

// Unwrap returns the cause if the file could not be read.
func (p *Error) Unwrap() error { return p.err }

// Error returns one line: the place, the key and the message.
func (p *Error) Error() string {
	parts := []string{p.Position.String(), p.Key, p.Msg}
	return strings.Join(slices.DeleteFunc(parts, func(part string) bool { return part == "" }), ": ")
}

// Errors contains all errors that Load found, in the order of the file.
type Errors []*Error

// Error returns all errors, one on each line.
func (p Errors) Error() string {
	return fmt.Sprint(errors.Join(p.Unwrap()...))
}

// Unwrap returns all errors, for errors.As.
func (p Errors) Unwrap() []error {
	errs := make([]error, 0, len(p))
	for _, problem := range p {
		errs = append(errs, problem)
	}
	return errs
}

// sorted sorts the errors in the order of the file. Errors of variables are last.
func (p Errors) sorted() Errors {
	slices.SortStableFunc(p, func(a, b *Error) int {
		return cmp.Or(strings.Compare(a.Variable, b.Variable), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return p
}

// Position is where a value is: in the file, or in a variable of the environment.
type Position struct {
	File     string `json:"file,omitempty"` // the path that Load received
	Line     int    `json:"line,omitempty"` // from 1; 0 means no line
	Column   int    `json:"column,omitempty"`
	Variable string `json:"variable,omitempty"` // the name of an environment variable
}

// String returns a text such as "larder.yaml:3:5" or "environment LARDER_HTTP_LISTEN".
func (p Position) String() string {
	switch {
	case p.Variable != "":
		return "environment " + p.Variable
	case p.Line > 0:
		return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column)
	default:
		return p.File
	}
}

// places maps the path of each key to its place.
type places map[string]Position

// find returns the place of the key at path, or of the nearest section if the key is missing.
func (p places) find(path string) Position {
	for {
		if at, ok := p[path]; ok || path == "" {
			return at
		}
		path = parentPath(path)
	}
}

// parentPath returns the path of the section or list that contains a key.
func parentPath(path string) string { return path[:max(strings.LastIndexAny(path, ".["), 0)] }
