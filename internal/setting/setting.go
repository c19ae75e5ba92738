// Package setting has the error for an invalid value, which Validate of each configuration section
// returns. Package configs adds file and line. This package never reads a file.
package setting

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/hbollon/go-edlib"
)

// Error is one invalid value.
type Error struct {
	Key string // "http.listen", or the key within the package's own section: "timeouts.menu"
	Msg string // what is wrong and what to write instead
}

// Errorf returns an *Error for the key.
func Errorf(key, format string, args ...any) error {
	return &Error{Key: key, Msg: fmt.Sprintf(format, args...)}
}

// Faults collects the errors of a section.
type Faults []error

// If adds an *Error for the key if the value is bad.
func (f *Faults) If(bad bool, key, format string, args ...any) {
	if bad {
		*f = append(*f, Errorf(key, format, args...))
	}
}

// Error returns the key and the message.
func (e *Error) Error() string { return e.Key + ": " + e.Msg }

// Index returns the key of one element of a list.
func Index(key string, i int) string { return key + "[" + strconv.Itoa(i) + "]" }

// OneOf returns an error if value is not one of values. The error uses noun for a value.
func OneOf[T ~string](key, noun string, value T, values ...T) error {
	if slices.Contains(values, value) {
		return nil
	}
	names := make([]string, len(values))
	for i, name := range values {
		names[i] = string(name)
	}
	return Errorf(key, "%s", Unknown(noun, string(value), names))
}

// Unknown returns the message for an unknown value, with the nearest and all valid values.
func Unknown(noun, value string, values []string) string {
	meant := ""
	if nearest := Nearest(value, values); nearest != "" {
		meant = fmt.Sprintf("; did you mean %q?", nearest)
	}
	return fmt.Sprintf("unknown %s %q%s (valid: %s)", noun, value, meant, strings.Join(values, ", "))
}

// Nearest returns the known name that is most similar to name, or "" if none is similar.
func Nearest(name string, known []string) string {
	best, bestDistance := "", len(name)/2+1
	for _, k := range known {
		if d := edlib.OSADamerauLevenshteinDistance(strings.ToLower(name), strings.ToLower(k)); d < bestDistance {
			best, bestDistance = k, d
		}
	}
	return best
}

// Origin returns an error if browsers would never send this value as Origin.
func Origin(key, origin string) error {
	u, err := url.Parse(origin)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" || u.Scheme+"://"+u.Host != origin {
		return Errorf(key, "%q is not a valid origin; write only scheme and host, as in https://shop.example", origin)
	}
	return nil
}
