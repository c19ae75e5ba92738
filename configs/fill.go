package configs

import (
	"encoding"
	"errors"
	"fmt"
	"os"
	"reflect"
	"strconv"
	"strings"
	"time"

	"larder/internal/setting"
)

// fill sets v to what n says. Wrong values are reported and left as they were.
func (l *loader) fill(path string, n *node, v reflect.Value) {
	if n.broken {
		l.unread[path] = true
	}
	if path != "" && n.at != (Place{}) {
		l.places[path] = n.at
	}
	if n.kind == absent {
		return
	}
	t := v.Type()
	switch {
	case v.Kind() == reflect.Pointer:
		target := newDefault(t.Elem())
		l.fill(path, n, target)
		v.Set(target.Addr())
	case v.Kind() == reflect.Struct && !isText(t):
		l.fillStruct(path, n, v)
	case v.Kind() == reflect.Struct && n.kind == section: // the longer form of what a text abbreviates
		v.SetZero()
		l.fillStruct(path, n, v)
		setDefaults(v)
	case v.Kind() == reflect.Slice && !isText(t):
		if n.kind != list {
			l.problemAt(n.at, path, "a list is expected here, not %v", n)
			return
		}
		v.Set(reflect.MakeSlice(t, len(n.items), len(n.items)))
		for i, item := range n.items {
			setDefaults(v.Index(i))
			l.fill(fmt.Sprintf("%s[%d]", path, i), item, v.Index(i))
		}
	case n.kind != single:
		l.problemAt(n.at, path, "one value is expected here, not %v", n)
	default:
		err := setText(v, n.text)
		if wrong, ok := errors.AsType[*setting.Error](err); ok {
			l.problemAt(n.at, path, "%s", wrong.Msg)
		} else if err != nil {
			l.problemAt(n.at, path, "%v", err)
		}
	}
}

func (l *loader) fillStruct(path string, n *node, v reflect.Value) {
	if n.kind != section {
		l.problemAt(n.at, path, "a section of keys and values is expected here, not %v", n)
	}
	fields := fieldsOf(v.Type())
	for _, e := range n.keys {
		f, isFile, known := fieldNamed(fields, e.name)
		if !known {
			l.unknown(path, e, fields)
			continue
		}
		target, where := v.Field(f.index), join(path, f.name)
		switch {
		case isFile:
			l.readSecretFile(where, e.value, n.key(f.name), target)
		default:
			l.fill(where, e.value, target)
			if f.secret && e.value.at.Variable == "" {
				l.expand(where, e.value.at, target)
			}
		}
	}
}

// setText sets v to the value that text spells. The error says what was expected.
func setText(v reflect.Value, text string) error {
	if u, ok := reflect.TypeAssert[encoding.TextUnmarshaler](v.Addr()); ok {
		return u.UnmarshalText([]byte(text))
	}
	var err error
	switch {
	case v.Type() == reflect.TypeFor[time.Duration]():
		var d time.Duration
		if d, err = time.ParseDuration(text); err != nil {
			return fmt.Errorf("%q is no duration: write a number and a unit, such as 500ms, 30s, 2m or 24h", text)
		}
		v.SetInt(int64(d))
	case v.Kind() == reflect.String:
		v.SetString(text)
	case v.Kind() == reflect.Bool:
		if text != "true" && text != "false" {
			return fmt.Errorf("%q is neither true nor false", text)
		}
		v.SetBool(text == "true")
	case v.CanInt():
		var n int64
		if n, err = strconv.ParseInt(text, 10, v.Type().Bits()); err != nil {
			return fmt.Errorf("%q is no whole number", text)
		}
		v.SetInt(n)
	case v.CanFloat():
		var n float64
		if n, err = strconv.ParseFloat(text, v.Type().Bits()); err != nil {
			return fmt.Errorf("%q is no number", text)
		}
		v.SetFloat(n)
	default:
		panic("configs: a setting of type " + v.Type().String())
	}
	return nil
}

// readSecretFile sets a secret to the content of the file that n names. value is
// what else is given for the secret.
func (l *loader) readSecretFile(path string, n, value *node, target reflect.Value) {
	key := path + fileSuffix
	var name string
	l.fill(key, n, reflect.ValueOf(&name).Elem())
	if name == "" {
		return
	}
	if value != nil {
		l.problemAt(n.at, path, "given both by value (%v) and by %s: keep one of them", value.at, lastName(key))
		return
	}
	if n.at.Variable == "" {
		name = l.relative(name)
	}
	content, err := os.ReadFile(name) //nolint:gosec // G304: the operator names the file
	if err != nil {
		l.problemAt(n.at, key, "cannot read the secret: %v", err)
		l.unread[path] = true
		return
	}
	target.SetString(strings.TrimRight(string(content), "\r\n"))
	l.places[path] = n.at
}

// expand replaces each ${NAME} of a secret in the file by the variable's value;
// "$${" becomes "${".
func (l *loader) expand(path string, at Place, target reflect.Value) {
	var out strings.Builder
	rest := target.String()
	for {
		before, after, found := strings.Cut(rest, "${")
		out.WriteString(before)
		if !found {
			break
		}
		if strings.HasSuffix(before, "$") {
			out.WriteString("{")
			rest = after
			continue
		}
		name, tail, closed := strings.Cut(after, "}")
		if !closed {
			l.problemAt(at, path, "${ without its }: write ${NAME}, or $${ for the two characters themselves")
			return
		}
		value, ok := l.lookup(name)
		if !ok {
			l.problemAt(at, path, "the environment variable %s is not set: set it, or name a file with %s%s", name, lastName(path), fileSuffix)
			return
		}
		out.WriteString(value)
		rest = tail
	}
	target.SetString(out.String())
}

// lastName returns the last key of a path.
func lastName(path string) string {
	return path[strings.LastIndexByte(path, '.')+1:]
}
