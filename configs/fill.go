package configs

import (
	"encoding"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"larder/internal/setting"
	"larder/internal/smallfile"
)

// fill sets v to the value of n. It reports an invalid value and leaves v unchanged.
func (l *loader) fill(path string, n *node, v reflect.Value) {
	if n.broken {
		l.unread[path] = true
	}
	if path != "" && n.at != (Position{}) {
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
	case v.Kind() == reflect.Struct && n.kind == section: // a type with a short form and a section form
		v.SetZero()
		l.fillStruct(path, n, v)
		setDefaults(v)
	case v.Kind() == reflect.Slice && !isText(t):
		if n.kind != list {
			l.problemAt(n.at, path, "must be a list, not %v", n)
			return
		}
		v.Set(reflect.MakeSlice(t, len(n.items), len(n.items)))
		for i, item := range n.items {
			setDefaults(v.Index(i))
			l.fill(fmt.Sprintf("%s[%d]", path, i), item, v.Index(i))
		}
	case n.kind == section && n.splitURL() != "":
		l.problemAt(n.at, path, "put the URL in quotes: %q", n.splitURL())
	case n.kind != single:
		l.problemAt(n.at, path, "must be one value, not %v", n)
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
		l.problemAt(n.at, path, "must be a section of keys and values, not %v", n)
	}
	keys := sectionKeys(v.Type())
	for _, e := range n.keys {
		i := slices.IndexFunc(keys, func(f field) bool { return f.name == e.name })
		if i < 0 {
			l.unknown(path, e, keys)
			continue
		}
		f, where := keys[i], join(path, e.name)
		if f.isFile {
			l.readSecretFile(where, e.value, n, v.FieldByIndex(f.index))
			continue
		}
		l.fill(where, e.value, v.FieldByIndex(f.index))
		if f.secret && e.value.at.Variable == "" {
			text := v.FieldByIndex(f.index).String()
			published := variableReference.MatchString(text) || redact(f.name, text) == text || slices.Contains(demoSecrets, text)
			l.secretInside = l.secretInside || !published
			l.expand(where, e.value.at, v.FieldByIndex(f.index))
		}
	}
}

// setText parses text into v. The error contains the expected form.
func setText(v reflect.Value, text string) error {
	if u, ok := reflect.TypeAssert[encoding.TextUnmarshaler](v.Addr()); ok {
		return u.UnmarshalText([]byte(text))
	}
	var err error
	switch {
	case v.Type() == reflect.TypeFor[time.Duration]():
		var d time.Duration
		if d, err = time.ParseDuration(text); err != nil {
			return fmt.Errorf("invalid duration %q: write a number and a unit, such as 500ms, 30s, 2m or 24h", text)
		}
		v.SetInt(int64(d))
	case v.Kind() == reflect.String:
		v.SetString(text)
	case v.Kind() == reflect.Bool:
		if text != "true" && text != "false" {
			return fmt.Errorf("%q must be true or false", text)
		}
		v.SetBool(text == "true")
	case v.CanInt():
		var n int64
		if n, err = strconv.ParseInt(text, 10, v.Type().Bits()); err != nil {
			return fmt.Errorf("%q must be an integer", text)
		}
		v.SetInt(n)
	case v.CanFloat():
		var n float64
		if n, err = strconv.ParseFloat(text, v.Type().Bits()); err != nil {
			if percent, ok := strings.CutSuffix(text, "%"); ok {
				if n, err = strconv.ParseFloat(strings.TrimSpace(percent), v.Type().Bits()); err == nil {
					return fmt.Errorf("write %g for %g %%", n/100, n)
				}
			}
			return fmt.Errorf("%q must be a number", text)
		}
		v.SetFloat(n)
	default:
		panic("configs: a setting of type " + v.Type().String())
	}
	return nil
}

// readSecretFile reads a secret from the file named by n, the value of key. around is its section.
func (l *loader) readSecretFile(key string, n, around *node, target reflect.Value) {
	path := strings.TrimSuffix(key, fileSuffix)
	var name string
	l.fill(key, n, reflect.ValueOf(&name).Elem())
	if name == "" {
		return
	}
	if value := around.key(lastName(path)); value != nil {
		l.problemAt(n.at, path, "set both by value (%v) and by %s: remove one of them", value.at, lastName(key))
		return
	}
	if n.at.Variable == "" {
		name = l.relative(name)
	}
	secret, err := smallfile.Secret(name)
	if err != nil {
		l.problemAt(n.at, key, "cannot read the secret: %v", err)
		l.unread[path] = true
		return
	}
	l.warnOfMode(key, name)
	target.SetString(secret)
	l.places[path] = n.at
}

// warnOfMode warns of a file with secrets that others can read (policy H12).
func (l *loader) warnOfMode(key, name string) {
	if l.checkFiles && smallfile.ReadableByOthers(name) {
		l.warnings = append(l.warnings, strings.TrimPrefix(key+": ", ": ")+
			name+" contains secrets, and every user who can enter its folder may read it: run chmod o-r, or keep the folder private")
	}
}

// variableReference matches ${NAME} in a secret, $${ (an escaped ${), and a ${ without }.
var variableReference = regexp.MustCompile(`\$\$\{|\$\{([^}]*)(\}?)`)

// expand replaces each reference in a secret by the value of the variable.
func (l *loader) expand(path string, at Position, target reflect.Value) {
	target.SetString(variableReference.ReplaceAllStringFunc(target.String(), func(found string) string {
		if found == "$${" {
			return "${"
		}
		name, closed := strings.CutSuffix(found[len("${"):], "}")
		value, ok := Variable(l.env, name)
		switch {
		case !closed:
			l.problemAt(at, path, "${ without }: write ${NAME}, or $${ for a literal ${")
		case !ok:
			l.problemAt(at, path, "the environment variable %s is not set: set it, or use a file with %s%s",
				name, lastName(path), fileSuffix)
		}
		return value
	}))
}

// lastName returns the last key of a path.
func lastName(path string) string { return path[strings.LastIndexByte(path, '.')+1:] }

// fileSuffix is the end of a key that names the file of a secret.
const fileSuffix = "_file"

// field is one key of a section, as its struct declares it.
type field struct {
	name   string // the YAML key
	index  []int  // for reflect.Value.FieldByIndex
	secret bool   // name + fileSuffix is also a key
	isFile bool   // the key names the file of a secret
}

// fieldsOf returns the keys of a struct in the order of its fields, including those of
// structs with the tag ",inline". Fields without a yaml name, or with "-", are not keys.
func fieldsOf(t reflect.Type) []field {
	known, _ := knownFields.Load(t)
	fields, found := known.([]field)
	if found {
		return fields
	}
	for i := range t.NumField() {
		f := t.Field(i)
		name, option, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		switch {
		case f.Anonymous && option == "inline":
			for _, inner := range fieldsOf(f.Type) {
				inner.index = append([]int{i}, inner.index...) // a new list: that of the inner type stays
				fields = append(fields, inner)
			}
		case name != "" && name != "-":
			fields = append(fields, field{name: name, index: []int{i}, secret: f.Tag.Get("secret") != ""})
		}
	}
	knownFields.Store(t, fields)
	return fields
}

// knownFields has the results of fieldsOf, because a file can have 100,000 sections of one type.
var knownFields sync.Map //nolint:gochecknoglobals // a cache of constants

// sectionKeys returns the keys of a section, including the keys for files of secrets.
func sectionKeys(t reflect.Type) []field {
	var keys []field
	for _, f := range fieldsOf(t) {
		keys = append(keys, f)
		if f.secret {
			keys = append(keys, field{name: f.name + fileSuffix, index: f.index, isFile: true})
		}
	}
	return keys
}

// isText reports whether the type parses its values from text. A struct can also be a section.
func isText(t reflect.Type) bool {
	return reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.TextUnmarshaler]())
}

// setDefaults sets the defaults of a section and of all sections inside it.
func setDefaults(v reflect.Value) {
	if v.Kind() != reflect.Struct {
		return
	}
	if d, ok := reflect.TypeAssert[interface{ SetDefaults() }](v.Addr()); ok {
		d.SetDefaults()
	}
	for _, f := range fieldsOf(v.Type()) {
		setDefaults(v.FieldByIndex(f.index))
	}
}

// newDefault returns a value of the type with its defaults.
func newDefault(t reflect.Type) reflect.Value {
	v := reflect.New(t).Elem()
	setDefaults(v)
	return v
}

// join returns the path of a key in a section.
func join(path, name string) string { return strings.TrimPrefix(path+"."+name, ".") }
