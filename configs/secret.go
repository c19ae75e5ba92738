package configs

import (
	"fmt"
	"os"
	"reflect"
	"strings"

	"github.com/goccy/go-yaml/ast"
)

// fileSuffix makes the key that names the file a secret is read from.
const fileSuffix = "_file"

// secret is one secret as it was given: by value, or by the name of a file.
type secret struct {
	valueAt  origin
	fileAt   origin
	fileName string
	hasValue bool
	hasFile  bool
	literal  bool // the environment gave the value: nothing in it is expanded
}

func (l *loader) secret(path string) *secret {
	s, ok := l.secrets[path]
	if !ok {
		s = &secret{}
		l.secrets[path] = s
	}
	return s
}

func (l *loader) secretValue(path string, at origin) {
	s := l.secret(path)
	s.hasValue, s.valueAt, s.literal = true, at, at.variable != ""
}

func (l *loader) secretFile(path string, node ast.Node) {
	var name string
	l.origins[path+fileSuffix] = l.at(first(node))
	l.fill(path+fileSuffix, node, reflect.ValueOf(&name).Elem())
	l.secretFileNamed(path, l.relative(name), l.origins[path+fileSuffix])
}

func (l *loader) secretFileNamed(path, name string, at origin) {
	s := l.secret(path)
	s.hasFile, s.fileAt, s.fileName = name != "", at, name
}

// settleSecrets reads the secrets in v from their files and expands ${NAME}.
// What the environment gives wins over what the file gives.
func (l *loader) settleSecrets(v reflect.Value, lookup func(string) (string, bool)) {
	eachSecret("", v, func(path string, target reflect.Value) {
		s, given := l.secrets[path]
		if !given {
			return
		}
		if s.hasValue && s.hasFile {
			switch {
			case s.literal && s.fileAt.variable == "":
				s.hasFile = false
			case !s.literal && s.fileAt.variable != "":
				s.hasValue = false
			default:
				l.problem(s.fileAt, path, "given both by value and by %s: keep one of them", lastName(path)+fileSuffix)
				return
			}
		}
		switch {
		case s.hasFile:
			l.readSecret(path, s, target)
		case s.hasValue && !s.literal:
			l.expand(path, s, target, lookup)
		}
	})
}

// eachSecret calls visit for every key tagged as a secret, elements of lists included.
func eachSecret(path string, v reflect.Value, visit func(path string, target reflect.Value)) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			eachSecret(path, v.Elem(), visit)
		}
	case reflect.Slice:
		for i := range v.Len() {
			eachSecret(fmt.Sprintf("%s[%d]", path, i), v.Index(i), visit)
		}
	case reflect.Struct:
		for _, f := range fieldsOf(v.Type()) {
			inner := v.FieldByIndex(f.index)
			if f.secret && inner.Kind() == reflect.String {
				visit(join(path, f.name), inner)
				continue
			}
			eachSecret(join(path, f.name), inner, visit)
		}
	default:
	}
}

func (l *loader) readSecret(path string, s *secret, target reflect.Value) {
	content, err := os.ReadFile(s.fileName)
	if err != nil {
		l.problem(s.fileAt, path+fileSuffix, "cannot read the secret: %v", err)
		l.unread[path] = true
		return
	}
	target.SetString(strings.TrimRight(string(content), "\r\n"))
	l.origins[path] = s.fileAt
}

// lastName is the last key of a path.
func lastName(path string) string {
	return path[strings.LastIndexByte(path, '.')+1:]
}

// expand replaces each ${NAME} by the variable's value; "$${" stands for "${".
func (l *loader) expand(path string, s *secret, target reflect.Value, lookup func(string) (string, bool)) {
	var out strings.Builder
	rest := target.String()
	for {
		before, after, found := strings.Cut(rest, "${")
		if !found {
			out.WriteString(rest)
			break
		}
		if escaped, ok := strings.CutSuffix(before, "$"); ok {
			out.WriteString(escaped + "${")
			rest = after
			continue
		}
		name, tail, closed := strings.Cut(after, "}")
		if !closed {
			l.problem(s.valueAt, path, "${ without its }: write ${NAME}, or $${ for the two characters themselves")
			return
		}
		value, ok := lookup(name)
		if !ok {
			l.problem(s.valueAt, path, "the environment variable %s is not set: set it, or name a file with %s%s", name, lastName(path), fileSuffix)
			return
		}
		out.WriteString(before + value)
		rest = tail
	}
	target.SetString(out.String())
}
