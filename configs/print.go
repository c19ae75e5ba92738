package configs

import (
	"encoding"
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/goccy/go-yaml"
)

// Redacted stands where a secret would be printed.
const Redacted = "[redacted]"

// YAML is the effective configuration, every key with its value, secrets redacted.
func (c *Config) YAML() ([]byte, error) {
	return printed(reflect.ValueOf(c).Elem())
}

// JSON is the same as one JSON object, keys in the same order.
func (c *Config) JSON() ([]byte, error) {
	text, err := c.YAML()
	if err != nil {
		return nil, err
	}
	out, err := yaml.YAMLToJSON(text)
	if err != nil {
		return nil, fmt.Errorf("configs: print: %w", err)
	}
	return out, nil
}

func printed(v reflect.Value) ([]byte, error) {
	text, err := yaml.MarshalWithOptions(effective(v), yaml.Indent(2), yaml.IndentSequence(true))
	if err != nil {
		return nil, fmt.Errorf("configs: print: %w", err)
	}
	return text, nil
}

// effective is a value as the file would spell it: sections as ordered maps,
// durations and sizes as text, secrets redacted.
func effective(v reflect.Value) any {
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return nil
		}
		return effective(v.Elem())
	}
	if d, ok := reflect.TypeAssert[time.Duration](v); ok {
		return duration(d)
	}
	if m, ok := reflect.TypeAssert[yaml.InterfaceMarshaler](v); ok {
		return m
	}
	if text, ok := asText(v); ok {
		return text
	}
	switch v.Kind() {
	case reflect.Struct:
		return section(v)
	case reflect.Slice:
		list := make([]any, 0, v.Len())
		for i := range v.Len() {
			list = append(list, effective(v.Index(i)))
		}
		return list
	default:
		return v.Interface()
	}
}

// section leaves out keys that may be missing and are.
func section(v reflect.Value) yaml.MapSlice {
	var out yaml.MapSlice
	for _, f := range fieldsOf(v.Type()) {
		value := v.FieldByIndex(f.index)
		switch {
		case value.Kind() == reflect.Pointer && value.IsNil():
		case f.secret:
			out = append(out, yaml.MapItem{Key: f.name, Value: redact(f.name, value.String())})
		default:
			out = append(out, yaml.MapItem{Key: f.name, Value: effective(value)})
		}
	}
	return out
}

func asText(v reflect.Value) (string, bool) {
	m, ok := reflect.TypeAssert[encoding.TextMarshaler](v)
	if !ok {
		return "", false
	}
	text, err := m.MarshalText()
	return string(text), err == nil
}

// redact hides a secret. Of an address only the password is one.
func redact(name, value string) string {
	if value == "" {
		return ""
	}
	if name != "url" {
		return Redacted
	}
	scheme, rest, ok := strings.Cut(value, "://")
	at := strings.LastIndexByte(rest, '@')
	if !ok || at < 0 {
		return value
	}
	user, _, hasPassword := strings.Cut(rest[:at], ":")
	if !hasPassword {
		return value
	}
	return scheme + "://" + user + ":" + "redacted" + rest[at:]
}

// duration writes 2m instead of 2m0s.
func duration(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}
