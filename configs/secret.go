package configs

import (
	"fmt"
	"os"
	"reflect"
	"strings"
)

// fileSuffix makes the key that names the file a secret is read from.
const fileSuffix = "_file"

// secretFile is a file that a secret is read from, and where its name was given.
type secretFile struct {
	name string
	at   origin
}

// readSecrets reads the secrets in v from their files and expands ${NAME} in
// those that the configuration file gives by value.
func (l *loader) readSecrets(v reflect.Value, lookup func(string) (string, bool)) {
	eachSecret("", v, func(path string, target reflect.Value) {
		file := l.secretFiles[path]
		value, given := l.origins[path]
		switch {
		case file.name != "" && given:
			l.problem(file.at, path, "given both by value (%s) and by %s: keep one of them", value, lastName(path)+fileSuffix)
		case file.name != "":
			l.readSecret(path, file, target)
		case given && value.variable == "":
			l.expand(path, value, target, lookup)
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

func (l *loader) readSecret(path string, file secretFile, target reflect.Value) {
	content, err := os.ReadFile(file.name)
	if err != nil {
		l.problem(file.at, path+fileSuffix, "cannot read the secret: %v", err)
		l.unread[path] = true
		return
	}
	target.SetString(strings.TrimRight(string(content), "\r\n"))
	l.origins[path] = file.at
}

// lastName is the last key of a path.
func lastName(path string) string {
	return path[strings.LastIndexByte(path, '.')+1:]
}

// expand replaces each ${NAME} by the variable's value; "$${" stands for "${".
func (l *loader) expand(path string, at origin, target reflect.Value, lookup func(string) (string, bool)) {
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
			l.problem(at, path, "${ without its }: write ${NAME}, or $${ for the two characters themselves")
			return
		}
		value, ok := lookup(name)
		if !ok {
			l.problem(at, path, "the environment variable %s is not set: set it, or name a file with %s%s", name, lastName(path), fileSuffix)
			return
		}
		out.WriteString(before + value)
		rest = tail
	}
	target.SetString(out.String())
}
