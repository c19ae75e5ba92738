package sandbox

import (
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// FaultAction is the effect of a fault on a call.
type FaultAction string

// The actions. Those that start with "execute_then", and truncate, execute the call first. After
// latency and expire_tokens the call continues as usual. The others prevent the call.
const (
	DoStatus            FaultAction = "status"
	DoLatency           FaultAction = "latency"
	DoHang              FaultAction = "hang"
	DoResetBefore       FaultAction = "reset_before"
	DoExecuteThenReset  FaultAction = "execute_then_reset"
	DoExecuteThenHang   FaultAction = "execute_then_hang"
	DoExecuteThenStatus FaultAction = "execute_then_status"
	DoTruncate          FaultAction = "truncate"
	DoGarbage           FaultAction = "garbage"
	DoHTML              FaultAction = "html"
	DoExpireTokens      FaultAction = "expire_tokens"
)

// Match selects the calls of a fault. Empty fields match everything; "*" matches any characters.
// Restaurant is compared with restaurantId of the query and restaurantID of a JSON body.
type Match struct {
	Method     string `json:"method,omitempty"`
	Path       string `json:"path,omitempty"`
	Restaurant string `json:"restaurant,omitempty"`
}

func (m Match) meets(c *call, restaurants []string) bool {
	return matchPattern(m.Method, c.r.Method) && matchPattern(strings.TrimRight(m.Path, "/"), c.path) &&
		(m.Restaurant == "" || slices.ContainsFunc(restaurants, func(id string) bool { return matchPattern(m.Restaurant, id) }))
}

// restaurants returns the restaurant ids in the query and the body of a call.
func (c *call) restaurants() []string {
	var ids []string
	for name, values := range c.r.URL.Query() {
		if fold(name) == "restaurantid" {
			ids = append(ids, values...)
		}
	}
	if v, err := readJSON(c.body); err == nil {
		body, _ := v.(map[string]any)
		ids = append(ids, identifier(member(body, "restaurantID"), true))
	}
	return slices.DeleteFunc(ids, func(id string) bool { return id == "" })
}

// Fault is one element of PUT /sandbox/faults. Without Times and Probability it
// always applies. Probability (0 to 1) uses random numbers from Seed.
type Fault struct {
	Match       Match             `json:"match"`
	Times       *int              `json:"times,omitempty"`
	Probability *float64          `json:"probability,omitempty"`
	Seed        uint64            `json:"seed,omitempty"`
	Do          FaultAction       `json:"do"`
	Delay       Duration          `json:"delay,omitempty"`
	Status      int               `json:"status,omitempty"`
	Body        string            `json:"body,omitempty"`
	RetryAfter  int               `json:"retryAfter,omitempty"` // seconds
	Headers     map[string]string `json:"headers,omitempty"`
	After       int               `json:"after,omitempty"` // bytes of the body that are sent

	draws *rng
}

func (f *Fault) check() error {
	switch f.Do {
	case DoStatus, DoExecuteThenStatus:
		if f.Status == 0 {
			return fmt.Errorf("%s: status is missing", f.Do)
		}
	case DoLatency:
		if f.Delay == 0 {
			return errors.New("latency: delay is missing")
		}
	case DoHang, DoResetBefore, DoExecuteThenReset, DoExecuteThenHang, DoTruncate, DoGarbage, DoHTML, DoExpireTokens:
	default:
		return fmt.Errorf("do: %q is not known", f.Do)
	}
	switch {
	case f.Status != 0 && (f.Status < 200 || f.Status > 599):
		return fmt.Errorf("status: %d is not between 200 and 599", f.Status)
	case f.Times != nil && f.Probability != nil:
		return errors.New("times and probability: only one of them")
	case f.Times != nil && *f.Times < 1:
		return errors.New("times: less than 1")
	case f.Probability != nil && (*f.Probability <= 0 || *f.Probability > 1):
		return errors.New("probability: not above 0 and at most 1")
	case f.After < 0 || f.RetryAfter < 0:
		return errors.New("after, retryAfter: negative")
	case strings.HasPrefix(f.Match.Path, "/sandbox/"):
		return errors.New("path: faults never match /sandbox/*")
	}
	f.draws = &rng{state: f.Seed}
	return nil
}

// faultList holds the active faults. The first one that applies is used.
type faultList struct {
	mu   sync.Mutex
	list []*Fault
}

// maxFaults limits the active faults.
const maxFaults = 1000

// change replaces the active faults by a list, or adds it. It changes nothing if a fault is invalid.
func (l *faultList) change(list []*Fault, replace bool) error {
	for i, f := range list {
		if f == nil {
			return fmt.Errorf("fault %d: null", i)
		}
		if err := f.check(); err != nil {
			return fmt.Errorf("fault %d: %w", i, err)
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if !replace {
		list = slices.Concat(l.list, list)
	}
	if len(list) > maxFaults {
		return fmt.Errorf("%d faults, more than %d", len(list), maxFaults)
	}
	l.list = list
	return nil
}

// left returns a copy of the active faults.
func (l *faultList) left() []Fault {
	l.mu.Lock()
	defer l.mu.Unlock()
	left := make([]Fault, 0, len(l.list))
	for _, f := range l.list {
		left = append(left, *f)
	}
	return left
}

// next returns the fault that applies to this call and counts it, or nil.
func (l *faultList) next(c *call) *Fault {
	l.mu.Lock()
	defer l.mu.Unlock()
	var restaurants []string
	if slices.ContainsFunc(l.list, func(f *Fault) bool { return f.Match.Restaurant != "" }) {
		restaurants = c.restaurants()
	}
	for i, f := range l.list {
		if !f.Match.meets(c, restaurants) {
			continue
		}
		if f.Probability != nil && f.draws.unit() >= *f.Probability {
			continue
		}
		if f.Times != nil {
			if f.Times = new(*f.Times - 1); *f.Times == 0 { // another number, because copies have the pointer
				l.list = append(l.list[:i:i], l.list[i+1:]...)
			}
		}
		return f
	}
	return nil
}

// matchPattern reports whether text matches the pattern. "*" matches any
// characters, including none; the empty pattern matches everything.
func matchPattern(pattern, text string) bool {
	expression := strings.ReplaceAll(regexp.QuoteMeta(pattern), `\*`, ".*")
	matched, _ := regexp.MatchString("(?s)^"+expression+"$", text)
	return matched || pattern == ""
}

// put handles PUT /sandbox/faults.
func (l *faultList) put(c *call) answer {
	var list []*Fault
	err := decodeStrict(c.body, &list)
	return l.apply(c, list, true, err)
}

// post handles POST /sandbox/faults: it adds a fault.
func (l *faultList) post(c *call) answer {
	f := &Fault{}
	err := decodeStrict(c.body, f)
	return l.apply(c, []*Fault{f}, false, err)
}

// apply changes the faults, unless err says that the body is wrong.
func (l *faultList) apply(c *call, list []*Fault, replace bool, err error) answer {
	if err == nil {
		err = l.change(list, replace)
	}
	if err != nil {
		return c.refuse(http.StatusBadRequest, "bad_faults", err.Error())
	}
	return l.show(c)
}

func (l *faultList) show(*call) answer { return result(http.StatusOK, l.left()) }
