package configs

import (
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// loader carries one Load: what was found wrong, and where everything stands.
type loader struct {
	file     string // as it stands in positions
	folder   string // where the file is; empty without a file
	origins  origins
	problems Errors
	warnings []string

	secretFiles map[string]secretFile // by the path of the secret

	allowUnknown bool // unknown keys are warnings
	checkFolders bool // ordering.state_dir is looked at

	unreadable bool            // the file is no YAML: nothing is known of its values
	unread     map[string]bool // paths whose values could not be read, and stand at their defaults
	judging    bool            // reading is over; faults of what was not read are no news
}

func newLoader(path string, options ...Option) *loader {
	l := &loader{file: path, origins: origins{}, secretFiles: map[string]secretFile{}, unread: map[string]bool{}}
	if path != "" {
		l.folder = filepath.Dir(path)
	}
	l.origins[""] = origin{file: l.file}
	for _, option := range options {
		option(l)
	}
	return l
}

// problem reports what is wrong with a key. While the sources are read that
// also means that its value is not known.
func (l *loader) problem(at origin, key, format string, args ...any) {
	if l.judging && l.isUnread(key) {
		return
	}
	if !l.judging && key != "" {
		l.unread[key] = true
	}
	l.problems = append(l.problems, &Error{
		File: at.file, Line: at.line, Column: at.column, Variable: at.variable, Key: key, Msg: fmt.Sprintf(format, args...),
	})
}

// isUnread reports whether the value of the key, or of a section around it, could
// not be read.
func (l *loader) isUnread(path string) bool {
	for {
		if l.unread[path] {
			return true
		}
		if path == "" {
			return false
		}
		path = above(path)
	}
}

// fillFile reads the YAML text into the struct that v addresses.
func (l *loader) fillFile(data []byte, v reflect.Value) {
	file, err := parser.ParseBytes(data, 0)
	if err != nil {
		l.syntax(err)
		return
	}
	for i, doc := range file.Docs {
		if doc.Body == nil {
			continue
		}
		if i > 0 {
			l.problem(l.at(doc.Body.GetToken()), "", "a second YAML document: put everything into one")
			return
		}
		l.fill("", doc.Body, v)
	}
}

func (l *loader) syntax(err error) {
	at, msg := origin{file: l.file}, err.Error()
	if e, ok := errors.AsType[yaml.Error](err); ok {
		at, msg = l.at(e.GetToken()), e.GetMessage()
	}
	l.unreadable = true
	l.problem(at, "", "this is no valid YAML: %s", msg)
}

func (l *loader) at(t *token.Token) origin {
	o := origin{file: l.file}
	if t != nil && t.Position != nil {
		o.line, o.column = t.Position.Line, t.Position.Column
	}
	return o
}

// fill gives v the value of a node. Wrong values are reported and left as they were.
func (l *loader) fill(path string, node ast.Node, v reflect.Value) {
	node = l.resolve(node)
	if node == nil {
		l.unread[path] = true // said already
		return
	}
	if node.Type() == ast.NullType {
		return // a key without a value keeps its default
	}
	if _, known := l.origins[path]; !known {
		l.origins[path] = l.at(first(node))
	}
	switch {
	case isCustom(v.Type()):
		l.checkKeys(path, node, v)
		if err := reworded(yaml.NodeToValue(node, v.Addr().Interface())); err != nil {
			l.problem(l.at(first(node)), path, "%v", err)
		}
	case v.Kind() == reflect.Pointer:
		fresh := reflect.New(v.Type().Elem())
		setDefaults(fresh.Elem())
		l.fill(path, node, fresh.Elem())
		v.Set(fresh)
	case v.Kind() == reflect.Struct && !isText(v.Type()):
		l.fillStruct(path, node, v)
	case v.Kind() == reflect.Slice && !isText(v.Type()):
		l.fillSlice(path, node, v)
	case v.Kind() == reflect.Map:
		l.fillMap(path, node, v)
	default:
		l.fillScalar(path, node, v)
	}
}

func (l *loader) fillScalar(path string, node ast.Node, v reflect.Value) {
	scalar, ok := node.(ast.ScalarNode)
	if !ok {
		l.problem(l.at(first(node)), path, "one value is expected here, not %s", kindOf(node))
		return
	}
	text := scalar.GetToken().Value
	if literal, ok := node.(*ast.LiteralNode); ok {
		text = literal.Value.Value
	}
	if err := setText(v, text); err != nil {
		l.problem(l.at(node.GetToken()), path, "%v", err)
	}
}

func (l *loader) fillStruct(path string, node ast.Node, v reflect.Value) {
	before := len(l.problems)
	entries, ok := l.entries(node)
	if !ok {
		l.problem(l.at(first(node)), path, "a section of keys and values is expected here, not %s", kindOf(node))
	}
	if len(l.problems) > before {
		l.unread[path] = true
	}
	fields := fieldsOf(v.Type())
	for _, e := range entries {
		key := e.Key.GetToken()
		f, isFile, ok := named(fields, key.Value)
		if !ok {
			l.unknown(path, e, fields)
			continue
		}
		where := join(path, f.name)
		if isFile {
			var file string
			l.fill(where+fileSuffix, e.Value, reflect.ValueOf(&file).Elem())
			l.secretFiles[where] = secretFile{l.relative(file), l.at(first(e.Value))}
			continue
		}
		l.origins[where] = l.at(first(e.Value))
		l.fill(where, e.Value, v.FieldByIndex(f.index))
	}
}

// checkKeys reports the unknown keys of a section whose type reads YAML itself.
func (l *loader) checkKeys(path string, node ast.Node, v reflect.Value) {
	entries, ok := l.entries(node)
	if !ok || v.Kind() != reflect.Struct {
		return
	}
	fields := fieldsOf(v.Type())
	for _, e := range entries {
		if _, _, ok := named(fields, e.Key.GetToken().Value); !ok {
			l.unknown(path, e, fields)
		}
	}
}

// unknown reports a key that the section does not have.
func (l *loader) unknown(path string, entry *ast.MappingValueNode, fields []field) {
	names := make([]string, 0, len(fields))
	for _, f := range fields {
		names = append(names, f.name)
		if f.secret {
			names = append(names, f.name+fileSuffix)
		}
	}
	section := "the configuration"
	if path != "" {
		section = path
	}
	key := entry.Key.GetToken()
	if instead, removed := removedKeys[join(path, key.Value)]; removed {
		l.problem(l.at(key), "", "%s was removed: %s", join(path, key.Value), instead)
		return
	}
	if now := renamedKey(path, key.Value); now != "" {
		l.unread[join(path, now)] = true
		l.problem(l.at(key), "", "the key %q in %s is called %q now: rename it", key.Value, section, now)
		return
	}
	guess := Nearest(key.Value, names)
	// A section auth elsewhere is one that is indented by mistake.
	underAuth := path == "auth" || strings.HasPrefix(path, "auth.") || strings.HasPrefix(path, "auth[") || key.Value == "auth"
	ignorable := !underAuth && !isTypo(key.Value, guess)
	hint := ""
	if underAuth {
		hint = "; an unknown key under auth is always an error, also with --allow-unknown-keys: correct or remove it"
	}
	switch {
	case l.allowUnknown && ignorable:
		l.warnings = append(l.warnings, fmt.Sprintf("%s: unknown key %q in %s is ignored", l.at(key), key.Value, section))
	case guess != "":
		l.unread[join(path, strings.TrimSuffix(guess, fileSuffix))] = true // most likely it was meant
		l.problem(l.at(key), "", "unknown key %q in %s: did you mean %q?%s", key.Value, section, guess, hint)
		l.problems[len(l.problems)-1].Ignorable = ignorable
	default:
		l.problem(l.at(key), "", "unknown key %q in %s: the keys are %s%s", key.Value, section, strings.Join(names, ", "), hint)
		l.problems[len(l.problems)-1].Ignorable = ignorable
	}
}

func (l *loader) fillSlice(path string, node ast.Node, v reflect.Value) {
	sequence, ok := node.(*ast.SequenceNode)
	if !ok {
		l.problem(l.at(first(node)), path, "a list is expected here, not %s", kindOf(node))
		return
	}
	v.Set(reflect.MakeSlice(v.Type(), len(sequence.Values), len(sequence.Values)))
	for i, element := range sequence.Values {
		setDefaults(v.Index(i))
		l.fill(fmt.Sprintf("%s[%d]", path, i), element, v.Index(i))
	}
}

func (l *loader) fillMap(path string, node ast.Node, v reflect.Value) {
	entries, ok := l.entries(node)
	if !ok {
		l.problem(l.at(first(node)), path, "a section of names and values is expected here, not %s", kindOf(node))
		return
	}
	v.Set(reflect.MakeMapWithSize(v.Type(), len(entries)))
	for _, e := range entries {
		name := e.Key.GetToken().Value
		value := reflect.New(v.Type().Elem()).Elem()
		setDefaults(value)
		l.fill(join(path, name), e.Value, value)
		v.SetMapIndex(reflect.ValueOf(name).Convert(v.Type().Key()), value)
	}
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}
