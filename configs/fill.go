package configs

import (
	"encoding"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/shopspring/decimal"
	"go.yaml.in/yaml/v4"

	"larder.local/internal/setting"
)

// value is a value in the file, or the variable with this name. Its node is nil if it is missing.
type value struct {
	*yaml.Node
	variable string
	line     int  // of its key
	comment  bool // a comment such as #14532d follows the key
}

// kind returns the kind of the value, or 0 if it is missing or null, so that the default applies.
func (n value) kind() yaml.Kind {
	if n.Node == nil || n.Tag == nullTag {
		return 0
	}
	return n.Kind
}

// has reports whether a section has a key.
func (n value) has(key string) bool {
	return slices.ContainsFunc(slices.Collect(slices.Chunk(n.Content, 2)), func(pair []*yaml.Node) bool { return pair[0].Value == key })
}

// String describes the value, without its text: it may be a secret.
func (n value) String() string {
	switch n.kind() {
	case yaml.MappingNode:
		return "a section"
	case yaml.SequenceNode:
		return "a list"
	default:
		return "a single value"
	}
}

func (l *loader) at(n value) Position {
	if n.variable != "" {
		return Position{Variable: n.variable}
	}
	return Position{File: l.file, Line: n.Line, Column: n.Column}
}

// fill sets v to the variable with this name, else to n. Variables with longer names set what is inside v. It reports
// whether there is a value. An invalid value leaves v unchanged.
func (l *loader) fill(path, name string, n value, v reflect.Value) bool {
	if v.Kind() == reflect.Pointer {
		target := newDefault(v.Type().Elem())
		given := l.fill(path, name, n, target)
		if given {
			v.Set(target.Addr())
		}
		return given
	}
	if variable := l.variable(name); variable.Node != nil {
		n = variable
	}
	if n.Node != nil && path != "" {
		l.places[path] = l.at(n)
	}
	isSection, text := v.Kind() == reflect.Struct, isText(v.Type())
	switch {
	case l.isUnsupported(path, n):
		return false
	case isSection && (!text || n.kind() == yaml.MappingNode):
		return l.fillSection(path, name, n, v)
	case isSection && n.variable == "" && l.fillSection(path, name, value{}, v): // its variables override a short form
		return true
	case v.Kind() == reflect.Slice && !text:
		return l.fillList(path, name, n, v)
	case n.kind() == 0 && n.comment:
		l.problemAt(l.at(n), path, "is empty, because "+beginsComment)
		return false
	case n.kind() == 0:
		return false
	case n.kind() != yaml.ScalarNode:
		l.problemAt(l.at(n), path, "must be one value, not %v", n)
		return true
	}
	err := setText(v, n.Value)
	if wrong, ok := errors.AsType[*setting.Error](err); ok {
		l.problemAt(l.at(n), path, "%s", wrong.Msg)
	} else if err != nil {
		l.problemAt(l.at(n), path, "%v", err)
	}
	return true
}

// fillSection sets the keys of a section.
func (l *loader) fillSection(path, name string, n value, v reflect.Value) bool {
	given, target := n.kind() != 0, v
	switch {
	case n.variable != "":
		l.problemAt(l.at(n), path, "this is a section: set its keys, one variable each")
		n = value{}
	case given && n.kind() != yaml.MappingNode:
		l.problemAt(l.at(n), path, `must be a section of keys and values, such as "key: value", not %v`, n)
		n = value{}
	}
	if isText(v.Type()) { // its defaults depend on its values
		target = reflect.New(v.Type()).Elem()
	}
	values := l.valuesOf(path, name, n, v.Type())
	for _, f := range fieldsOf(v.Type()) {
		own, inner, file := l.below(name, f.name), values[f.name], values[f.name+fileSuffix]
		switch field := target.FieldByIndex(f.index); {
		case own == "" && inner.Node == nil && file.Node == nil:
		case f.secret:
			given = l.fillSecret(join(path, f.name), own, inner, file, field) || given
		default:
			given = l.fill(join(path, f.name), own, inner, field) || given
		}
	}
	if given && isText(v.Type()) {
		setDefaults(target)
		v.Set(target)
	}
	return given
}

// valuesOf returns the values of a section by their keys.
func (l *loader) valuesOf(path, name string, n value, t reflect.Type) map[string]value {
	keys := sectionKeys(t)
	if name != "" {
		for _, key := range keys {
			l.names = append(l.names, variableName(name, key))
		}
	}
	if n.kind() == 0 {
		return nil
	}
	values := make(map[string]value, len(n.Content)/2)
	for pair := range slices.Chunk(n.Content, 2) {
		key, at := pair[0].Value, l.at(value{Node: pair[0]})
		before, twice := values[key]
		switch {
		case pair[0].Tag == mergeTag:
			l.problemAt(at, path, "merge keys (<<) are not supported: write the keys where they are needed")
			continue
		case twice:
			l.problemAt(at, join(path, key), "is also on line %d: remove one", before.line)
			continue
		case !slices.Contains(keys, key):
			l.unknown(path, at, key, keys, n)
		}
		// Text directly behind # is probably a value, such as a colour. A sentence has a space there.
		comment := len(pair[0].LineComment) > 1 && !unicode.IsSpace(rune(pair[0].LineComment[1]))
		values[key] = value{Node: pair[1], line: at.Line, comment: comment}
	}
	return values
}

// fillList sets the elements of a list. A list of single values can be one variable, separated by commas. A variable with
// the next index adds an element.
func (l *loader) fillList(path, name string, n value, v reflect.Value) bool {
	var items []value
	given := n.kind() != 0
	switch {
	case n.variable != "":
		for text := range strings.SplitSeq(n.Value, ",") {
			if text = strings.TrimSpace(text); text != "" {
				items = append(items, ofVariable(n.variable, text))
			}
		}
	case n.kind() == yaml.SequenceNode:
		for _, item := range n.Content {
			items = append(items, value{Node: item})
		}
	case given:
		l.problemAt(l.at(n), path, "must be a list, not %v", n)
		return true
	}
	if given {
		v.Set(reflect.MakeSlice(v.Type(), len(items), len(items)))
	} else if v.Len() > 0 {
		v.Set(reflect.AppendSlice(reflect.MakeSlice(v.Type(), 0, v.Len()), v)) // the default list stays unchanged
	}
	for i := 0; ; i++ {
		own, inner := l.below(name, strconv.Itoa(i)), path+"["+strconv.Itoa(i)+"]"
		switch {
		case i < len(items):
			setDefaults(v.Index(i))
			l.fill(inner, own, items[i], v.Index(i))
		case i < v.Len():
			given = l.fill(inner, own, value{}, v.Index(i)) || given
		default:
			next := newDefault(v.Type().Elem())
			l.places[inner] = Position{Variable: own}
			if own == "" || !l.fill(inner, own, value{}, next) {
				l.rejectIndexes(path, name, i)
				return given
			}
			v.Set(reflect.Append(v, next))
			given = true
		}
	}
}

// setText parses text into v. The error contains the expected form.
func setText(v reflect.Value, text string) error {
	if u, ok := reflect.TypeAssert[encoding.TextUnmarshaler](v.Addr()); ok {
		err := u.UnmarshalText([]byte(text))
		if err != nil && v.Type() == reflect.TypeFor[decimal.Decimal]() {
			return fmt.Errorf("%q must be a number, such as 12.50", text)
		}
		return err
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
