package httpapi

import (
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/sirupsen/logrus"

	"larder/cache"
	"larder/ordering"
	menusync "larder/sync"
)

// condition is something that an operator should know of a restaurant's menu.
type condition string

// The conditions. A restaurant may be in several; in none of them it is ok.
const (
	conditionMissing     condition = "missing"     // there is no menu
	conditionFailed      condition = "failed"      // the last run failed
	conditionQuarantined condition = "quarantined" // the guard refused the last menu
	conditionStale       condition = "stale"       // not confirmed for too long (policy S5)
	conditionHeld        condition = "held"        // a rollback holds it (policy S7a)
	conditionOK          condition = "ok"
	// conditionAttention is, in a filter, any of the first four.
	conditionAttention condition = "attention"
)

// conditions is a set of them: a bit for each, empty where all is well.
type conditions uint8

const (
	missing conditions = 1 << iota
	failed
	quarantined
	stale
	held

	everyCondition = held<<1 - 1
)

// names gives the set as answers tell it.
func (c conditions) names() []condition {
	all := [...]condition{conditionMissing, conditionFailed, conditionQuarantined, conditionStale, conditionHeld}
	names := make([]condition, 0, len(all))
	for i, name := range all {
		if c&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return names
}

// filters gives what ?state= takes.
func filters() []condition {
	return append([]condition{conditionAttention, conditionOK}, everyCondition.names()...)
}

// meets tells whether the set is chosen by ?state=; "" chooses all.
func (c conditions) meets(want condition) bool {
	switch want {
	case "":
		return true
	case conditionOK:
		return c == 0
	case conditionAttention:
		return c&^held != 0
	default:
		return slices.Contains(c.names(), want)
	}
}

// conditionsOf tells what is the matter with a restaurant's menu; has is false
// where there is none.
func (s *Server) conditionsOf(version cache.Version, has bool) (all conditions) {
	if !has {
		return missing
	}
	switch menusync.Outcome(version.LastOutcome) {
	case menusync.OutcomeFailed:
		all |= failed
	case menusync.OutcomeQuarantined:
		all |= quarantined
	default:
	}
	if s.runner.Stale(version) {
		all |= stale
	}
	if version.Held {
		all |= held
	}
	return all
}

// lookCost is what a look at one restaurant's state may cost beside the time
// for which it counts: ten thousand are looked at once a second at most, be it
// for one page or for a hundred, and three each time.
const lookCost = 100 * time.Microsecond

// standings is how all restaurants are, from memory. It never changes.
type standings struct {
	of    *directory
	all   []conditions // each at its place in the directory
	at    time.Time
	until time.Time
}

// looks makes standings, one at a time.
type looks struct {
	mu   sync.Mutex
	last *standings
}

// standings gives how all restaurants are, as this larder has it in memory: at
// most cache.poll old, and with thousands of restaurants a second more.
func (s *Server) standings() *standings {
	s.looks.mu.Lock()
	defer s.looks.mu.Unlock()
	of, now := s.directory(), s.clock()
	if last := s.looks.last; last != nil && last.of == of && !now.Before(last.at) && now.Before(last.until) {
		return last
	}
	made := &standings{of: of, all: make([]conditions, len(of.all)), at: now}
	for i, one := range of.all {
		version, has := s.replica.Version(one.ID)
		made.all[i] = s.conditionsOf(version, has)
	}
	made.until = now.Add(min(time.Duration(len(of.all))*lookCost, time.Second))
	s.looks.last = made
	return made
}

// summarised is how many orders a summary counts one by one.
const summarised = 100

// summaryView is how the caller's restaurants and orders are, in numbers.
type summaryView struct {
	Restaurants int               `json:"restaurants"`
	States      map[condition]int `json:"states"`
	// UnknownOrders counts the orders to settle, up to a hundred: More says that
	// there are others. Null while the journal cannot be asked.
	UnknownOrders *int `json:"unknownOrders"`
	More          bool `json:"moreUnknownOrders"`
}

// summary answers GET /v1/ops/summary, the states from memory; ?q= are words as
// of the list, whose restaurants are counted then.
func (s *Server) summary(c *gin.Context) error {
	text, err := searchText(c)
	if err != nil {
		return err
	}
	who, _ := callerOf(c)
	view := s.standings().count(who, searchWords(text))
	query := ordering.Query{Connections: s.seen(who), State: ordering.StateUnknown, Limit: summarised}
	records, next, err := s.orders.List(c.Request.Context(), query)
	if err != nil {
		s.log.WithFields(logrus.Fields{"event": "ops.summary", "requestId": idOf(c)}).WithError(err).Debug("orders cannot be counted")
	} else {
		count := len(records)
		view.UnknownOrders, view.More = &count, next != ""
	}
	return answer(c, http.StatusOK, result{view})
}

// count counts the caller's restaurants in which every word occurs, and those
// in each state.
func (s *standings) count(who caller, words []string) summaryView {
	view := summaryView{States: map[condition]int{}}
	var of [everyCondition + 1]int // restaurants in each set of conditions
	for at, one := range s.of.all {
		if who.sees(one.Connection) && one.named(words) {
			of[s.all[at]]++
			view.Restaurants++
		}
	}
	for _, state := range filters() {
		view.States[state] = 0
		for set, n := range of {
			if conditions(set).meets(state) {
				view.States[state] += n
			}
		}
	}
	return view
}
