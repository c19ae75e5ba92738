package ops

import (
	"net/http"
	"slices"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/sirupsen/logrus"

	"larder/cache"
	"larder/httpapi/auth"
	"larder/httpapi/respond"
	"larder/internal/directory"
	"larder/ordering"
	"larder/sync/runlog"
)

// state is something that an operator should know of a restaurant's menu.
type state string

// The states. A restaurant may be in several; in none of them it is ok.
const (
	stateMissing     state = "missing"     // there is no menu
	stateFailed      state = "failed"      // the last run failed
	stateQuarantined state = "quarantined" // the guard refused the last menu
	stateStale       state = "stale"       // not confirmed for too long (policy S5)
	stateHeld        state = "held"        // a rollback holds it (policy S7a)
	stateOK          state = "ok"
	// stateAttention is, in a filter, any of the first four.
	stateAttention state = "attention"
)

// stateSet is a set of them: a bit for each, empty where all is well.
type stateSet uint8

const (
	missing stateSet = 1 << iota
	failed
	quarantined
	stale
	held

	everyState = held<<1 - 1
)

// names returns the set as answers tell it.
func (c stateSet) names() []state {
	all := [...]state{stateMissing, stateFailed, stateQuarantined, stateStale, stateHeld}
	names := make([]state, 0, len(all))
	for i, name := range all {
		if c&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return names
}

// filters returns what ?state= takes.
func filters() []state {
	return append([]state{stateAttention, stateOK}, everyState.names()...)
}

// matches reports whether the set is chosen by ?state=; "" chooses all.
func (c stateSet) matches(want state) bool {
	switch want {
	case "":
		return true
	case stateOK:
		return c == 0
	case stateAttention:
		return c&^held != 0
	default:
		return slices.Contains(c.names(), want)
	}
}

// statesOf returns the states of a restaurant's menu. A version of number 0
// stands for none.
func (h *Handlers) statesOf(version cache.Version) (all stateSet) {
	if version.Version == 0 {
		return missing
	}
	switch runlog.Outcome(version.LastOutcome) {
	case runlog.OutcomeFailed:
		all |= failed
	case runlog.OutcomeQuarantined:
		all |= quarantined
	default:
	}
	if h.deps.Runner.Stale(version) {
		all |= stale
	}
	if version.Held {
		all |= held
	}
	return all
}

// stateCost is what a look at one restaurant's state may cost beside the time
// for which it counts: ten thousand are looked at once a second at most, be it
// for one page or for a hundred, and three each time.
const stateCost = 100 * time.Microsecond

// stateSummary is how all restaurants are, from memory. It never changes.
type stateSummary struct {
	of    *directory.Index
	all   []stateSet // each at its place in the index
	at    time.Time
	until time.Time
}

// stateSummary returns how all restaurants are, as this larder has it in memory: at
// most cache.poll old, and with thousands of restaurants a second more.
func (h *Handlers) stateSummary() *stateSummary {
	h.statesMu.Lock()
	defer h.statesMu.Unlock()
	of, now := h.deps.Directory.Index(), h.deps.Clock()
	if last := h.states; last != nil && last.of == of && !now.Before(last.at) && now.Before(last.until) {
		return last
	}
	made := &stateSummary{of: of, all: make([]stateSet, len(of.Entries())), at: now}
	for i, one := range of.Entries() {
		version, _ := h.deps.Replica.Version(one.ID)
		made.all[i] = h.statesOf(version)
	}
	made.until = now.Add(min(time.Duration(len(of.Entries()))*stateCost, time.Second))
	h.states = made
	return made
}

// summarised is how many orders a summary counts one by one.
const summarised = 100

// summaryView is how the caller's restaurants and orders are, in numbers.
type summaryView struct {
	Restaurants int           `json:"restaurants"`
	States      map[state]int `json:"states"`
	// UnknownOrders counts the orders to resolve, up to a hundred: More says that
	// there are others. Null while the journal cannot be asked.
	UnknownOrders *int `json:"unknownOrders"`
	More          bool `json:"moreUnknownOrders"`
}

// Summary answers GET /v1/ops/summary, the states from memory; ?q= are words as
// of the list, whose restaurants are counted then.
func (h *Handlers) Summary(c *gin.Context) error {
	text, err := respond.SearchText(c)
	if err != nil {
		return err
	}
	who := auth.CallerOf(c)
	view := h.stateSummary().count(who.Viewer(), directory.SearchWords(text))
	query := ordering.Query{Connections: h.deps.Directory.Connections(who.Viewer()), State: ordering.StateUnknown, Limit: summarised}
	records, next, err := h.deps.Journal.List(c.Request.Context(), query)
	if err != nil {
		h.deps.Log.WithFields(logrus.Fields{"event": "ops.summary_failed", "requestId": respond.RequestID(c)}).
			WithError(err).Debug("orders cannot be counted")
	} else {
		count := len(records)
		view.UnknownOrders, view.More = &count, next != ""
	}
	return respond.JSON(c, http.StatusOK, respond.Result{Result: view})
}

// count counts the viewer's restaurants in which every word occurs, and those
// in each state.
func (s *stateSummary) count(who directory.Viewer, words []string) summaryView {
	view := summaryView{States: map[state]int{}}
	var of [everyState + 1]int // restaurants in each set of states
	for at, one := range s.of.Entries() {
		if who.Sees(one.Connection) && one.Matches(words) {
			of[s.all[at]]++
			view.Restaurants++
		}
	}
	for _, state := range filters() {
		view.States[state] = 0
		for set, n := range of {
			if stateSet(set).matches(state) {
				view.States[state] += n
			}
		}
	}
	return view
}
