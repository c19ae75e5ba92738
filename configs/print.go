package configs

import (
	"encoding"
	"fmt"
	"reflect"
	"regexp"
	"strings"
	"time"

	"github.com/goccy/go-yaml"
)

// redacted is printed in place of a secret.
const redacted = "[redacted]"

// YAML returns all keys with their effective values. Secrets are redacted.
func (c *Config) YAML() ([]byte, error) {
	text, err := yaml.MarshalWithOptions(printable(reflect.ValueOf(c).Elem()), yaml.Indent(2), yaml.IndentSequence(true))
	if err != nil {
		return nil, fmt.Errorf("configs: print: %w", err)
	}
	return text, nil
}

// JSON returns the keys and values of YAML as one JSON object, in the same order.
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

// printable returns a value as the configuration file would contain it: keys in order, secrets redacted.
func printable(v reflect.Value) any {
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return nil
		}
		return printable(v.Elem())
	}
	switch value := v.Interface().(type) {
	case time.Duration:
		return shortDuration(value)
	case encoding.TextMarshaler:
		if text, err := value.MarshalText(); err == nil {
			return string(text)
		}
	}
	switch v.Kind() {
	case reflect.Struct:
		var keys yaml.MapSlice
		for _, f := range fieldsOf(v.Type()) {
			value := v.FieldByIndex(f.index)
			switch {
			case value.Kind() == reflect.Pointer && value.IsNil(): // an optional key without a value
			case f.secret:
				keys = append(keys, yaml.MapItem{Key: f.name, Value: redact(f.name, value.String())})
			default:
				keys = append(keys, yaml.MapItem{Key: f.name, Value: printable(value)})
			}
		}
		return keys
	case reflect.Slice:
		items := make([]any, 0, v.Len())
		for i := range v.Len() {
			items = append(items, printable(v.Index(i)))
		}
		return items
	default:
		return v.Interface()
	}
}

// urlPassword matches a URL up to and including the @ after its password.
var urlPassword = regexp.MustCompile(`^([^:/]+://[^:@]*:).*@`)

// redact hides a secret. In a URL it hides only the password.
func redact(name, value string) string {
	switch {
	case value == "":
		return ""
	case name == "url":
		return urlPassword.ReplaceAllString(value, "${1}redacted@")
	default:
		return redacted
	}
}

// shortDuration returns 2m instead of 2m0s.
func shortDuration(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}
