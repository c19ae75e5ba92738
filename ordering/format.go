package ordering

import (
	"fmt"
	"strings"
)

// RecordFormat is the format of the records that this version reads and writes, as the state of a connection has it.
const RecordFormat = "3"

// FormatError reports order records that this version of larder cannot read, because another version has written them
// (policy O20). Journal.List returns it with the records that it can read.
type FormatError struct {
	Unreadable []Unreadable // may be empty if it is not known which
	Err        error
}

// Unreadable is one record, or all records of a connection if Ref is empty.
type Unreadable struct {
	Connection string  `json:"connection"`
	Ref        *string `json:"ref"`
	Found      string  `json:"found,omitempty"` // what Redis has instead of RecordFormat, for people; "" for one record
}

func (e *FormatError) Error() string { return fmt.Sprintf("ordering: %s: %v", e.Msg(), e.Err) }

func (e *FormatError) Unwrap() error { return e.Err }

// ErrorOrNil returns nil if everything can be read.
func (e *FormatError) ErrorOrNil() error {
	if e == nil || len(e.Unreadable) == 0 {
		return nil
	}
	return e
}

// Msg describes what cannot be read, and what to do.
func (e *FormatError) Msg() string {
	const most = 5
	var named []string
	for _, u := range e.Unreadable[:min(len(e.Unreadable), most)] {
		if u.Ref == nil {
			named = append(named, strings.TrimSuffix("all records of connection "+u.Connection+" (found: "+u.Found+")", " (found: )"))
		} else {
			named = append(named, "order "+*u.Ref+" of connection "+u.Connection)
		}
	}
	if more := len(e.Unreadable) - len(named); more > 0 {
		named = append(named, fmt.Sprintf("%d more", more))
	}
	text := "this version reads only order records of format " + RecordFormat +
		"; another version of larder wrote others, or Redis has lost a part of them"
	if len(named) > 0 {
		text += ": " + strings.Join(named, ", ")
	}
	return text + ". Nothing is changed. Find out which (docs/operations.md, Order records of another version) before you delete anything"
}
