// Package setting has the error of a wrong value in the configuration. The
// packages that have a section of it return such errors from Validate, and
// package configs finds the place of each in the file.
package setting

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// Error is one wrong value.
type Error struct {
	Key string // "http.listen", or the key within the package's own section: "timeouts.menu"
	Msg string // what is wrong and what to write instead
}

// Errorf returns an *Error for the key.
func Errorf(key, format string, args ...any) error {
	return &Error{Key: key, Msg: fmt.Sprintf(format, args...)}
}

// Error returns the key and what is wrong with it.
func (e *Error) Error() string { return e.Key + ": " + e.Msg }

// Index spells one element of a list in the configuration.
func Index(key string, i int) string { return key + "[" + strconv.Itoa(i) + "]" }

// OneOf reports a value that is none of those that its key takes.
func OneOf[T ~string](key string, value T, values ...T) error {
	if slices.Contains(values, value) {
		return nil
	}
	names := make([]string, len(values))
	for i, name := range values {
		names[i] = string(name)
	}
	return Errorf(key, "%q is none of %s", string(value), strings.Join(names, ", "))
}

// Origin reports what a browser would never send as Origin.
func Origin(key, origin string) error {
	u, err := url.Parse(origin)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" || u.Scheme+"://"+u.Host != origin {
		return Errorf(key, "%q is no origin; write scheme and host alone, as https://shop.example", origin)
	}
	return nil
}
