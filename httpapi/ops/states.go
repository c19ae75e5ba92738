package ops

import (
	"cmp"
	"net/http"
	"slices"

	"github.com/gin-gonic/gin"
	"github.com/sirupsen/logrus"

	"larder.local/cache"
	"larder.local/httpapi/auth"
	"larder.local/httpapi/respond"
	"larder.local/httpapi/visible"
	"larder.local/internal/directory"
	"larder.local/internal/hours"
	"larder.local/internal/menu"
	"larder.local/internal/upstream"
	"larder.local/ordering"
)

// state is a condition of a restaurant's menu that operators should know.
type state string

// The states. A restaurant can have several; without any it is ok. Those of a last run are its runlog.Outcome.
const (
	stateMissing     state = "missing"     // no menu
	stateFailed      state = "failed"      // the last run failed
	stateQuarantined state = "quarantined" // the guard rejected the last menu
	stateWaiting     state = "waiting"     // a circuit breaker prevented the last run (policy S10)
	stateStale       state = "stale"       // not confirmed for too long (policy S5)
	stateHeld        state = "held"        // held by a rollback (policy S7a)
	statePaused      state = "paused"      // an operator has paused orders (policy O23)
	stateOK          state = "ok"
	// stateAttention is a filter for any of the first five, except waiting.
	stateAttention state = "attention"
)

// filters returns the values of ?state=.
func filters() []state {
	return []state{stateAttention, stateOK, stateMissing, stateFailed, stateQuarantined, stateWaiting, stateStale, stateHeld, statePaused}
}

// matches reports whether ?state= selects a restaurant with these states; "" selects all.
func matches(all []state, want state) bool {
	switch want {
	case "":
		return true
	case stateOK:
		return len(all) == 0
	case stateAttention:
		return slices.ContainsFunc(all, func(one state) bool { return one != stateHeld && one != stateWaiting && one != statePaused })
	default:
		return slices.Contains(all, want)
	}
}

// urgency returns the position of the most urgent state, for sorting.
func urgency(all []state) int64 {
	order := []state{stateMissing, stateFailed, stateQuarantined, stateStale, stateWaiting, stateHeld, statePaused}
	at := slices.IndexFunc(order, func(one state) bool { return slices.Contains(all, one) })
	if at < 0 {
		at = len(order)
	}
	return int64(at)
}

// servedStates returns the states of a restaurant's menu in memory.
func (h *Handlers) servedStates(id menu.RestaurantID) []state {
	version, _ := h.deps.Replica.Version(id)
	return h.statesOf(version)
}

// statesOf returns the states of a restaurant's menu. Version 0 means that there is no menu.
func (h *Handlers) statesOf(version cache.Version) []state {
	if version.Version == 0 {
		return []state{stateMissing}
	}
	all := []state{}
	if last := state(version.LastOutcome); last == stateFailed || last == stateQuarantined || last == stateWaiting {
		all = append(all, last)
	}
	if h.deps.Runner.Stale(version) {
		all = append(all, stateStale)
	}
	if version.Held {
		all = append(all, stateHeld)
	}
	now, said := h.deps.Clock(), h.deps.Replica.Availability.Of(version.Restaurant)
	if said[hours.PauseDelivery].Holds(now) || said[hours.PausePickup].Holds(now) {
		all = append(all, statePaused)
	}
	return all
}

// summarised limits the orders that a summary counts.
const summarised = 100

// summaryView has the numbers of the caller's restaurants and orders.
type summaryView struct {
	Restaurants int           `json:"restaurants"`
	States      map[state]int `json:"states"`
	// UnknownOrders counts up to 100 orders that need resolving. More reports whether there are
	// others. Null if the journal cannot be read.
	UnknownOrders *int `json:"unknownOrders"`
	More          bool `json:"moreUnknownOrders"`
	// Paused has the connections whose Redis may have lost orders, which are not counted (policy O14a).
	Paused []string `json:"paused"`
	// Tokens has the connections whose token endpoint does not return a token (policy W2a).
	Tokens map[string]upstream.TokenStatus `json:"tokens"`
}

// Summary answers GET /v1/ops/summary. The states are from memory. ?q= limits the count to matching restaurants.
func (h *Handlers) Summary(c *gin.Context) error {
	text, err := respond.SearchText(c)
	if err != nil {
		return err
	}
	who := auth.CallerOf(c)
	view := h.count(who.Viewer(), directory.SearchWords(text))
	connections := h.deps.Directory.Connections(who.Viewer())
	view.Tokens = map[string]upstream.TokenStatus{}
	for _, name := range connections {
		if token := h.deps.Tokens(name); token.Msg != "" {
			view.Tokens[name] = token
		}
	}
	connections, err = visible.Recorded(c, h.deps.Directory, h.deps.Journal)
	view.Paused = visible.Paused(connections, h.deps.Paused)
	query := ordering.Query{Connections: connections, State: ordering.StateUnknown, Limit: summarised}
	records, next, failed := h.deps.Journal.List(c.Request.Context(), query)
	if err = cmp.Or(err, failed); err != nil {
		h.deps.Log.WithFields(logrus.Fields{"event": "ops.summary_failed", "requestId": respond.RequestID(c)}).
			WithError(err).Debug("cannot count orders with an unknown outcome")
	} else {
		view.UnknownOrders, view.More = new(len(records)), next != ""
	}
	return respond.JSON(c, http.StatusOK, respond.Result{Result: view})
}

// count counts the viewer's restaurants that match all words, in total and by state in this instance's memory, which is up
// to cache.poll old.
func (h *Handlers) count(who directory.Viewer, words []string) summaryView {
	view := summaryView{States: map[state]int{}}
	for _, want := range filters() {
		view.States[want] = 0
	}
	for _, one := range h.deps.Directory.Index().Entries() {
		if !who.Sees(one.Connection) || !one.Matches(words) {
			continue
		}
		view.Restaurants++
		states := h.servedStates(one.ID)
		for want := range view.States {
			if matches(states, want) {
				view.States[want]++
			}
		}
	}
	return view
}
