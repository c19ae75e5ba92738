// Package setting has the error of a wrong value in the configuration. The
// packages that have a section of it return such errors from Validate, and
// package configs finds the place of each in the file.
package setting

import "fmt"

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
