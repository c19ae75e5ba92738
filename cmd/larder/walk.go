package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"larder/internal/sleep"
)

// walk is larder's main job done once from outside: over HTTP, with tokens, as
// a storefront and an operator would.
type walk struct {
	w          *world
	json       bool
	daemon     *api // as the storefront
	ops        *api
	kitchen    *api // the sandbox's own routes
	client     string
	restaurant string
	total      int    // restaurants
	good, bad  []byte // orders
	menu       *storefront
	groups     int
	placed     placed
	answered   []byte // how the placed order was answered
	unknown    string // ref of the order whose answer was lost
}

// step is one part of the walk: what it found, line by line.
type step struct {
	Name  string   `json:"step"`
	Lines []string `json:"lines"`
	Error string   `json:"error,omitempty"`
	do    func(ctx context.Context) ([]string, error)
}

func newWalk(ctx context.Context, d *demo, base string) (*walk, error) {
	storefront, ops := d.cfg.Auth.Clients[0], d.cfg.Auth.Clients[1]
	good, bad, err := sampleOrders(d.sample, string(d.cfg.Restaurants[0].ID))
	if err != nil {
		return nil, err
	}
	return &walk{
		w: d.w, json: d.json,
		daemon:     newAPI(ctx, base, storefront.ID, storefront.Secret),
		ops:        newAPI(ctx, base, ops.ID, ops.Secret),
		kitchen:    newAPI(ctx, d.kitchen.url, "", ""),
		client:     storefront.ID,
		restaurant: string(d.cfg.Restaurants[0].ID),
		total:      len(d.cfg.Restaurants),
		good:       good, bad: bad,
	}, nil
}

func (k *walk) close() {
	for _, a := range []*api{k.daemon, k.ops, k.kitchen} {
		a.close()
	}
}

// all does every step and prints it; the first that fails ends the walk.
func (k *walk) all(ctx context.Context) error {
	steps := []*step{
		{Name: "token", do: k.token},
		{Name: "menu pulled", do: k.pulled},
		{Name: "lint", do: k.lint},
		{Name: "published", do: k.published},
		{Name: "menu served", do: k.served},
		{Name: "order refused", do: k.refused},
		{Name: "order placed", do: k.place},
		{Name: "ordering service", do: k.received},
		{Name: "sent again", do: k.again},
		{Name: "answer lost", do: k.lost},
		{Name: "settled", do: k.settled},
		{Name: "paid and closed", do: k.closed},
	}
	begun := time.Now()
	var failed error
	if failed = k.waitForMenus(ctx); failed != nil {
		steps[0].Error = failed.Error()
	}
	done := 0
	for ; done < len(steps) && failed == nil; done++ {
		s := steps[done]
		if s.Lines, failed = s.do(ctx); failed != nil {
			failed = fmt.Errorf("%s: %w", s.Name, failed)
			s.Error = failed.Error()
		}
		if !k.json {
			k.print(done+1, s)
		}
	}
	if k.json {
		if err := printJSON(k.w.out, steps[:max(done, 1)]); err != nil {
			return err
		}
	} else if failed == nil {
		k.w.out.printf("\nAll of it works. %.1f s\n", time.Since(begun).Seconds())
	}
	return failed
}

func (k *walk) print(n int, s *step) {
	for i, line := range s.Lines {
		if i == 0 {
			k.w.out.printf("%2d. %-17s %s\n", n, s.Name, line)
			continue
		}
		k.w.out.printf("    %-17s %s\n", "", line)
	}
}

// waitForMenus returns when every restaurant has a menu.
func (k *walk) waitForMenus(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, demoFirstSync, fmt.Errorf("the menus did not arrive within %v", demoFirstSync))
	defer cancel()
	for {
		missing, err := k.missing(ctx)
		if err != nil {
			return err
		}
		if len(missing) == 0 {
			return nil
		}
		if err := sleep.For(ctx, 20*time.Millisecond); err != nil {
			return fmt.Errorf("%w; without a menu: %s", err, strings.Join(missing, ", "))
		}
	}
}

func (k *walk) missing(ctx context.Context) ([]string, error) {
	all, err := restaurants(ctx, k.daemon)
	if err != nil {
		return nil, err
	}
	var missing []string
	for _, r := range all {
		if r.Version == 0 {
			missing = append(missing, r.ID)
		}
	}
	if len(all) == 0 && k.total > 0 {
		missing = []string{"all of them"}
	}
	return missing, nil
}
