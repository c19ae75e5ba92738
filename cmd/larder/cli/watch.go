package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"larder.local/cmd/larder/client"
	"larder.local/httpapi/auth"
	"larder.local/internal/sleep"
)

const (
	// minWatchInterval is the shortest allowed polling interval.
	minWatchInterval = 200 * time.Millisecond
	// pollLimit is the timeout of one poll.
	pollLimit = 15 * time.Second
	// pauseFactor is the minimum ratio of the pause to the duration of a poll,
	// which limits the load with thousands of restaurants.
	pauseFactor = 4
)

// watcher polls a daemon and prints a line for each change.
type watcher struct {
	env   *Environment
	menus *client.Client
	ops   *client.Client // nil without a token with the scope ops
	json  bool
}

// watchStatus runs `larder status --watch` until the command's context ends. If the
// daemon does not respond, the first poll is an error, and later ones are changes.
func watchStatus(cmd *cobra.Command, env *Environment) error {
	every, _ := cmd.Flags().GetDuration("every")
	if every < minWatchInterval {
		return &usageError{fmt.Sprintf("--every: at least %v, not %v", minWatchInterval, every)}
	}
	v := &watcher{env: env, json: AsJSON(cmd), menus: target(cmd, env, auth.ScopeMenu)}
	v.ops = target(cmd, env, auth.ScopeOps)
	if v.ops.Authorized == nil {
		v.ops = nil
	}
	ctx, last := cmd.Context(), snapshot{}
	for first := true; ; first = false {
		began := time.Now()
		now, err := v.poll(ctx, last)
		switch {
		case ctx.Err() != nil:
			return nil //nolint:nilerr // interrupted, as intended
		case err != nil && first:
			return err
		case err != nil:
			now = snapshot{}
			now.set("larder", "", subjectState{state: "unreachable", msg: stripPackage(err.Error())})
			now.keep(last, "part", "restaurant", "order")
		}
		for _, c := range now.changes(last) {
			if err := v.print(c); err != nil {
				return err
			}
		}
		last = now
		if sleep.For(ctx, max(every, pauseFactor*time.Since(began))) != nil {
			return nil //nolint:nilerr // interrupted, as intended
		}
	}
}

func (v *watcher) print(c statusChange) error {
	if v.json {
		return json.NewEncoder(v.env.Out.Raw).Encode(c) // one line
	}
	_, err := fmt.Fprintln(v.env.Out.Raw, Safe(c.String()))
	return err
}

// poll reads the complete state. It returns an error if readiness is not available;
// a list that is not available keeps its last state.
func (v *watcher) poll(ctx context.Context, last snapshot) (snapshot, error) {
	ctx, cancel := context.WithTimeout(ctx, pollLimit)
	defer cancel()
	daemon := v.menus.ForReadiness()
	body, _, err := readiness(ctx, daemon)
	if err != nil {
		return nil, err
	}
	ready, err := parseReadiness(daemon.Base, body)
	if err != nil {
		return nil, err
	}
	now := snapshot{}
	now.set("larder", "", subjectState{state: ready.Status})
	for name, p := range ready.components {
		now.set("part", name, subjectState{state: p.state(), quiet: p.state() == stateOK})
	}
	now.keep(last, "restaurant", "order")
	if all, err := Restaurants(ctx, v.menus); err == nil {
		now.addRestaurants(all, last["restaurant"] == nil)
	}
	if v.ops != nil {
		v.addOrders(ctx, last, now)
	}
	return now, nil
}

// addOrders lists the orders that need resolving. It does not list them again after a refusal, because each attempt
// counts as a failed authentication.
func (v *watcher) addOrders(ctx context.Context, last, now snapshot) {
	orders, err := client.EveryPage[OrderRecord](ctx, v.ops, "/v1/ops/orders?state=unknown&limit=500")
	if err != nil {
		if client.RefusedWith(err, http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound) {
			v.ops = nil
		}
		return
	}
	now["order"] = map[string]subjectState{}
	for i := range orders {
		order := &orders[i]
		msg := "restaurant " + order.place() + ", since " + order.CreatedAt
		now.set("order", order.Ref, subjectState{state: order.StateText(), msg: msg})
	}
	// An order that is not in the list any more is kept unless its record says that it is resolved:
	// Redis may have lost it.
	for ref, was := range last["order"] {
		if _, listed := now["order"][ref]; listed {
			continue
		}
		order, err := client.Get[OrderRecord](ctx, v.ops, "/v1/ops/orders/"+url.PathEscape(ref))
		if err != nil || order.Unknown != nil {
			now.set("order", ref, was)
		}
	}
}

// subjectState is the state of a subject of a line: larder, a part, restaurants, a restaurant or an order.
type subjectState struct {
	state, msg string
	quiet      bool // no line when its kind is read for the first time
}

// snapshot is the state that one poll has read, by kind and id of the subject. A kind that was never read is nil.
type snapshot map[string]map[string]subjectState

func (s snapshot) set(kind, id string, it subjectState) {
	if s[kind] == nil {
		s[kind] = map[string]subjectState{}
	}
	s[kind][id] = it
}

// keep takes some kinds from the last snapshot.
func (s snapshot) keep(last snapshot, kinds ...string) {
	for _, kind := range kinds {
		s[kind] = last[kind]
	}
}

func (s snapshot) addRestaurants(all []Restaurant, summarise bool) {
	s["restaurant"] = map[string]subjectState{}
	if summarise {
		s.set("restaurants", "", subjectState{state: summaryOfStates(all)})
	}
	for i := range all {
		r := &all[i]
		it := subjectState{state: r.state(), quiet: len(r.problems()) == 0}
		if r.Name != r.ID {
			it.msg = r.Name
		}
		s.set("restaurant", r.ID, it)
	}
}

// statusChange is one difference from the last poll. Its JSON is a line of `larder status --watch --json`.
type statusChange struct {
	At      time.Time `json:"at"`
	Subject string    `json:"subject"` // larder, part, restaurants, restaurant, or order
	ID      string    `json:"id,omitempty"`
	From    string    `json:"from,omitempty"` // "" for a new subject
	To      string    `json:"to"`
	Msg     string    `json:"msg,omitempty"`
}

func (c statusChange) String() string {
	text := c.At.Format(time.TimeOnly) + "  " + joined(" ", c.Subject, c.ID) + ": " + joined(" → ", c.From, c.To)
	if c.Msg != "" {
		text += " (" + c.Msg + ")"
	}
	return text
}

// changes returns the differences from the last snapshot. The first time these are
// the state of larder and the subjects with problems.
func (s snapshot) changes(last snapshot) []statusChange {
	// The state of a subject that has disappeared.
	gone := map[string]string{"restaurant": "gone", "order": "resolved"}
	var all []statusChange
	for _, kind := range []string{"larder", "part", "restaurants", "restaurant", "order"} {
		every := map[string]subjectState{}
		maps.Copy(every, last[kind])
		maps.Copy(every, s[kind])
		for _, id := range slices.Sorted(maps.Keys(every)) {
			was := last[kind][id]
			now, there := s[kind][id]
			if !there {
				now.state = gone[kind]
			}
			if now.state == "" || now.state == was.state || now.quiet && last[kind] == nil {
				continue
			}
			all = append(all, statusChange{At: time.Now(), Subject: kind, ID: id, From: was.state, To: now.state, Msg: now.msg})
		}
	}
	return all
}
