package configs

import (
	"encoding"
	"reflect"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
)

// field is one key of a section, as its struct declares it.
type field struct {
	name   string // the YAML key
	index  []int
	secret bool
}

// fieldsOf lists the keys of a struct in the order of its declaration.
// Fields without a yaml tag, or with "-", are no keys; inline structs are
// flattened. A field for the name of a secret's file is left out: the loader
// reads such files itself.
func fieldsOf(t reflect.Type) []field {
	var fields []field
	for i := range t.NumField() {
		f := t.Field(i)
		tag, tagged := f.Tag.Lookup("yaml")
		name, options, _ := strings.Cut(tag, ",")
		if f.Type.Kind() == reflect.Struct && strings.Contains(options, "inline") {
			for _, inner := range fieldsOf(f.Type) {
				inner.index = append([]int{i}, inner.index...)
				fields = append(fields, inner)
			}
			continue
		}
		if !f.IsExported() || !tagged || name == "-" || name == "" {
			continue
		}
		fields = append(fields, field{name: name, index: []int{i}, secret: f.Tag.Get("secret") != ""})
	}
	return slices.DeleteFunc(fields, func(f field) bool {
		base, isFile := strings.CutSuffix(f.name, fileSuffix)
		return isFile && slices.ContainsFunc(fields, func(of field) bool { return of.name == base && of.secret })
	})
}

// named finds a key among a section's. A secret "x" may also be given as
// "x_file"; then file is true and the field is that of "x", whether or not the
// struct has a field of its own for the file's name.
func named(fields []field, name string) (found field, file, ok bool) {
	if base, cut := strings.CutSuffix(name, fileSuffix); cut {
		for _, f := range fields {
			if f.name == base && f.secret {
				return f, true, true
			}
		}
	}
	for _, f := range fields {
		if f.name == name {
			return f, false, true
		}
	}
	return field{}, false, false
}

// isText says whether values of the type are written as one scalar that the
// type itself reads.
func isText(t reflect.Type) bool {
	return reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.TextUnmarshaler]())
}

// isCustom says whether the type reads YAML of its own.
func isCustom(t reflect.Type) bool {
	p := reflect.PointerTo(t)
	return p.Implements(reflect.TypeFor[yaml.BytesUnmarshaler]()) ||
		p.Implements(reflect.TypeFor[yaml.InterfaceUnmarshaler]())
}

// setDefaults gives a section, and every section inside it, its defaults.
func setDefaults(v reflect.Value) {
	if v.Kind() != reflect.Struct || !v.CanAddr() {
		return
	}
	if d, ok := reflect.TypeAssert[interface{ SetDefaults() }](v.Addr()); ok {
		d.SetDefaults()
	}
	for _, f := range fieldsOf(v.Type()) {
		setDefaults(v.FieldByIndex(f.index))
	}
}
