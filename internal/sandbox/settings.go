package sandbox

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"
)

// Duration is a duration that is "5s" or "1h30m" in JSON.
type Duration time.Duration

// MarshalJSON formats the duration as a string.
func (d Duration) MarshalJSON() ([]byte, error) {
	return encode(time.Duration(d).String()), nil
}

// UnmarshalJSON parses a string such as "250ms"; negative durations are invalid.
func (d *Duration) UnmarshalJSON(text []byte) error {
	var s string
	if err := json.Unmarshal(text, &s); err != nil {
		return fmt.Errorf(`a duration is a string such as "5s", not %s`, text)
	}
	v, err := time.ParseDuration(s)
	if err != nil {
		return fmt.Errorf("not a duration: %q", s)
	}
	if v < 0 {
		return fmt.Errorf("negative duration: %q", s)
	}
	*d = Duration(v)
	return nil
}

// The values of settings with a choice; the first of each is its default.
const (
	// SpellingID and SpellingCamel are the spellings of keys with ids in responses: the interface's (orderID, ID;
	// id, schemeId in menus), or camel case everywhere (orderId, id, schemeId).
	SpellingID    = "ID"
	SpellingCamel = "Id"

	// PricesNumber and PricesString are the types of prices in menus. The interface declares a price as string and shows a number
	// (docs/ordering-service.md, section 2.4).
	PricesNumber = "number"
	PricesString = "string"

	// NullsNull, NullsEmpty and NullsOmit are the forms of missing values in menus: unchanged, [] and "" instead of null
	// lists and texts, or without null and empty values.
	NullsNull  = "null"
	NullsEmpty = "empty"
	NullsOmit  = "omit"

	// OrderIDsString and OrderIDsNumber are the types of the ids of new orders. Numbers start above 2^53, where a
	// client that uses floats loses digits.
	OrderIDsString = "string"
	OrderIDsNumber = "number"

	// BodiesStrict and BodiesTolerant are the accepted request bodies: only documented forms, to find deviations of larder, or also what
	// public clients send (policies W4, W5, W12): numbers and ids as text or numbers, menu ids, an
	// externalId beside a null id, and ingredients inside ingredients.
	BodiesStrict   = "strict"
	BodiesTolerant = "tolerant"
)

// Settings are the settings of PUT /sandbox/settings. In a [Config] an empty field means its default.
type Settings struct {
	// AutoAccept advances orders automatically. Default true.
	AutoAccept *bool `json:"autoAccept"`
	// AutoAcceptDelay is the time until a new order is in the kitchen. It is accepted after half of
	// it, and at the cash station after twice of it. Default 5s.
	AutoAcceptDelay *Duration `json:"autoAcceptDelay"`
	// RejectionReasons lists reasons and requires one of them. Default true.
	RejectionReasons *bool `json:"rejectionReasons"`
	// TokenLifetime is the lifetime of new tokens, at least 1s. Default 1h.
	TokenLifetime *Duration `json:"tokenLifetime"`
	Spelling      string    `json:"spelling"`
	Prices        string    `json:"prices"`
	Nulls         string    `json:"nulls"`
	OrderIDs      string    `json:"orderIDs"`
	Bodies        string    `json:"bodies"`
	// Validators adds an ETag to menu views, so that clients can send conditional requests. Default true.
	Validators *bool `json:"validators"`
	// PaymentRefusedStatus is the status for a payment that is too small, which
	// the interface does not specify: 200, or 400 to 599. Default 400.
	PaymentRefusedStatus int `json:"paymentRefusedStatus"`
	// Capacity limits the requests that change orders. Default: no limit.
	Capacity *Capacity `json:"capacity"`
	// Currencies are the accepted payment codes (GUIDs of POS currencies); empty: all. A payment with another
	// code is refused with ERR_EXTERNAL_ERROR_WS (docs/ordering-service.md, section 4.2).
	Currencies []string `json:"currencies"`
}

func defaultSettings() Settings {
	return Settings{
		AutoAccept:           new(true),
		AutoAcceptDelay:      new(Duration(5 * time.Second)),
		RejectionReasons:     new(true),
		TokenLifetime:        new(Duration(time.Hour)),
		Spelling:             SpellingID,
		Prices:               PricesNumber,
		Nulls:                NullsNull,
		OrderIDs:             OrderIDsString,
		Bodies:               BodiesStrict,
		Validators:           new(true),
		PaymentRefusedStatus: http.StatusBadRequest,
		Currencies:           []string{},
		Capacity:             &Capacity{},
	}
}

// or fills the empty fields of s from base.
func (s Settings) or(base Settings) Settings {
	fields, defaults := reflect.ValueOf(&s).Elem(), reflect.ValueOf(base)
	for i := range fields.NumField() {
		if fields.Field(i).IsZero() {
			fields.Field(i).Set(defaults.Field(i))
		}
	}
	return s
}

// acceptsCurrency reports whether a payment with this code is accepted.
func (s Settings) acceptsCurrency(code string) bool {
	code = strings.TrimSpace(code)
	if len(s.Currencies) == 0 {
		return code != ""
	}
	return slices.ContainsFunc(s.Currencies, func(c string) bool { return strings.EqualFold(c, code) })
}

func (s Settings) check() error {
	for _, choice := range []struct{ name, value, valid string }{
		{"spelling", s.Spelling, "ID, Id"},
		{"prices", s.Prices, "number, string"},
		{"nulls", s.Nulls, "null, empty, omit"},
		{"orderIDs", s.OrderIDs, "string, number"},
		{"bodies", s.Bodies, "strict, tolerant"},
	} {
		if !slices.Contains(strings.Split(choice.valid, ", "), choice.value) {
			return fmt.Errorf("%s: %q is not one of %s", choice.name, choice.value, choice.valid)
		}
	}
	switch {
	case s.PaymentRefusedStatus != http.StatusOK && (s.PaymentRefusedStatus < 400 || s.PaymentRefusedStatus > 599):
		return fmt.Errorf("paymentRefusedStatus: %d is neither 200 nor 400 to 599", s.PaymentRefusedStatus)
	case time.Duration(*s.TokenLifetime) < time.Second:
		return errors.New("tokenLifetime: less than 1s")
	case slices.ContainsFunc(s.Currencies, func(c string) bool { return strings.TrimSpace(c) == "" }):
		return errors.New("currencies: a code is empty")
	case s.Capacity.Concurrent < 0:
		return errors.New("capacity: concurrent is negative")
	}
	return nil
}

func (s Settings) tolerant() bool { return s.Bodies == BodiesTolerant }

type settingsStore struct {
	mu  sync.Mutex
	now Settings
}

func (st *settingsStore) start(given Settings) {
	st.now = given.or(defaultSettings())
	if err := st.now.check(); err != nil {
		st.now = defaultSettings() // an invalid Config counts as empty
	}
}

func (st *settingsStore) get() Settings {
	st.mu.Lock()
	defer st.mu.Unlock()
	return st.now
}

// merge applies the members of a JSON object, or none if one is invalid.
func (st *settingsStore) merge(body []byte) (Settings, error) {
	var given Settings
	if err := decodeStrict(body, &given); err != nil {
		return Settings{}, err
	}
	st.mu.Lock()
	defer st.mu.Unlock()
	merged := given.or(st.now)
	if err := merged.check(); err != nil {
		return Settings{}, err
	}
	st.now = merged
	return merged, nil
}

// decodeStrict decodes exactly one JSON value and rejects unknown fields.
func decodeStrict(body []byte, v any) error {
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.DisallowUnknownFields()
	if err := dec.Decode(v); err != nil {
		return fmt.Errorf("body: %w", err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return errors.New("body: more than one JSON value")
	}
	return nil
}
