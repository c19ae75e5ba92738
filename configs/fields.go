package configs

import (
	"encoding"
	"reflect"
	"strings"
)

// fileSuffix makes the key that names the file a secret is read from.
const fileSuffix = "_file"

// field is one key of a section, as its struct declares it.
type field struct {
	name   string // the YAML key
	index  int
	secret bool // may also be given as name + fileSuffix
}

// fieldsOf lists the keys of a struct in the order of its declaration. Fields
// without a yaml tag, or with "-", are no keys.
func fieldsOf(t reflect.Type) []field {
	var fields []field
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		if name != "" && name != "-" {
			fields = append(fields, field{name: name, index: i, secret: f.Tag.Get("secret") != ""})
		}
	}
	return fields
}

// fieldNamed returns the field of a key; isFile reports whether the key names
// the file of that secret.
func fieldNamed(fields []field, name string) (found field, isFile, ok bool) {
	for _, f := range fields {
		if f.name == name || f.secret && f.name+fileSuffix == name {
			return f, f.name != name, true
		}
	}
	return field{}, false, false
}

// isText reports whether values of the type are written as one value that the
// type itself reads. A struct may also be written as a section.
func isText(t reflect.Type) bool {
	return reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.TextUnmarshaler]())
}

// setDefaults sets the defaults of a section and of every section inside it.
func setDefaults(v reflect.Value) {
	if v.Kind() != reflect.Struct {
		return
	}
	if d, ok := reflect.TypeAssert[interface{ SetDefaults() }](v.Addr()); ok {
		d.SetDefaults()
	}
	for _, f := range fieldsOf(v.Type()) {
		setDefaults(v.Field(f.index))
	}
}

// newDefault returns a value of the type with its defaults.
func newDefault(t reflect.Type) reflect.Value {
	v := reflect.New(t).Elem()
	setDefaults(v)
	return v
}

// join returns the path of a key in a section.
func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}
