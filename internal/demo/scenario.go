package demo

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"larder/internal/cli"
	"larder/internal/client"
	"larder/internal/menu"
	"larder/internal/sleep"
	"larder/sync/runlog"
)

// demoFirstSync is the time limit for the first sync of all menus.
const demoFirstSync = 2 * time.Minute

// scenario uses larder as a storefront and an operator would. Each step checks its results.
type scenario struct {
	env         *cli.Environment
	json        bool
	daemon      *client.Client // as the storefront
	ops         *client.Client
	sandbox     *client.Client // for the sandbox's own routes
	clientID    string
	restaurant  string
	restaurants int
	good, bad   []byte // orders

	menu     *cli.Storefront
	placed   cli.OrderRecord
	answered []byte // the response for the placed order
	unknown  string // ref of the order whose response was lost
}

// scenarioStep is the output of one step.
type scenarioStep struct {
	Name  string   `json:"step"`
	Lines []string `json:"lines"`
	Error string   `json:"error,omitempty"`
}

func newScenario(ctx context.Context, d *demo, base string) (*scenario, error) {
	shop, ops, restaurant := d.cfg.Auth.Clients[0], d.cfg.Auth.Clients[1], string(d.cfg.Restaurants[0].ID)
	good, bad, err := SampleOrders(d.sample, restaurant)
	return &scenario{
		env:         d.env,
		json:        d.json,
		daemon:      client.New(ctx, base, shop.ID, shop.Secret),
		ops:         client.New(ctx, base, ops.ID, ops.Secret),
		sandbox:     client.New(ctx, d.sandbox.url, "", ""),
		clientID:    shop.ID,
		restaurant:  restaurant,
		restaurants: len(d.cfg.Restaurants),
		good:        good,
		bad:         bad,
	}, err
}

// run runs and prints the steps until one fails.
func (s *scenario) run(ctx context.Context) (err error) {
	begun := time.Now()
	var steps []scenarioStep
	for i, part := range []struct {
		name string
		do   func(ctx context.Context) []string
	}{
		{"token", s.token},
		{"menu fetched", s.fetched},
		{"lint", s.lint},
		{"published", s.published},
		{"menu served", s.served},
		{"invalid order", s.refused},
		{"order placed", s.place},
		{"ordering service", s.received},
		{"order repeated", s.replayed},
		{"response lost", s.lost},
		{"resolved", s.resolved},
		{"paid and closed", s.closed},
	} {
		step := scenarioStep{Name: part.name}
		if step.Lines, err = linesOf(ctx, part.do); err != nil {
			err = fmt.Errorf("%s: %w", part.name, err)
			step.Error = err.Error()
		}
		steps = append(steps, step)
		label := fmt.Sprintf("%2d. %-17s", i+1, part.name)
		for _, text := range step.Lines {
			if !s.json {
				s.env.Out.Printf("%s %s\n", label, text)
			}
			label = strings.Repeat(" ", len(label))
		}
		if err != nil {
			break
		}
	}
	if s.json {
		return errors.Join(err, cli.PrintJSON(s.env.Out, steps))
	}
	if err == nil {
		s.env.Out.Printf("\nAll steps passed in %.1f s.\n", time.Since(begun).Seconds())
	}
	return err
}

// failure is the error that ends a step.
type failure struct{ error }

// check ends the step if err is not nil.
func check(err error) {
	if err != nil {
		panic(failure{err})
	}
}

// must returns the value, or ends the step if err is not nil.
func must[T any](value T, err error) T {
	check(err)
	return value
}

// linesOf returns the lines that a step prints, or the error that ended it.
func linesOf(ctx context.Context, step func(context.Context) []string) (lines []string, err error) {
	defer func() {
		switch ended := recover().(type) {
		case nil:
		case failure:
			err = ended.error
		default:
			panic(ended)
		}
	}()
	return step(ctx), nil
}

// waitForMenus returns when every restaurant has a menu.
func (s *scenario) waitForMenus(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, demoFirstSync, fmt.Errorf("not all menus were synced within %v", demoFirstSync))
	defer cancel()
	for {
		all, err := cli.Restaurants(ctx, s.daemon)
		if err != nil {
			return err
		}
		var missing []string
		for _, r := range all {
			if r.Version == 0 {
				missing = append(missing, r.ID)
			}
		}
		if len(all) == s.restaurants && len(missing) == 0 {
			return nil
		}
		if err := sleep.For(ctx, 20*time.Millisecond); err != nil {
			return fmt.Errorf("%w; without a menu: %s", err, strings.Join(missing, ", "))
		}
	}
}

// token checks that larder got a token from the ordering service.
func (s *scenario) token(ctx context.Context) []string {
	check(s.waitForMenus(ctx))
	counters := must(client.Get[struct {
		Tokens int `json:"tokens"`
	}](ctx, s.sandbox, "/sandbox/counters"))
	if counters.Tokens < 1 {
		check(errors.New("the ordering service has issued no token"))
	}
	return []string{
		"the ordering service issued " + cli.Plural(counters.Tokens, "token", "tokens") + " for all calls of larder",
		"larder issued one for the client " + s.clientID,
	}
}

// fetched prints the run that published the menu.
func (s *scenario) fetched(ctx context.Context) []string {
	const limit = 5 * time.Second // a menu is served a moment before its run is recorded
	ctx, cancel := context.WithTimeoutCause(ctx, limit, errors.New("no run has published a menu"))
	defer cancel()
	updated := func(run runlog.Run) bool { return run.Outcome == runlog.OutcomeUpdated }
	var runs []runlog.Run
	for !slices.ContainsFunc(runs, updated) {
		check(sleep.For(ctx, 10*time.Millisecond))
		runs = must(client.Get[[]runlog.Run](ctx, s.ops, "/v1/ops/runs?limit=50&restaurant="+url.QueryEscape(s.restaurant)))
	}
	run := runs[slices.IndexFunc(runs, updated)]
	s.menu = must(client.Get[*cli.Storefront](ctx, s.daemon, client.RestaurantPath(s.restaurant)+"/menu"))
	groups := map[string]bool{}
	for _, scheme := range s.menu.Schemes {
		for _, g := range scheme.Groups {
			groups[g.ID] = true
		}
	}
	took := run.Steps
	return []string{
		fmt.Sprintf("%s, %s, %d bytes",
			cli.Plural(run.Products, "dish", "dishes"), cli.Plural(len(groups), "modifier group", "modifier groups"), run.Bytes),
		fmt.Sprintf("fetch %.1f ms, decode %.1f, lint %.1f, compile %.1f, publish %.1f",
			took.Fetch, took.Decode, took.Lint, took.Compile, took.Publish),
	}
}

// lint prints the first findings for the menu.
func (s *scenario) lint(ctx context.Context) []string {
	const shown = 3
	findings := must(client.Get[[]menu.Finding](ctx, s.ops, client.OpsRestaurantPath(s.restaurant)+"/lint"))
	lines := []string{cli.Plural(len(findings), "finding", "findings")}
	for _, f := range findings[:min(len(findings), shown)] {
		lines = append(lines, fmt.Sprintf("%s %s: %s", f.Severity, f.Code, f.Msg))
	}
	if len(findings) > shown {
		lines = append(lines, fmt.Sprintf("… and %d more", len(findings)-shown))
	}
	return lines
}

// published checks that every restaurant has a menu.
func (s *scenario) published(ctx context.Context) []string {
	if all := must(cli.Restaurants(ctx, s.daemon)); len(all) != s.restaurants {
		check(fmt.Errorf("larder lists %d restaurants, not %d", len(all), s.restaurants))
	}
	lines := []string{fmt.Sprintf("%s: version %d", s.menu.Restaurant.Name, s.menu.Version)}
	if others := s.restaurants - 1; others > 0 {
		lines = append(lines, "menus of other restaurants: "+strconv.Itoa(others))
	}
	return lines
}

// served checks that gzip contains the same menu, and that a conditional request gets no body.
func (s *scenario) served(ctx context.Context) []string {
	path := client.RestaurantPath(s.restaurant) + "/menu"
	plain := must(s.daemon.Get(ctx, path, "Accept-Encoding", "identity"))
	compressed := must(s.daemon.Get(ctx, path, "Accept-Encoding", "gzip"))
	reader, err := gzip.NewReader(bytes.NewReader(compressed.Body))
	if err != nil {
		check(fmt.Errorf("the response to Accept-Encoding: gzip has the encoding %q: %w", compressed.Header.Get("Content-Encoding"), err))
	}
	content, err := io.ReadAll(reader)
	if err != nil {
		check(fmt.Errorf("the gzip body: %w", err))
	}
	if !bytes.Equal(content, plain.Body) {
		check(errors.New("the gzip body differs from the plain body"))
	}
	etag := plain.Header.Get("ETag")
	again := must(s.daemon.Get(ctx, path, "If-None-Match", etag))
	if again.Status != http.StatusNotModified || len(again.Body) > 0 {
		check(fmt.Errorf("the response to If-None-Match: %s has status %d and %d bytes", etag, again.Status, len(again.Body)))
	}
	return []string{
		fmt.Sprintf("identity %d bytes, gzip %d bytes (the same menu)", len(plain.Body), len(compressed.Body)),
		fmt.Sprintf("If-None-Match: %s: 304, 0 bytes", etag),
	}
}
