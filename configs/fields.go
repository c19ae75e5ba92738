package configs

import (
	"encoding"
	"reflect"
	"strings"
	"sync"
)

// field is one key of a section, as its struct declares it.
type field struct {
	name   string // the YAML key
	index  []int  // for reflect.Value.FieldByIndex
	secret bool   // name + fileSuffix is also a key
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
func sectionKeys(t reflect.Type) []string {
	var keys []string
	for _, f := range fieldsOf(t) {
		keys = append(keys, f.name)
		if f.secret {
			keys = append(keys, f.name+fileSuffix)
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

// lastName returns the last key of a path.
func lastName(path string) string { return path[strings.LastIndexByte(path, '.')+1:] }
