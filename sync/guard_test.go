package sync_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"larder.local/internal/redisdb"
	menusync "larder.local/sync"
	"larder.local/sync/runlog"
)

// dish is a dish of a test's menu; its price is JSON.
type dish struct{ id, code, name, price, more string }

// carte returns a menu view.
func carte(dishes []dish) []byte {
	var b strings.Builder
	b.WriteString(`{"result":{"name":"Test","categories":[],"products":[`)
	for i, d := range dishes {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"id":%q,"externalId":%q,"name":%q,"price":%s%s}`, d.id, d.code, d.name, d.price, d.more)
	}
	b.WriteString(`],"ingredientsSchemes":[{"id":"s","ingredientsGroups":[{"id":"g","minCount":1,"maxCount":1}]}],` +
		`"ingredientsGroups":[{"id":"g","name":"G","ingredients":[]}],"ingredients":[]}}`)
	return []byte(b.String())
}

// dishes returns n dishes with a prefix of their ids and codes at the prices 10, 11, ….
func dishes(prefix string, n int) []dish {
	all := make([]dish, n)
	for i := range all {
		all[i] = dish{
			id: fmt.Sprintf("%s%d", prefix, i), code: fmt.Sprintf("x-%s%d", prefix, i),
			name: fmt.Sprintf("Dish of %s number %d", prefix, i), price: strconv.Itoa(10 + i),
		}
	}
	return all
}

// each returns a changed copy of the first n dishes, and the others.
func each(all []dish, n int, change func(*dish)) []dish {
	all = slices.Clone(all)
	for i := range n {
		change(&all[i])
	}
	return all
}

func priced(price string) func(*dish) { return func(d *dish) { d.price = price } }

func times(factor int) func(*dish) {
	return func(d *dish) {
		var price int
		_, _ = fmt.Sscan(d.price, &price)
		d.price = strconv.Itoa(factor * price)
	}
}

// TestGuard_S4 has a served menu of 20 dishes, and one that is fetched next (policy S4).
func TestGuard_S4(t *testing.T) {
	t.Parallel()
	const ids, prices, growth = "(sync.guard.ids)", "(sync.guard.prices)", "(sync.guard.growth)"
	served := dishes("p", 20)
	stop := func(d *dish) { d.more = `,"disabled":true` }
	newID := func(d *dish) { d.id = "new-" + d.id }
	newCode := func(d *dish) { d.code = "new-" + d.code }
	stuck := func(d *dish) { d.more = `,"schemeId":"s"` } // a required group without options
	free := each(served, 20, priced("0"))
	for name, c := range map[string]struct {
		served, fetched []dish
		want            string // a part of the reason; empty: it is published
		example         string
	}{
		"the same with another name":                 {served, each(served, 1, func(d *dish) { d.name = "Other" }), "", ""},
		"empty":                                      {served, nil, "Menu is empty", ""},
		"only dishes without an id":                  {served, each(served, 20, func(d *dish) { d.id = "" }), "Menu is empty", ""},
		"half of the dishes are gone":                {served, served[:10], "", ""},
		"more than half are gone":                    {served, served[:9], "11 of 20 dishes are gone " + ids, `"Dish of…"`},
		"another restaurant":                         {served, dishes("z", 20), "20 of 20 dishes are gone " + ids, `"Dish of…"`},
		"another restaurant and half of the own one": {served, append(dishes("z", 30), served[:10]...), "", ""},
		"another restaurant and less than half":      {served, append(dishes("z", 30), served[:9]...), "11 of 20 dishes are gone " + ids, ""},
		"a re-export: new ids, the same codes":       {served, each(served, 20, newID), "", ""},
		"new codes, the same ids":                    {served, each(served, 20, newCode), "", ""},
		"new ids and new codes":                      {served, each(each(served, 20, newID), 20, newCode), "20 of 20 dishes are gone " + ids, ""},
		"a season: 40 % are replaced":                {served, append(dishes("winter", 8), served[8:]...), "", ""},
		"all are stopped":                            {served, each(served, 20, stop), "", ""},
		"stopped dishes are left":                    {served, each(served[:10], 10, stop), "", ""},
		"stopped dishes do not hide that prices are lost": {
			served, each(each(served, 11, stop), 11, priced("0")),
			"11 of 20 dishes became free or unorderable " + prices, "",
		},
		"all prices 0":                      {served, free, "20 of 20 dishes became free or unorderable " + prices, `"Dish of…"`},
		"all prices null":                   {served, each(served, 20, priced("null")), "20 of 20 dishes became free or unorderable " + prices, ""},
		"all prices unreadable":             {served, each(served, 20, priced(`"?"`)), "20 of 20 dishes became free or unorderable", ""},
		"11 cannot be ordered any more":     {served, each(served, 11, stuck), "11 of 20 dishes became free or unorderable", ""},
		"10 cannot be ordered any more":     {served, each(served, 10, stuck), "", ""},
		"half of the prices are 0":          {served, each(served, 10, priced("0")), "", ""},
		"one dish is free":                  {served, each(served, 1, priced("0")), "", ""},
		"a free menu stays free":            {free, each(free, 1, func(d *dish) { d.name = "Other" }), "", ""},
		"a free menu gets prices":           {free, served, "", ""},
		"a currency: prices × 100":          {served, each(served, 20, times(100)), "20 of 20 prices changed tenfold " + prices, `"Dish of…"`},
		"prices ÷ 10":                       {each(served, 20, times(10)), served, "20 of 20 prices changed tenfold", ""},
		"prices × 10":                       {served, each(served, 20, times(10)), "20 of 20 prices changed tenfold", ""},
		"prices × 9":                        {served, each(served, 20, times(9)), "", ""},
		"half of the prices × 100":          {served, each(served, 10, times(100)), "", ""},
		"more than half × 100, new ids":     {served, each(each(served, 11, times(100)), 20, newID), "11 of 20 prices changed tenfold", ""},
		"ten times as many, few":            {served, append(dishes("more", 1000), served...), "", ""},
		"one dish is replaced":              {served[:1], dishes("z", 1), "1 of 1 dishes are gone", ""},
		"grows to 5,000":                    {served, append(dishes("more", 4980), served...), "", ""},
		"grows to more than 5,000":          {served, append(dishes("more", 4981), served...), "Menu grew from 20 to 5001 dishes " + growth, `"Dish of…"`},
		"first menu":                        {nil, served, "", ""},
		"first menu, empty":                 {nil, []dish{}, "Menu is empty, so it was not published", ""},
		"first menu, all prices 0":          {nil, free, "No dish is both priced and orderable " + prices, `"Dish of…"`},
		"first menu, one price":             {nil, each(free, 1, priced("1")), "", ""},
		"first menu, all stopped":           {nil, each(served, 20, stop), "", ""},
		"first menu, one price, no options": {nil, each(each(free, 1, priced("1")), 1, stuck), "No dish is both priced and orderable", ""},
		"first menu, large":                 {nil, dishes("p", 6000), "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newFixture(t, redisdb.Embedded)
			if c.served != nil {
				g.service.body = carte(c.served)
				if run := g.once(); run.Outcome != runlog.OutcomeUpdated { // a free first menu
					g.force()
				}
			}
			g.service.set(func(s *service) { s.body = carte(c.fetched) })
			run := g.once()
			if c.want == "" {
				if run.Outcome != runlog.OutcomeUpdated {
					t.Errorf("%s: %s, want updated", run.Outcome, run.Error)
				}
				return
			}
			words := len(strings.Fields(run.Error))
			if run.Outcome != runlog.OutcomeQuarantined || !strings.Contains(run.Error, c.want) || !strings.Contains(run.Error, c.example) ||
				words > 25 || !strings.HasSuffix(run.Error, "To publish anyway: larder sync --force "+string(bistro)) {
				t.Errorf("%s: %s (%d words), want quarantined: %s, %s, at most 25 words and the way out", run.Outcome, run.Error, words, c.want, c.example)
			}
			if run.Version > 1 {
				t.Errorf("version %d is served, want that of before", run.Version)
			}
		})
	}
}

// force syncs with force, as POST …/sync does.
func (g *fixture) force() runlog.Run {
	g.t.Helper()
	defer g.schedule(g.Instance)()
	return g.wait(g.Instance, g.start(g.Instance, menusync.Request{Force: true}).ID)
}

// Lunch after breakfast is questioned once: afterwards both menus are in the history.
func TestTheGuardKnowsTheMenusOfTheHistory_S4(t *testing.T) {
	t.Parallel()
	g := newFixture(t, redisdb.Embedded)
	breakfast, lunch := carte(dishes("b", 20)), carte(each(dishes("l", 20), 20, times(100)))
	serve := func(body []byte) runlog.Run {
		t.Helper()
		g.service.set(func(s *service) { s.body = body })
		return g.once()
	}
	g.want(serve(breakfast), runlog.OutcomeUpdated, 1)
	g.want(serve(lunch), runlog.OutcomeQuarantined, 1)
	if run := g.force(); run.Outcome != runlog.OutcomeUpdated {
		t.Fatalf("force: %s: %s", run.Outcome, run.Error)
	}
	g.want(serve(breakfast), runlog.OutcomeUpdated, 3)
	g.want(serve(carte(each(dishes("l", 20), 20, func(d *dish) { times(100)(d); d.more = `,"disabled":true` }))), runlog.OutcomeUpdated, 4)
	g.want(serve(breakfast), runlog.OutcomeUpdated, 5)
	g.want(serve(carte(dishes("dinner", 20))), runlog.OutcomeQuarantined, 5)
	g.want(serve(carte(nil)), runlog.OutcomeQuarantined, 5)

	// Other settings make other hashes of the same contents.
	changed := g.deps.Restaurants[0]
	changed.Settings.MaxZeroNone = !changed.Settings.MaxZeroNone
	other := g.another(func(d *menusync.Deps) { d.Restaurants = []menusync.Restaurant{changed} })
	g.service.set(func(s *service) { s.body = lunch })
	if run, err := other.OnceOf(t.Context(), bistro, runlog.TriggerCron); err != nil || run.Outcome != runlog.OutcomeUpdated {
		t.Errorf("lunch with other settings: %s %s %v, want updated", run.Outcome, run.Error, err)
	}
}

// Other settings alone are no reason for a quarantine, even if they forbid the orders of most dishes.
func TestTheGuardComparesWithTheSameSettings(t *testing.T) {
	t.Parallel()
	noCodes := each(dishes("p", 20), 20, func(d *dish) { d.code = "" })
	g := newFixture(t, redisdb.Embedded)
	g.service.body = carte(noCodes)
	g.want(g.once(), runlog.OutcomeUpdated, 1)
	strict := g.deps.Restaurants[0]
	strict.Settings.RefuseMissingExternalID = true
	other := g.another(func(d *menusync.Deps) { d.Restaurants = []menusync.Restaurant{strict} })
	g.service.set(func(s *service) { s.body = carte(append(dishes("new", 1), noCodes...)) })
	run, err := other.OnceOf(t.Context(), bistro, runlog.TriggerCron)
	if err != nil || run.Outcome != runlog.OutcomeUpdated {
		t.Errorf("%s %s %v, want updated", run.Outcome, run.Error, err)
	}
}

func TestEachCheckOfTheGuardCanBeTurnedOff(t *testing.T) {
	t.Parallel()
	served := dishes("p", 20)
	on := func(ids, prices, growth bool, limit float64) menusync.GuardLimits {
		return menusync.GuardLimits{IDs: ids, Prices: prices, Growth: growth, ShrinkLimit: limit}
	}
	for name, c := range map[string]struct {
		limits  menusync.GuardLimits
		fetched []dish
		want    runlog.Outcome
	}{
		"ids":                           {on(false, true, true, 0.5), dishes("z", 20), runlog.OutcomeUpdated},
		"ids, fewer new dishes":         {on(false, true, true, 0.5), append(dishes("z", 6), served[:3]...), runlog.OutcomeQuarantined},
		"ids, some new dishes":          {on(false, true, true, 0.5), append(dishes("z", 7), served[:3]...), runlog.OutcomeUpdated},
		"ids, but prices are checked":   {on(false, true, true, 0.5), each(dishes("z", 20), 20, priced("0")), runlog.OutcomeQuarantined},
		"prices, all 0":                 {on(true, false, true, 0.5), each(served, 20, priced("0")), runlog.OutcomeUpdated},
		"prices, × 100":                 {on(true, false, true, 0.5), each(served, 20, times(100)), runlog.OutcomeUpdated},
		"prices, but ids are checked":   {on(true, false, true, 0.5), dishes("z", 20), runlog.OutcomeQuarantined},
		"growth":                        {on(true, true, false, 0.5), append(dishes("m", 5000), served...), runlog.OutcomeUpdated},
		"an empty menu":                 {on(false, false, false, 0.5), nil, runlog.OutcomeQuarantined},
		"a limit of its own, lower":     {on(true, true, true, 0.1), served[:17], runlog.OutcomeQuarantined},
		"a limit of its own, higher":    {on(true, true, true, 0.9), served[:3], runlog.OutcomeUpdated},
		"a limit of 1: all may be gone": {on(true, true, true, 1), dishes("z", 20), runlog.OutcomeUpdated},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newFixture(t, redisdb.Embedded, func(d *menusync.Deps) { d.Restaurants[0].Guard = c.limits })
			g.service.body = carte(served)
			g.want(g.once(), runlog.OutcomeUpdated, 1)
			g.service.set(func(s *service) { s.body = carte(c.fetched) })
			if run := g.once(); run.Outcome != c.want {
				t.Errorf("%s %s, want %s", run.Outcome, run.Error, c.want)
			}
		})
	}
}

func TestGuardOfARestaurant(t *testing.T) {
	t.Parallel()
	yes, no, half := new(true), new(false), 0.25
	general := menusync.Config{Guard: menusync.Guard{IDs: no}, ShrinkLimit: 0.75}
	general.SetDefaults()
	for name, c := range map[string]struct {
		own   menusync.Guard
		limit *float64
		want  menusync.GuardLimits
	}{
		"nothing of its own": {menusync.Guard{}, nil, menusync.GuardLimits{Prices: true, Growth: true, ShrinkLimit: 0.75}},
		"turned on":          {menusync.Guard{IDs: yes}, &half, menusync.GuardLimits{IDs: true, Prices: true, Growth: true, ShrinkLimit: 0.25}},
		"turned off":         {menusync.Guard{Prices: no, Growth: no}, nil, menusync.GuardLimits{ShrinkLimit: 0.75}},
	} {
		if got := general.GuardOf(c.own, c.limit); got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}

// A batch never passes the guard; a forced request of one restaurant does, also if it joins the queued run of a batch.
func TestOnlyAForcedSyncOfOneRestaurantPassesTheGuard_S4(t *testing.T) {
	t.Parallel()
	onEveryRedis(t, func(t *testing.T, url string) {
		g := newFixture(t, url)
		g.want(g.once(), runlog.OutcomeUpdated, 1)
		for _, body := range [][]byte{view(0), view(1)} {
			g.service.set(func(s *service) { s.body = body })
			stop := g.schedule(g.Instance)
			batch, err := g.StartBatch(t.Context(), runlog.Batch{By: "ops", Force: true})
			if err != nil {
				t.Fatal(err)
			}
			if done := g.batch(g.Instance, batch.ID); done.Outcomes[runlog.OutcomeQuarantined] != 1 {
				t.Errorf("a forced batch: %+v, want quarantined", done.Outcomes)
			}
			stop()
		}
		if version := g.current(); version.Counts.Products != 10 {
			t.Errorf("%d dishes are served, want 10", version.Counts.Products)
		}
		// The run of a batch is queued; a person forces it too.
		queued, err := g.StartForBatch(t.Context(), bistro)
		if err != nil {
			t.Fatal(err)
		}
		if forced := g.start(g.Instance, menusync.Request{By: "ops", Force: true}); forced.ID != queued.ID {
			t.Errorf("the request has run %s, want the queued %s", forced.ID, queued.ID)
		}
		stop := g.schedule(g.Instance)
		if run := g.wait(g.Instance, queued.ID); run.Outcome != runlog.OutcomeUpdated || g.current().Counts.Products != 1 {
			t.Errorf("%s %s, want updated", run.Outcome, run.Error)
		}
		stop()
	})
}

// A person's forced request does not join the running run of a batch, because that does not pass the guard.
func TestAForcedRequestWaitsForTheRunOfABatch(t *testing.T) {
	t.Parallel()
	g := newFixture(t, redisdb.Embedded)
	g.want(g.once(), runlog.OutcomeUpdated, 1)
	gate := newGate()
	g.service.set(func(s *service) { s.body, s.hook = view(1), gate.hook })
	defer g.schedule(g.Instance)()
	running, err := g.StartForBatch(t.Context(), bistro)
	if err != nil {
		t.Fatal(err)
	}
	<-gate.entered
	if again, err := g.StartForBatch(t.Context(), bistro); err != nil || again.ID != running.ID {
		t.Errorf("a batch gets run %s, %v, want to join the running %s", again.ID, err, running.ID)
	}
	forced := g.start(g.Instance, menusync.Request{By: "ops", Force: true})
	if forced.ID == running.ID {
		t.Error("the forced request joined the run of a batch")
	}
	close(gate.open)
	if run := g.wait(g.Instance, running.ID); run.Outcome != runlog.OutcomeQuarantined {
		t.Errorf("the run of the batch: %s, want quarantined", run.Outcome)
	}
	if run := g.wait(g.Instance, forced.ID); run.Outcome != runlog.OutcomeUpdated {
		t.Errorf("the forced run: %s %s, want updated", run.Outcome, run.Error)
	}
}

// Hostile names and ids keep the reason short and harmless.
func TestTheReasonIsShort(t *testing.T) {
	t.Parallel()
	g := newFixture(t, redisdb.Embedded)
	served := []dish{
		{"a", "", strings.Repeat("word ", 500), "1", ""}, {"b", "", strings.Repeat("ы", 5000), "1", ""}, {"a strange id", "", " \u202e\x1b[2J ", "1", ""},
	}
	g.service.body = carte(served)
	g.service.body = []byte(strings.ReplaceAll(string(g.service.body), `\x1b`, `\u001b`))
	g.want(g.once(), runlog.OutcomeUpdated, 1)
	g.service.set(func(s *service) { s.body = carte(dishes("z", 3)) })
	run := g.once()
	if words := len(strings.Fields(run.Error)); words > 25 || len(run.Error) > 400 || strings.ContainsAny(run.Error, "\u202e\x1b") {
		t.Errorf("%d words, %d bytes: %q", words, len(run.Error), run.Error)
	}
	g.want(run, runlog.OutcomeQuarantined, 1)
}
