package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// statusAway is the status of a daemon that does not answer.
const statusAway = "away"

// standingOK is how a restaurant or a part stands with which nothing is wrong.
const standingOK = "ok"

// sight is what one look at a daemon has seen.
type sight struct {
	At          time.Time
	Status      string // of readiness, or away
	Reason      string // why it is away
	Parts       map[string]part
	Restaurants []restaurant
	Listed      bool // the restaurants could be listed
	Unknown     []orderRecord
	Told        bool // the orders could be asked for
}

// read takes readiness apart; connections are parts named "connections NAME".
func (s *sight) read(body []byte) error {
	var r ready
	if err := json.Unmarshal(body, &r); err != nil {
		return err
	}
	s.Status, s.Parts = r.Status, map[string]part{}
	for name, raw := range r.Parts {
		var p part
		if err := json.Unmarshal(raw, &p); err == nil && p.OK != nil {
			s.Parts[name] = p
			continue
		}
		var inner map[string]part
		if json.Unmarshal(raw, &inner) != nil {
			continue // a form of a later larder
		}
		for key, p := range inner {
			s.Parts[name+" "+key] = p
		}
	}
	return nil
}

// standing is how a part is, on one line.
func (p part) standing() string {
	if p.OK != nil && *p.OK {
		return standingOK
	}
	if p.Msg == "" {
		return "not ok"
	}
	return "not ok: " + p.Msg
}

// troubles are what is not as it should be with a restaurant.
func (r *restaurant) troubles() []string {
	var all []string
	switch {
	case r.Version == 0:
		all = append(all, "no menu")
	case r.LastOutcome == "failed" || r.LastOutcome == "quarantined":
		all = append(all, r.LastOutcome)
	}
	if r.Stale && r.Version > 0 {
		all = append(all, "stale")
	}
	if r.Held {
		all = append(all, "held")
	}
	return all
}

// standing is the restaurant's version and what is wrong, on one line.
func (r *restaurant) standing() string {
	all := r.troubles()
	if r.Version > 0 {
		all = append([]string{fmt.Sprintf("version %d", r.Version)}, all...)
	}
	return strings.Join(all, ", ")
}

// age is how long ago the ordering service was last asked for the menu.
func (r *restaurant) age(now time.Time) (age time.Duration, known bool) {
	at, err := time.Parse(time.RFC3339, r.CheckedAt)
	if err != nil {
		return 0, false
	}
	return max(now.Sub(at), 0), true
}

// change is one thing that is otherwise than before. Its JSON is a line of
// `larder status --watch --json`.
type change struct {
	At   time.Time `json:"at"`
	What string    `json:"what"`          // larder, part, restaurant, restaurants, or order
	ID   string    `json:"id,omitempty"`  // which one
	Was  string    `json:"was,omitempty"` // "" at the first look, and for what is new
	Is   string    `json:"is"`
	Msg  string    `json:"msg,omitempty"`
}

func (c change) String() string {
	text := c.At.Format(time.TimeOnly) + "  " + c.What
	if c.ID != "" {
		text += " " + c.ID
	}
	text += ": "
	if c.Was != "" {
		text += c.Was + " → "
	}
	text += c.Is
	if c.Msg != "" {
		text += " (" + c.Msg + ")"
	}
	return text
}

// since is what has changed. At the first look that is everything at once: how
// larder stands, its parts, and of restaurants and orders those that somebody
// should look at.
func (s *sight) since(before *sight) []change {
	first := before == nil
	if first {
		before = &sight{}
	}
	var all []change
	add := func(what, id, was, is, msg string) {
		if was != is {
			all = append(all, change{At: s.At, What: what, ID: id, Was: was, Is: is, Msg: msg})
		}
	}
	add("larder", "", before.Status, s.Status, s.Reason)
	if s.Status == statusAway {
		return all // nothing else is known
	}
	for _, name := range slices.Sorted(maps.Keys(s.Parts)) {
		was := ""
		if p, known := before.Parts[name]; known {
			was = p.standing()
		}
		if is := s.Parts[name].standing(); before.Parts != nil || is != standingOK {
			add("part", name, was, is, "")
		}
	}
	s.restaurantsSince(before, first, add)
	s.ordersSince(before, add)
	return all
}

func (s *sight) restaurantsSince(before *sight, first bool, add func(what, id, was, is, msg string)) {
	if !s.Listed {
		return
	}
	was := map[string]string{}
	for i := range before.Restaurants {
		was[before.Restaurants[i].ID] = before.Restaurants[i].standing()
	}
	if first || !before.Listed {
		add("restaurants", "", "", s.summary(), "")
	}
	for i := range s.Restaurants {
		r := &s.Restaurants[i]
		if before.Listed || len(r.troubles()) > 0 {
			add("restaurant", r.ID, was[r.ID], r.standing(), nameBeside(r.ID, r.Name))
		}
		delete(was, r.ID)
	}
	for _, id := range slices.Sorted(maps.Keys(was)) {
		add("restaurant", id, was[id], "gone", "")
	}
}

func (s *sight) ordersSince(before *sight, add func(what, id, was, is, msg string)) {
	if !s.Told {
		return
	}
	was := map[string]bool{}
	for i := range before.Unknown {
		was[before.Unknown[i].Ref] = true
	}
	for i := range s.Unknown {
		order := &s.Unknown[i]
		if !was[order.Ref] {
			add("order", order.Ref, "", order.standing(), "restaurant "+order.place()+", since "+order.CreatedAt)
		}
		delete(was, order.Ref)
	}
	for _, ref := range slices.Sorted(maps.Keys(was)) {
		add("order", ref, "unknown", "settled", "")
	}
}

// nameBeside is a name that says more than the id.
func nameBeside(id, name string) string {
	if name == id {
		return ""
	}
	return name
}

// summary is "120 restaurants, 118 ok, 1 failed, 2 stale".
func (s *sight) summary() string {
	counts, well := map[string]int{}, 0
	for i := range s.Restaurants {
		troubles := s.Restaurants[i].troubles()
		if len(troubles) == 0 {
			well++
		}
		for _, trouble := range troubles {
			counts[trouble]++
		}
	}
	var text strings.Builder
	fmt.Fprintf(&text, "%s, %d ok", plural(len(s.Restaurants), "restaurant", "restaurants"), well)
	for _, trouble := range slices.Sorted(maps.Keys(counts)) {
		fmt.Fprintf(&text, ", %d %s", counts[trouble], trouble)
	}
	return text.String()
}

// worstFirst orders restaurants for a person with little room: those with
// troubles, then those whose menu was asked for longest ago.
func (s *sight) worstFirst() []restaurant {
	sorted := slices.Clone(s.Restaurants)
	slices.SortStableFunc(sorted, func(a, b restaurant) int {
		return cmp.Or(
			cmp.Compare(len(b.troubles()), len(a.troubles())),
			cmp.Compare(a.CheckedAt, b.CheckedAt), // RFC 3339 in UTC sorts as time does
			cmp.Compare(a.ID, b.ID),
		)
	})
	return sorted
}
