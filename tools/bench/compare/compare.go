package compare

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"larder.local/internal/sandbox"
	"larder.local/internal/testkit/viewtest"
)

// Plan is what is compared.
type Plan struct {
	// Old and New are the programs.
	Old, New string
	// Dir is a folder for the files of both.
	Dir string
	// Orders, Menus and Configs are the numbers of steps of each kind.
	Orders, Menus, Configs int
	// Seed selects the random steps.
	Seed uint64
	// NewEnv are environment variables of the new program only: a test finds their effect.
	NewEnv []string
	// Say reports progress.
	Say func(format string, args ...any)
}

// Difference is one thing that both programs do differently.
type Difference struct {
	// Where is the step, such as "order 17 POST /v1/restaurants/large/orders".
	Where string `json:"where"`
	// Old and New are what each did, in their normal form.
	Old string `json:"old"`
	New string `json:"new"`
}

// Report is the result of a comparison.
type Report struct {
	Orders, Menus, Configs int
	// Calls is the number of calls that place or change an order, which the old program sent.
	Calls int
	// Statuses counts the old program's answers to orders and changes.
	Statuses    map[int]int
	Differences []Difference
}

// maxDifferences is how many differences are kept.
const maxDifferences = 1000

type comparison struct {
	Plan
	old, new *side
	report   Report
}

// Run compares both programs. It returns an error if the comparison cannot be made.
func (p Plan) Run(ctx context.Context) (Report, error) {
	c := &comparison{Plan: p, report: Report{Statuses: map[int]int{}}}
	err := c.start(ctx)
	if err == nil {
		err = c.compare(ctx)
	}
	for _, s := range []*side{c.old, c.new} {
		if s != nil {
			s.close()
		}
	}
	return c.report, err
}

func (c *comparison) start(ctx context.Context) (err error) {
	if c.old, err = startSide(ctx, "old", c.Old, c.Dir, nil); err != nil {
		return err
	}
	if c.new, err = startSide(ctx, "new", c.New, c.Dir, c.NewEnv); err != nil {
		return err
	}
	for restaurant, menu := range menusOfOrders() {
		c.old.service.setMenu(restaurant, menu)
		c.new.service.setMenu(restaurant, menu)
	}
	if err := c.old.serve(ctx); err != nil {
		return err
	}
	if err := c.new.serve(ctx); err != nil {
		return err
	}
	for _, s := range []*side{c.old, c.new} {
		for _, restaurant := range restaurants() {
			if err := s.awaitMenu(ctx, restaurant); err != nil {
				return err
			}
		}
	}
	c.old.service.fetched() // the syncs at the start are in any order
	c.new.service.fetched()
	return ctx.Err()
}

// differ records a difference.
func (c *comparison) differ(where, before, after string) {
	if !same(before, after) && len(c.report.Differences) < maxDifferences {
		c.report.Differences = append(c.report.Differences, Difference{where, before, after})
	}
}

// each runs a function for both sides at the same time.
func (c *comparison) each(run func(*side) string) (before, after string) {
	var other sync.WaitGroup
	other.Go(func() { after = run(c.new) })
	before = run(c.old)
	other.Wait()
	return before, after
}

// both sends a request to both sides, compares the answers, and returns the old status.
func (c *comparison) both(ctx context.Context, where string, r request) int {
	var status int
	before, after := c.each(func(s *side) string {
		found := s.send(ctx, r)
		if s == c.old {
			status = found.Status
		}
		return s.describe(found)
	})
	c.differ(where+" "+r.Method+" "+r.Path, before, after)
	return status
}

func (c *comparison) compare(ctx context.Context) error {
	for _, part := range []func(context.Context) error{c.menus, c.orders, c.configs, c.end} {
		if err := errors.Join(part(ctx), ctx.Err()); err != nil {
			return err
		}
	}
	return nil
}

// orders sends orders and changes, and compares what both sides send to the service.
func (c *comparison) orders(ctx context.Context) error {
	plan, err := newOrderPlan(c.Seed, time.Now())
	if err != nil {
		return err
	}
	for i := range c.Orders {
		if i%1000 == 0 {
			c.Say("orders and changes: %d of %d, %d differences", i, c.Orders, len(c.report.Differences))
		}
		s := plan.next()
		c.old.service.begin(s.fault)
		c.new.service.begin(s.fault)
		where := fmt.Sprintf("order %d, service: %s,", i, s.fault.Name)
		c.report.Statuses[c.both(ctx, where, s.request)]++
		before, after := c.each((*side).sentCalls)
		c.differ(where+" sent to the service", before, after)
		c.report.Calls += len(c.old.service.sent())
		c.report.Orders++
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	if c.Orders > 0 && c.report.Calls == 0 {
		return errNoCalls
	}
	return nil
}

// menus publishes random menus.
func (c *comparison) menus(ctx context.Context) error {
	rng := rand.New(rand.NewPCG(c.Seed, 2))
	view := viewtest.Views().Example(int(c.Seed))
	path := "/v1/ops/restaurants/" + moving
	for i := range c.Menus {
		if i%100 == 0 {
			c.Say("menus: %d of %d, %d differences", i, c.Menus, len(c.report.Differences))
		}
		switch i % 6 {
		case 0:
			view = viewtest.Views().Example(i)
		case 3:
			var err error
			if view, err = viewtest.Parse(sandbox.Generate{Restaurants: 1, Products: 5 + rng.IntN(60), Seed: int64(i)}.Menu(0)); err != nil {
				return err
			}
		default:
			view = viewtest.Mutated(view).Example(i)
		}
		body := view.Print(uint64(i))
		c.old.service.setMenu(moving, body)
		c.new.service.setMenu(moving, body)
		where := fmt.Sprintf("menu %d", i)
		c.both(ctx, where, request{Method: http.MethodPost, Path: path + "/sync?wait=20s", Client: operator, Body: fmt.Appendf(nil, `{"force":%t}`, rng.IntN(2) == 0)})
		for _, read := range []string{path + "/lint", path + "/quarantined", path + "/quarantined/lint", path + "/quarantined/changes", path + "/versions"} {
			c.both(ctx, where, request{Method: http.MethodGet, Path: read, Client: operator})
		}
		for _, read := range []string{"/v1/restaurants/" + moving + "/menu", "/v1/restaurants/" + moving + "/products?expand=groups", "/v1/restaurants/" + moving + "/changes?since=1", "/orders/api/v1/menu/view?restaurantId=" + moving} {
			c.both(ctx, where, request{Method: http.MethodGet, Path: read, Client: storefront})
		}
		before, after := c.each(func(s *side) string { return s.normal(strings.Join(s.service.fetched(), "\n")) })
		c.differ(where+" sent to the service", before, after)
		c.report.Menus++
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}

// configs checks broken configurations.
func (c *comparison) configs(ctx context.Context) error {
	rng := rand.New(rand.NewPCG(c.Seed, 3))
	for i := range c.Configs {
		if i%100 == 0 {
			c.Say("configurations: %d of %d, %d differences", i, c.Configs, len(c.report.Differences))
		}
		text := brokenConfig(rng)
		before, after := c.each(func(s *side) string {
			file := filepath.Join(s.dir, "broken.yaml")
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				return err.Error()
			}
			return s.normal(s.run(ctx, configEnv(), "check", "--config", file))
		})
		c.differ(fmt.Sprintf("configuration %d\n%s\n", i, text), before, after)
		c.report.Configs++
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}

// end compares metrics, commands, the log and the exit status.
func (c *comparison) end(ctx context.Context) error {
	c.Say("metrics, commands and logs")
	before, after := c.each(func(s *side) string {
		return strings.Join(s.exported(s.send(ctx, request{Method: http.MethodGet, Path: "/metrics"}).Body), "\n")
	})
	c.differLines("metric", strings.Split(before, "\n"), strings.Split(after, "\n"))
	for _, command := range [][]string{{"order", "list"}, {"order", "list", "--state", "unknown", "--json"}, {"status"}, {"menu", "lint", moving}, {"order", "show", "none"}, {"sync", "nowhere"}, {"check", "--online"}, {"config", "print"}} {
		before, after := c.each(func(s *side) string {
			environment := []string{"LARDER_HTTP_LISTEN=" + s.address}
			return s.normal(s.run(ctx, environment, append(slices.Clone(command), "--config", s.config)...))
		})
		c.differ("larder "+strings.Join(command, " "), times.ReplaceAllString(before, "TIME"), times.ReplaceAllString(after, "TIME"))
	}
	for _, s := range []*side{c.old, c.new} {
		s.larder.Stop()
	}
	lines := func(s *side) []string {
		text, err := os.ReadFile(s.larder.LogPath())
		if err != nil {
			return []string{err.Error()}
		}
		var all []string
		for line, n := range s.logged(string(text)) {
			all = append(all, fmt.Sprintf("%d times %s", n, line))
		}
		slices.Sort(all)
		return all
	}
	c.differLines("log", lines(c.old), lines(c.new))
	return nil
}

// differLines records the lines that only one side has.
func (c *comparison) differLines(what string, before, after []string) {
	missing := func(lines, from []string) string {
		var b strings.Builder
		for _, line := range lines {
			if !slices.Contains(from, line) {
				b.WriteString(line + "\n")
			}
		}
		return b.String()
	}
	c.differ(what, missing(before, after), missing(after, before))
}
