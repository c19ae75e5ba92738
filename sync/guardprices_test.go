package sync_test

import (
	"fmt"
	"strings"
	"testing"

	"larder.local/internal/redisdb"
	"larder.local/sync/runlog"
)

// pizzas returns a menu of pizzas at a price, each with one required size. A size is `ID price`; all have their own scheme
// of required crusts, which cost the price of crusts.
func pizzas(price string, sizes []string, crusts string) []byte {
	all := each(dishes("p", 20), 20, func(d *dish) { d.price, d.more = price, `,"schemeId":"pizza"` })
	body := string(carte(all))
	body = body[:strings.Index(body, `],"ingredientsSchemes"`)]
	var ids, options []string
	for i, size := range sizes {
		ids = append(ids, fmt.Sprintf(`"size%d"`, i))
		options = append(options, fmt.Sprintf(`{"id":"size%d","externalId":"s%d","name":"Size %d","price":%s,"schemeId":"size"}`, i, i, i, size))
	}
	return []byte(body + `],"ingredientsSchemes":[
		{"id":"pizza","ingredientsGroups":[{"id":"sizes","minCount":1,"maxCount":1},{"id":"extras","minCount":0}]},
		{"id":"size","ingredientsGroups":[{"id":"crusts","minCount":2,"maxCount":2}]}],
		"ingredientsGroups":[{"id":"sizes","ingredients":[` + strings.Join(ids, ",") + `]},{"id":"extras","ingredients":["olives"]},
		{"id":"crusts","ingredients":["thin","stuffed"]}],
		"ingredients":[` + strings.Join(options, ",") + `,{"id":"olives","externalId":"o","name":"Olives","price":5},
		{"id":"thin","externalId":"t","name":"Thin","price":` + crusts + `},{"id":"stuffed","externalId":"u","name":"Stuffed","price":9000}]}}`)
}

// deep returns a menu of one dish that needs 7 levels of options.
func deep(price string) []byte {
	var schemes, groups, options strings.Builder
	for i := range 7 {
		next := fmt.Sprintf(`,"schemeId":"s%d"`, i+1)
		if i == 6 {
			next = ""
		}
		fmt.Fprintf(&schemes, `{"id":"s%d","ingredientsGroups":[{"id":"g%[1]d","minCount":1}]},`, i)
		fmt.Fprintf(&groups, `{"id":"g%d","name":"G","ingredients":["o%[1]d"]},`, i)
		fmt.Fprintf(&options, `{"id":"o%d","externalId":"x%[1]d","name":"O","price":0%s},`, i, next)
	}
	return []byte(`{"result":{"products":[{"id":"d","externalId":"d","name":"D","price":` + price + `,"schemeId":"s0"}],"ingredientsSchemes":[` +
		strings.TrimSuffix(schemes.String(), ",") + `],"ingredientsGroups":[` + strings.TrimSuffix(groups.String(), ",") +
		`],"ingredients":[` + strings.TrimSuffix(options.String(), ",") + `]}}`)
}

// Policy S4: the price of a dish includes that of the cheapest options that must be chosen.
func TestTheGuardKnowsPricesOfRequiredOptions_S4(t *testing.T) {
	t.Parallel()
	sizes := []string{"400", "300", "500"}
	served := pizzas("0", sizes, "0")
	const free, jumped = "20 of 20 dishes became free or unorderable", "20 of 20 prices changed tenfold"
	for name, c := range map[string]struct {
		served, fetched []byte
		want            string // a part of the reason; empty: it is published
	}{
		"first menu":                           {nil, served, ""},
		"first menu, the parts have a price":   {nil, pizzas("0", []string{"0"}, "100"), ""},
		"first menu, all is free":              {nil, pizzas("0", []string{"0", "500"}, "0"), "No dish is both priced and orderable"},
		"first menu, only extras have a price": {nil, pizzas("0", []string{"0"}, "0"), "No dish is both priced and orderable"},
		"first menu, too deep for larder":      {nil, deep("10"), ""},
		"first menu, too deep, free":           {nil, deep("0"), "No dish is both priced and orderable"},
		"a negative size":                      {nil, pizzas("100", []string{"-50"}, "0"), ""},
		"a negative size makes it free":        {nil, pizzas("50", []string{"-50"}, "0"), "No dish is both priced and orderable"},
		"all sizes 0":                          {served, pizzas("0", []string{"0", "0", "0"}, "0"), free},
		"one size 0":                           {served, pizzas("0", []string{"400", "0", "500"}, "0"), free},
		"the cheapest size is gone":            {served, pizzas("0", sizes[:1], "0"), ""},
		"sizes × 100":                          {served, pizzas("0", []string{"40000", "30000", "50000"}, "0"), jumped},
		"parts × 100":                          {pizzas("0", []string{"0"}, "20"), pizzas("0", []string{"0"}, "2000"), jumped},
		"the price moves to the sizes":         {pizzas("300", []string{"0"}, "0"), served, ""},
		"the price moves to the dish":          {served, pizzas("300", []string{"0"}, "0"), ""},
		"the price moves to two parts":         {served, pizzas("0", []string{"0"}, "150"), ""},
		"sizes without a valid price":          {served, pizzas("0", []string{"null"}, "0"), free},
		"one size without a valid price":       {served, pizzas("0", []string{"null", "400"}, "0"), ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newFixture(t, redisdb.Embedded)
			if c.served != nil {
				g.service.body = c.served
				g.want(g.once(), runlog.OutcomeUpdated, 1)
			}
			g.service.set(func(s *service) { s.body = c.fetched })
			switch run := g.once(); {
			case c.want == "" && run.Outcome != runlog.OutcomeUpdated:
				t.Errorf("%s: %s, want updated", run.Outcome, run.Error)
			case c.want != "" && (run.Outcome != runlog.OutcomeQuarantined || !strings.Contains(run.Error, c.want)):
				t.Errorf("%s: %s, want quarantined: %s", run.Outcome, run.Error, c.want)
			}
		})
	}
}

// Policies S4 and O3: a code that several dishes have, in one of the menus, names none of them.
func TestTheGuardIgnoresSharedCodes_S4(t *testing.T) {
	t.Parallel()
	zero := func(d *dish) { d.code = "0" }
	own := each(dishes("p", 20), 20, zero)
	for name, c := range map[string]struct {
		served, fetched []dish
		want            runlog.Outcome
	}{
		"all dishes have it":           {own, each(dishes("z", 20), 20, zero), runlog.OutcomeQuarantined},
		"one dish has it now":          {own, each(dishes("z", 20), 1, zero), runlog.OutcomeQuarantined},
		"one dish had it":              {each(dishes("p", 1), 1, zero), each(dishes("z", 20), 20, zero), runlog.OutcomeQuarantined},
		"one dish had it, one has it":  {each(dishes("p", 1), 1, zero), each(dishes("z", 20), 1, zero), runlog.OutcomeUpdated},
		"the same ids, a shared code":  {own, each(own, 20, times(2)), runlog.OutcomeUpdated},
		"half of the codes are shared": {each(dishes("p", 20), 10, zero), each(each(dishes("p", 20), 10, zero), 20, func(d *dish) { d.id = "new-" + d.id }), runlog.OutcomeUpdated},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newFixture(t, redisdb.Embedded)
			g.service.body = carte(c.served)
			g.want(g.once(), runlog.OutcomeUpdated, 1)
			g.service.set(func(s *service) { s.body = carte(c.fetched) })
			if run := g.once(); run.Outcome != c.want {
				t.Errorf("%s: %s, want %s", run.Outcome, run.Error, c.want)
			}
		})
	}
}
