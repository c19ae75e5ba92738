package configs

import (
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"strings"
	"time"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"
)

// redacted is printed in place of a secret.
const redacted = "[redacted]"

// YAML returns all keys with their effective values. Secrets are redacted.
func (c *Config) YAML() ([]byte, error) {
	text, err := yaml.Dump(printable(reflect.ValueOf(c).Elem()),
		yaml.WithCompactSeqIndent(false), yaml.WithQuotePreference(yaml.QuoteDouble), yaml.WithLineWidth(-1))
	if err != nil {
		return nil, fmt.Errorf("configs: print: %w", err)
	}
	return text, nil
}

// JSON returns the keys and values of YAML as one JSON object.
func (c *Config) JSON() ([]byte, error) {
	var values any
	err := printable(reflect.ValueOf(c).Elem()).Decode(&values)
	text, jsonErr := json.Marshal(values)
	if err = errors.Join(err, jsonErr); err != nil {
		return nil, fmt.Errorf("configs: print: %w", err)
	}
	var safe []byte
	for _, r := range string(text) {
		if unicode.IsPrint(r) {
			safe = utf8.AppendRune(safe, r)
			continue
		}
		for _, unit := range utf16.AppendRune(nil, r) { // a terminal may act on it (policy H9)
			safe = fmt.Appendf(safe, `\u%04x`, unit)
		}
	}
	return safe, nil
}

// printable returns a value as the configuration file would contain it: keys in order, secrets redacted.
func printable(v reflect.Value) *yaml.Node {
	n := &yaml.Node{}
	switch value := v.Interface().(type) {
	case time.Duration:
		n.SetString(shortDuration(value))
		return n
	case encoding.TextMarshaler:
		if text, err := value.MarshalText(); err == nil {
			n.SetString(string(text))
			return n
		}
	}
	switch v.Kind() {
	case reflect.Pointer:
		return printable(v.Elem())
	case reflect.Struct:
		n.Kind = yaml.MappingNode
		for _, f := range fieldsOf(v.Type()) {
			key, field := &yaml.Node{}, v.FieldByIndex(f.index)
			key.SetString(f.name)
			if f.secret {
				field = reflect.ValueOf(redact(f.name, field.String()))
			}
			if field.Kind() != reflect.Pointer || !field.IsNil() { // else an optional key without a value
				n.Content = append(n.Content, key, printable(field))
			}
		}
	case reflect.Slice:
		n.Kind = yaml.SequenceNode
		for _, item := range v.Seq2() {
			n.Content = append(n.Content, printable(item))
		}
	case reflect.String:
		if n.SetString(v.String()); strings.ContainsFunc(v.String(), func(r rune) bool { return !unicode.IsPrint(r) }) {
			n.Style = yaml.DoubleQuotedStyle // a terminal gets these characters as escapes, which are read again
		}
	default:
		n.Kind, n.Value = yaml.ScalarNode, fmt.Sprint(v)
	}
	return n
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
