package ops

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/gin-gonic/gin"

	"larder.local/cache"
	"larder.local/httpapi/audit"
	"larder.local/httpapi/auth"
	"larder.local/httpapi/respond"
	"larder.local/internal/hours"
	"larder.local/internal/jsontext"
	"larder.local/internal/menu"
)

// Limits of what operators say about a restaurant.
const (
	maxNote     = 200 // characters
	maxSnoozes  = 500
	maxUntil    = 366 * 24 * time.Hour
	maxLeadTime = 24 * time.Hour
)

const pauseOf = "pause:" // with a type of order, it is the kind of a pause

// availabilityView is what operators have said about a restaurant and holds now.
type availabilityView struct {
	Pause   map[string]*restrictionView `json:"pause"` // by type of order; null: not paused
	Busy    *restrictionView            `json:"busy"`
	Snoozed []*restrictionView          `json:"snoozed"`
	// LeadTime is how long an order takes at least now, by its type.
	LeadTime map[string]string `json:"leadTime"`
	// NextOpening is the first time of a later opening; null: not known.
	NextOpening *string `json:"nextOpening"`
	// ReadAt is when the last complete poll of this instance began; null: never.
	ReadAt *string `json:"readAt"`
}

type restrictionView struct {
	ID       string  `json:"id,omitempty"`       // of a snoozed dish or option
	Name     string  `json:"name,omitempty"`     // its name; its id if the menu has no name
	Kind     string  `json:"kind,omitempty"`     // of the item: dish or option; empty if the menu does not have it
	LeadTime string  `json:"leadTime,omitempty"` // of a busy restaurant
	Until    *string `json:"until"`              // null: until an operator ends it
	Note     string  `json:"note"`
	By       string  `json:"by"`
	At       string  `json:"at"`
}

// availabilityOf returns what holds now, from memory.
func (d *Deps) availabilityOf(restaurant menu.RestaurantID) availabilityView {
	now := d.Clock()
	holding := d.Replica.Availability.Of(restaurant).Holding(now)
	delivery, pickup := d.Terms(restaurant, now)
	view := availabilityView{
		Pause:       map[string]*restrictionView{"delivery": nil, "pickup": nil},
		Snoozed:     []*restrictionView{},
		LeadTime:    map[string]string{"delivery": inMinutes(*delivery.LeadTime), "pickup": inMinutes(*pickup.LeadTime)},
		NextOpening: menu.TimeOrNull(d.nextOpening(restaurant, now)),
		ReadAt:      menu.TimeOrNull(d.Replica.Availability.ReadAt()),
	}
	for _, kind := range slices.Sorted(maps.Keys(holding)) {
		r := holding[kind]
		one := &restrictionView{Until: menu.TimeOrNull(r.Until), Note: r.Note, By: r.By, At: menu.FormatTime(r.At)}
		switch id, snoozed := kind.SnoozedID(); {
		case snoozed:
			one.ID = id
			one.Name, one.Kind = d.itemOf(restaurant, id)
			view.Snoozed = append(view.Snoozed, one)
		case kind == hours.Busy:
			one.LeadTime = inMinutes(time.Duration(r.Minutes) * time.Minute)
			view.Busy = one
		case kind == hours.PauseDelivery, kind == hours.PausePickup:
			view.Pause[strings.TrimPrefix(string(kind), pauseOf)] = one
		}
	}
	return view
}

func inMinutes(d time.Duration) string { return fmt.Sprintf("%dm", d/time.Minute) }

// itemOf returns the name of a dish or an option in the menu that is served and its kind; its id and "" if the menu has neither.
func (d *Deps) itemOf(restaurant menu.RestaurantID, id string) (name, kind string) {
	if served, _ := d.Replica.Cached(restaurant); served != nil {
		dishes, options := served.Catalogue.Products(), served.Catalogue.Ingredients()
		if at, ok := dishes.ByID(id); ok {
			return cmp.Or(dishes.At(at).Name(), id), "dish"
		}
		if at, ok := options.ByID(id); ok {
			return cmp.Or(options.At(at).Name(), id), "option"
		}
	}
	return id, ""
}

// Availability answers requests of operators that restrict the orders of a restaurant.
type Availability struct{ *Deps }

// said is the body of a request to restrict orders.
type said struct {
	types, ids            []string
	until, note, leadTime string
}

// read reads the body. form shows it, and has the names of its fields.
func (s *said) read(c *gin.Context, form string) error {
	fields := map[string]func(*jsontext.Reader) bool{
		"expeditionTypes": texts(&s.types), "ids": texts(&s.ids),
		"leadTime": text(&s.leadTime), "note": text(&s.note), "until": func(r *jsontext.Reader) bool {
			none := r.Kind() == jsontext.KindNull
			return text(&s.until)(r) && (none || s.until != "")
		},
	}
	maps.DeleteFunc(fields, func(name string, _ func(*jsontext.Reader) bool) bool { return !strings.Contains(form, `"`+name+`"`) })
	if err := respond.ReadFields(c, form, fields); err != nil {
		return err
	}
	s.note = strings.TrimSpace(s.note)
	if len([]rune(s.note)) > maxNote || strings.ContainsFunc(s.note, endsLine) {
		return respond.InvalidParameter("note", fmt.Sprintf("must be one line of at most %d characters", maxNote))
	}
	return nil
}

func endsLine(r rune) bool { return unicode.In(r, unicode.Cc, unicode.Zl, unicode.Zp) }

// text returns a function that reads a text or null.
func text(into *string) func(*jsontext.Reader) bool {
	return func(r *jsontext.Reader) (ok bool) {
		if r.Kind() == jsontext.KindNull {
			r.Skip()
			return true
		}
		*into, ok = r.Text()
		return ok
	}
}

// texts returns a function that reads an array of texts.
func texts(into *[]string) func(*jsontext.Reader) bool {
	return func(r *jsontext.Reader) bool {
		ok := r.Kind() == jsontext.KindArray
		for range r.Elements() {
			one, isText := r.Text()
			*into, ok = append(*into, one), ok && isText
		}
		return ok
	}
}

// restriction returns the restriction that the body describes, except for its lead time.
func (a *Availability) restriction(c *gin.Context, s said, restaurant menu.RestaurantID) (hours.Restriction, error) {
	now := a.Clock().Truncate(time.Millisecond)
	r := hours.Restriction{Note: s.note, By: auth.CallerOf(c).Client, At: now.UTC()}
	if s.until == "" {
		return r, nil
	}
	at, err := time.Parse(time.RFC3339, s.until)
	if s.until == "next_open" && s.ids != nil {
		if at, err = a.nextOpening(restaurant, now), nil; at.IsZero() {
			return r, &respond.Problem{
				Code: respond.CodeNoOpening, Msg: "it is not known when the restaurant opens next: set its hours, or send a time",
			}
		}
	}
	switch {
	case err != nil:
		return r, respond.InvalidParameter("until", "must be a time with its offset, such as 2026-12-31T19:00:00+03:00")
	case !at.After(now):
		return r, respond.InvalidParameter("until", "is over: it is "+now.UTC().Format(time.RFC3339)+" now")
	case at.After(now.Add(maxUntil)):
		return r, respond.InvalidParameter("until", "must be at most a year ahead; leave it out if the end is not known")
	}
	r.Until = at.UTC()
	return r, nil
}

// nextOpening returns when a restaurant opens next, for delivery or for pickup; zero if that is not known.
func (d *Deps) nextOpening(restaurant menu.RestaurantID, now time.Time) time.Time {
	delivery, pickup := d.Terms(restaurant, now)
	first, _ := delivery.Hours.NextOpening(now)
	if second, ok := pickup.Hours.NextOpening(now); ok && (first.IsZero() || second.Before(first)) {
		return second
	}
	return first
}

// describe returns what was restricted and until when in the restaurant's time zone, for the audit log.
func (a *Availability) describe(restaurant menu.RestaurantID, what string, r hours.Restriction) string {
	if !r.Until.IsZero() {
		plan, _ := a.Runner.Plan(restaurant)
		zone, err := time.LoadLocation(plan.TimeZone)
		if err != nil {
			zone = time.UTC
		}
		what += " until " + r.Until.In(zone).Format("Mon 2 Jan 2006 15:04 MST")
	}
	if r.Note != "" {
		what += ": " + r.Note
	}
	return what
}

// Pause answers POST …/pause: no orders of some types, or of all, for a time before until.
func (a *Availability) Pause(c *gin.Context, restaurant menu.RestaurantID) error {
	var s said
	if err := s.read(c, `{"expeditionTypes": ["pickup"], "until": "2026-12-31T19:00:00+03:00", "note": "the oven"}`); err != nil {
		return err
	}
	r, err := a.restriction(c, s, restaurant)
	if err != nil {
		return err
	}
	if len(s.types) == 0 {
		s.types = []string{"delivery", "pickup"}
	}
	all := hours.Availability{}
	for _, name := range s.types {
		kind := hours.Kind(pauseOf + name)
		if kind != hours.PauseDelivery && kind != hours.PausePickup {
			return respond.InvalidParameter("expeditionTypes", fmt.Sprintf("has %q; the types are delivery and pickup", name))
		}
		all[kind] = r
	}
	return a.restrict(c, restaurant, audit.Pause, all, a.describe(restaurant, strings.Join(s.types, ", "), r))
}

// Unpause answers DELETE …/pause. It ends the pauses of both types.
func (a *Availability) Unpause(c *gin.Context, restaurant menu.RestaurantID) error {
	return a.end(c, restaurant, audit.Open, hours.PauseDelivery, hours.PausePickup)
}

// Busy answers POST …/busy: a longer lead time until a time.
func (a *Availability) Busy(c *gin.Context, restaurant menu.RestaurantID) error {
	var s said
	if err := s.read(c, `{"leadTime": "90m", "until": "2026-12-31T19:00:00+03:00", "note": "a large party"}`); err != nil {
		return err
	}
	lead, err := time.ParseDuration(s.leadTime)
	if err != nil || lead < time.Minute || lead > maxLeadTime || lead%time.Minute != 0 {
		return respond.InvalidParameter("leadTime", "must be whole minutes up to 24h, such as 90m")
	}
	r, err := a.restriction(c, s, restaurant)
	if err != nil {
		return err
	}
	r.Minutes = int(lead / time.Minute)
	return a.restrict(c, restaurant, audit.Busy, hours.Availability{hours.Busy: r}, a.describe(restaurant, inMinutes(lead), r))
}

// EndBusy answers DELETE …/busy.
func (a *Availability) EndBusy(c *gin.Context, restaurant menu.RestaurantID) error {
	return a.end(c, restaurant, audit.BusyEnd, hours.Busy)
}

// Snooze answers POST …/snooze: dishes and options that are not sold until a time.
func (a *Availability) Snooze(c *gin.Context, restaurant menu.RestaurantID) error {
	s := said{ids: []string{}}
	if err := s.read(c, `{"ids": ["1"], "until": "2026-12-31T19:00:00+03:00 or next_open", "note": "the fryer"}`); err != nil {
		return err
	}
	if _, err := a.Replica.Catalogue(c.Request.Context(), restaurant); err != nil {
		return err
	}
	r, err := a.restriction(c, s, restaurant)
	if err != nil {
		return err
	}
	all, names := hours.Availability{}, make([]string, 0, len(s.ids))
	for _, id := range s.ids {
		name, itemKind := a.itemOf(restaurant, id)
		if itemKind == "" {
			return respond.InvalidParameter("ids", fmt.Sprintf("has %q, which is neither a dish nor an option of the menu", id))
		}
		all[hours.Snooze(id)], names = r, append(names, name)
	}
	held := a.Replica.Availability.Of(restaurant).Snoozed(r.At)
	maps.DeleteFunc(held, func(id string, _ time.Time) bool { return slices.Contains(s.ids, id) })
	if len(all) == 0 || len(held)+len(all) > maxSnoozes {
		return respond.InvalidParameter("ids", fmt.Sprintf("must have at least one id, and with those before at most %d", maxSnoozes))
	}
	const named = 5 // in the audit log
	what := strings.Join(names[:min(named, len(names))], ", ")
	if more := len(names) - named; more > 0 {
		what += fmt.Sprintf(" and %d more", more)
	}
	return a.restrict(c, restaurant, audit.Snooze, all, a.describe(restaurant, what, r))
}

// Wake answers DELETE …/snooze/{id}.
func (a *Availability) Wake(c *gin.Context, restaurant menu.RestaurantID) error {
	return a.end(c, restaurant, audit.Wake, hours.Snooze(respond.Param(c, "id")))
}

// restrict saves what an operator has said, and answers with what holds then. A value replaces those that were said before,
// also by instances whose clock is ahead.
func (a *Availability) restrict(
	c *gin.Context, restaurant menu.RestaurantID, action audit.Action, all hours.Availability, what string,
) error {
	ctx := c.Request.Context()
	if err := a.Replica.Availability.Read(ctx, restaurant); err != nil {
		return err
	}
	held := a.Replica.Availability.Of(restaurant)
	for kind, r := range all {
		r.Rev = max(a.Clock().UnixMilli(), held[kind].Rev+1)
		all[kind] = r
	}
	if err := a.Store.Restrict(ctx, restaurant, all, nil); err != nil {
		return err
	}
	cache.AnnounceAvailability(ctx, a.Store, restaurant)
	a.Audit.Add(c, audit.Entry{Action: action, Restaurant: &restaurant, Detail: audit.Detail(what)})
	return a.answer(ctx, c, restaurant)
}

// end ends the restrictions of these kinds, if they hold.
func (a *Availability) end(c *gin.Context, restaurant menu.RestaurantID, action audit.Action, kinds ...hours.Kind) error {
	ctx, now := c.Request.Context(), a.Clock().Truncate(time.Millisecond)
	if err := a.Replica.Availability.Read(ctx, restaurant); err != nil { // another instance may have just changed it
		return err
	}
	held, ended, names := a.Replica.Availability.Of(restaurant), hours.Availability{}, []string{}
	for _, kind := range kinds {
		if r := held[kind]; r.Holds(now) {
			r.EndedAt = now.UTC()
			_, name, _ := strings.Cut(string(kind), ":") // the type of a pause
			if id, snoozed := kind.SnoozedID(); snoozed {
				name, _ = a.itemOf(restaurant, id)
			}
			ended[kind], names = r, append(names, name)
		}
	}
	if len(ended) == 0 {
		return a.answer(ctx, c, restaurant)
	}
	return a.restrict(c, restaurant, action, ended, strings.Join(names, ", "))
}

func (a *Availability) answer(ctx context.Context, c *gin.Context, restaurant menu.RestaurantID) error {
	if err := a.Replica.Availability.Read(ctx, restaurant); err != nil {
		return err
	}
	return respond.JSON(c, http.StatusOK, respond.Result{Result: a.availabilityOf(restaurant)})
}
