package sandbox

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// Duration is a length of time that reads and writes JSON as "5s" or "1h30m".
type Duration time.Duration

// MarshalJSON writes the duration as Go prints it, quoted.
func (d Duration) MarshalJSON() ([]byte, error) {
	return encode(time.Duration(d).String()), nil
}

// UnmarshalJSON reads a quoted duration such as "250ms"; it must not be
// negative.
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

// Spelling says how keys that name an id are written in every answer.
type Spelling string

// The spellings: the interface's own (orderID, ID; id, schemeId in menus), and
// camel case everywhere (orderId, id, schemeId).
const (
	SpellingID    Spelling = "ID"
	SpellingCamel Spelling = "Id"
)

// Prices says how prices are written in menus.
type Prices string

// The interface types a price as string and shows a number (docs/ordering-service.md, section 2.4).
const (
	PricesNumber Prices = "number"
	PricesString Prices = "string"
)

// Nulls says how a menu writes "nothing".
type Nulls string

// NullsNull leaves menus as they were put. NullsEmpty writes [] and "" where a
// list or text is null; NullsOmit leaves out what is null or empty.
const (
	NullsNull  Nulls = "null"
	NullsEmpty Nulls = "empty"
	NullsOmit  Nulls = "omit"
)

// OrderIDs says whether new orders get text or number ids; numbers start
// above 2^53, where a reader that goes through a float loses digits.
type OrderIDs string

// The kinds of order ids.
const (
	OrderIDsString OrderIDs = "string"
	OrderIDsNumber OrderIDs = "number"
)

// Bodies says which shapes of request bodies are taken.
type Bodies string

// BodiesStrict takes what the interface shows and nothing else, so that whatever
// larder writes otherwise is found. BodiesTolerant takes what public clients
// are seen to send as well (policies W4, W5, W12): numbers and identifiers as
// text or as numbers, menu ids, an externalId beside a null id, and ingredients
// inside ingredients.
const (
	BodiesStrict   Bodies = "strict"
	BodiesTolerant Bodies = "tolerant"
)

// Settings are the sandbox's switches, as PUT /sandbox/settings names them.
// In a [Config] an empty field means its default.
type Settings struct {
	// AutoAccept lets orders move on by themselves. Default true.
	AutoAccept *bool `json:"autoAccept"`
	// AutoAcceptDelay is how long a new order takes to the kitchen. Half of it
	// passes until it is accepted, twice of it until the cash station has it.
	// Default 5s.
	AutoAcceptDelay *Duration `json:"autoAcceptDelay"`
	// RejectionReasons says whether reasons are listed and demanded. Default
	// true.
	RejectionReasons *bool `json:"rejectionReasons"`
	// TokenLifetime of the tokens issued from now on, at least 1s. Default 1h.
	TokenLifetime *Duration `json:"tokenLifetime"`
	Spelling      Spelling  `json:"spelling"`
	Prices        Prices    `json:"prices"`
	Nulls         Nulls     `json:"nulls"`
	OrderIDs      OrderIDs  `json:"orderIDs"`
	Bodies        Bodies    `json:"bodies"`
	// Validators says whether a menu view's answer has an ETag, which a client
	// may give back to hear that nothing changed. Default true.
	Validators *bool `json:"validators"`
	// PaymentRefusedStatus is the status of a payment that does not cover the
	// order, which the interface does not show: 200, or 400 to 599. Default 400.
	PaymentRefusedStatus int `json:"paymentRefusedStatus"`
	// Capacity limits the requests that change orders. Default: no limit.
	Capacity *Capacity `json:"capacity"`
	// Currencies are the payment codes (GUIDs of POS currencies) that are
	// accepted; empty: any. A payment with another code is refused with
	// ERR_EXTERNAL_ERROR_WS (docs/ordering-service.md, section 4.2).
	Currencies []string `json:"currencies"`
}

// defaultSettings are what a sandbox starts with.
func defaultSettings() Settings {
	return Settings{
		AutoAccept: new(true), AutoAcceptDelay: new(Duration(5 * time.Second)),
		RejectionReasons: new(true), TokenLifetime: new(Duration(time.Hour)),
		Spelling: SpellingID, Prices: PricesNumber, Nulls: NullsNull, OrderIDs: OrderIDsString, Bodies: BodiesStrict,
		Validators: new(true), PaymentRefusedStatus: http.StatusBadRequest, Currencies: []string{},
		Capacity: &Capacity{},
	}
}

// or returns s with its empty fields filled from base.
func (s Settings) or(base Settings) Settings {
	if s.Currencies == nil {
		s.Currencies = base.Currencies
	}
	s.AutoAccept = cmp.Or(s.AutoAccept, base.AutoAccept)
	s.AutoAcceptDelay = cmp.Or(s.AutoAcceptDelay, base.AutoAcceptDelay)
	s.RejectionReasons = cmp.Or(s.RejectionReasons, base.RejectionReasons)
	s.TokenLifetime = cmp.Or(s.TokenLifetime, base.TokenLifetime)
	s.Spelling = cmp.Or(s.Spelling, base.Spelling)
	s.Prices = cmp.Or(s.Prices, base.Prices)
	s.Nulls = cmp.Or(s.Nulls, base.Nulls)
	s.OrderIDs = cmp.Or(s.OrderIDs, base.OrderIDs)
	s.Bodies = cmp.Or(s.Bodies, base.Bodies)
	s.Validators = cmp.Or(s.Validators, base.Validators)
	s.PaymentRefusedStatus = cmp.Or(s.PaymentRefusedStatus, base.PaymentRefusedStatus)
	s.Capacity = cmp.Or(s.Capacity, base.Capacity)
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
	switch {
	case s.Spelling != SpellingID && s.Spelling != SpellingCamel:
		return fmt.Errorf("spelling: %q is not one of ID, Id", s.Spelling)
	case s.Prices != PricesNumber && s.Prices != PricesString:
		return fmt.Errorf("prices: %q is not one of number, string", s.Prices)
	case s.Nulls != NullsNull && s.Nulls != NullsEmpty && s.Nulls != NullsOmit:
		return fmt.Errorf("nulls: %q is not one of null, empty, omit", s.Nulls)
	case s.OrderIDs != OrderIDsString && s.OrderIDs != OrderIDsNumber:
		return fmt.Errorf("orderIDs: %q is not one of string, number", s.OrderIDs)
	case s.Bodies != BodiesStrict && s.Bodies != BodiesTolerant:
		return fmt.Errorf("bodies: %q is not one of strict, tolerant", s.Bodies)
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
	st.mu.Lock()
	defer st.mu.Unlock()
	st.now = given.or(defaultSettings())
	if err := st.now.check(); err != nil {
		st.now = defaultSettings() // a Config that makes no sense: as documented for an empty one
	}
}

func (st *settingsStore) get() Settings {
	st.mu.Lock()
	defer st.mu.Unlock()
	return st.now
}

// merge lays the members of a JSON object over the settings: all or, on any
// error, none.
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

// decodeStrict reads exactly one JSON value into v and refuses fields that v
// does not have.
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
