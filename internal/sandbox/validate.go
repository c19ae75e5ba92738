package sandbox

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/shopspring/decimal"
)

// grace is the tolerance for an expected time in the past (policy O4).
const grace = time.Minute

// violations collects the violations of one order.
type violations struct {
	reasons  []string
	total    decimal.Decimal
	tolerant bool // accept the forms of public clients
}

func (s *violations) wrong(path, format string, args ...any) {
	s.reasons = append(s.reasons, path+": "+fmt.Sprintf(format, args...))
}

// orFewer returns the one with fewer violations; s may be nil.
func (s *violations) orFewer(other *violations) *violations {
	if s == nil || len(other.reasons) < len(s.reasons) {
		return other
	}
	return s
}

// readJSON parses exactly one JSON value and preserves the text of numbers.
func readJSON(body []byte) (any, error) {
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, fmt.Errorf("not JSON: %w", err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("not JSON: something follows the value")
	}
	return v, nil
}

// member returns a field by its name in any spelling. A null counts as missing.
func member(object map[string]any, name string) any { return object[spelling(object, name)] }

// spelling returns the name of a field as the object spells it, which may differ in case and underscores (policy W3).
func spelling(object map[string]any, name string) string {
	if _, ok := object[name]; ok {
		return name
	}
	want := fold(name)
	found := ""
	for key := range object { // the first name in order wins, for a deterministic result
		if fold(key) == want && (found == "" || key < found) {
			found = key
		}
	}
	return cmp.Or(found, name)
}

// validate checks an order against the interface and the menu. now is the
// service's time. The total (policy P1) is valid if there are no violations.
func validate(order map[string]any, c *menuModel, now time.Time, tolerant bool) *violations {
	s := &violations{tolerant: tolerant}
	s.checkHead(order, now)
	list, ok := member(order, "dishList").([]any)
	if !ok || len(list) == 0 {
		s.wrong("/dishList", "at least one dish is required")
		return s
	}
	for i, v := range list {
		path := fmt.Sprintf("/dishList/%d", i)
		line, ok := v.(map[string]any)
		if !ok {
			s.wrong(path, "a dish is an object")
			continue
		}
		s.checkDish(path, line, c)
	}
	return s
}

// checkHead checks all fields except the dishes (docs/ordering-service.md, section 4.1; policy O1).
func (s *violations) checkHead(order map[string]any, now time.Time) {
	expedition := s.oneOf(order, "expeditionType", "delivery", "pickup")
	s.oneOf(order, "paymentTypeID", "cash", "card", "online")
	s.numbers("", order, "persons", "changeFrom")
	if soonest, ok := member(order, "soonest").(bool); !ok || !soonest || member(order, "expectedAt") != nil {
		s.expected(member(order, "expectedAt"), now)
	}
	guest, _ := member(order, "guest").(map[string]any)
	address, _ := member(order, "address").(map[string]any)
	s.numbers("/address", address, "lat", "lon", "floor")
	if expedition != "delivery" {
		return
	}
	if strings.TrimSpace(identifier(member(order, "restaurantID"), s.tolerant)) == "" {
		s.wrong("/restaurantID", "required")
	}
	if guest == nil {
		s.wrong("/guest", "required")
	}
	s.required("/guest", guest, "phone")
	for _, name := range []string{"street", "cityName", "houseNumber", "fullAddress"} {
		s.required("/address", address, name)
	}
}

func (s *violations) oneOf(order map[string]any, name string, allowed ...string) string {
	text, _ := member(order, name).(string)
	if !slices.Contains(allowed, text) {
		s.wrong("/"+name, "required, one of %s", strings.Join(allowed, ", "))
	}
	return text
}

func (s *violations) required(path string, object map[string]any, name string) {
	if text, _ := member(object, name).(string); strings.TrimSpace(text) == "" {
		s.wrong(path+"/"+name, "required")
	}
}

// numbers checks fields that must be numbers. Some shop systems send an empty
// text for an unknown floor, which counts as missing (policy W12).
func (s *violations) numbers(path string, object map[string]any, names ...string) {
	for _, name := range names {
		switch v := member(object, name).(type) {
		case nil, json.Number:
		default:
			if _, ok := amount(v, s.tolerant); !ok && (v != "" || !s.tolerant && name != "floor") {
				s.wrong(path+"/"+name, "must be a number")
			}
		}
	}
}

func (s *violations) expected(v any, now time.Time) {
	text, _ := v.(string)
	if text == "" {
		s.wrong("/expectedAt", "required")
		return
	}
	at, err := parseTime(text)
	switch {
	case err != nil:
		s.wrong("/expectedAt", "not a time with a time zone offset")
	case at.Before(now.Add(-grace)):
		s.wrong("/expectedAt", "in the past")
	}
}

// parseTime parses a time of ISO 8601 with an offset, in extended or basic form, with or without seconds.
func parseTime(text string) (at time.Time, err error) {
	for _, form := range []string{"2006-01-02T15:04:05", "2006-01-02T15:04", "20060102T150405", "20060102T1504"} {
		for _, zone := range []string{"Z07:00", "Z0700", "Z07"} {
			if at, err = time.Parse(form+zone, text); err == nil {
				return at, nil
			}
		}
	}
	return at, err
}

// amount reads a number of the order. Only a tolerant service accepts text.
func amount(v any, tolerant bool) (decimal.Decimal, bool) {
	switch n := v.(type) {
	case json.Number:
		return exact(n.String())
	case string:
		if tolerant {
			return exact(n)
		}
	}
	return decimal.Decimal{}, false
}

// identifier reads an id. Only a tolerant service accepts a number.
func identifier(v any, tolerant bool) string {
	switch id := v.(type) {
	case string:
		return id
	case json.Number:
		if tolerant {
			return id.String()
		}
	}
	return ""
}
