package measure

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/cespare/xxhash/v2"
	"github.com/sirupsen/logrus"

	"larder.local/cache"
	"larder.local/cache/replica"
	"larder.local/internal/directory"
	"larder.local/internal/menu"
	"larder.local/internal/redisdb"
	"larder.local/internal/upstream"
	menusync "larder.local/sync"
	"larder.local/sync/runlog"
)

const (
	// unchangedRounds is the number of alternating rounds; the medians count.
	unchangedRounds = 9
	// unchangedEach is the number of syncs, and of fetches, in a round.
	unchangedEach = 40
)

// Unchanged compares the CPU time of an unchanged sync with that of only fetching and
// hashing the same body. It runs in this process, with the cluster's ordering service
// and Redis: first with validators, where the service responds with 304, then without.
func Unchanged(ctx context.Context, t *Cluster) ([]Comparison, error) {
	restaurant := t.layout.Restaurants[0]
	own, err := t.ownRunner("bench-unchanged", replica.Config{}, restaurant) // it has the published versions, as in an instance
	if err != nil {
		return nil, err
	}
	defer own.close()
	c := comparison{own, menu.RestaurantID(restaurant)}
	var found []Comparison
	for _, offers := range []bool{true, false} {
		answer, err := t.Ask(ctx, http.MethodPut, t.ServiceURL+"/sandbox/settings", fmt.Sprintf(`{"validators":%t}`, offers))
		if err != nil || answer.Status != http.StatusOK {
			return nil, fmt.Errorf("measure: settings of the ordering service: %d %w", answer.Status, err)
		}
		name := "answered 304"
		if !offers {
			name = "full body transferred"
		}
		one, err := c.compare(ctx, name)
		if err != nil {
			return nil, err
		}
		found = append(found, one)
	}
	return found, nil
}

// ownRunner is a Runner in this process, with its dependencies.
type ownRunner struct {
	redis  *redisdb.DB
	client *upstream.Client
	store  *cache.Store
	runner *menusync.Runner
}

// ownRunner returns a Runner with the cluster's ordering service and Redis. The caller
// must close it.
func (t *Cluster) ownRunner(prefix string, memory replica.Config, restaurants ...string) (*ownRunner, error) {
	log := logrus.New()
	log.SetOutput(io.Discard)
	redis, err := redisdb.Open(redisdb.Config{URL: t.Redis.URL, Prefix: prefix}, log)
	if err != nil {
		return nil, err
	}
	own := &ownRunner{redis: redis}
	own.client, err = upstream.New(upstream.Config{
		Name:         "main",
		BaseURL:      t.ServiceURL,
		AuthURL:      t.ServiceURL,
		ClientID:     "demo",
		ClientSecret: clientSecret,
	}, upstream.Deps{})
	if err != nil {
		return nil, errors.Join(err, redis.Close())
	}
	var all []menusync.Restaurant
	for _, id := range restaurants {
		all = append(all, menusync.Restaurant{
			// The configuration's default of the name is the id.
			Restaurant: directory.Restaurant{ID: menu.RestaurantID(id), Name: id, Connection: "main"}, Settings: menu.DefaultSettings(),
		})
	}
	own.store = cache.NewStore(redis, cache.StoreConfig{History: menusync.DefaultHistory, Clock: time.Now})
	own.runner, err = menusync.NewRunner(menusync.Deps{
		Restaurants: all,
		Connections: []menusync.Connection{{Name: "main", Source: own.client, Settings: menu.DefaultSettings()}},
		Redis:       redis,
		Store:       own.store,
		Replica:     replica.New(own.store, memory),
		Clock:       time.Now,
		Log:         log,
	})
	if err != nil {
		own.close()
		return nil, err
	}
	return own, nil
}

func (o *ownRunner) close() {
	o.client.Close()
	_ = o.redis.Close()
}

// sync runs one sync.
func (o *ownRunner) sync(ctx context.Context, restaurant menu.RestaurantID) (runlog.Run, error) {
	target, err := o.runner.Target(restaurant)
	if err != nil {
		return runlog.Run{}, err
	}
	return o.runner.Once(ctx, target, runlog.TriggerCron)
}

type comparison struct {
	*ownRunner
	restaurant menu.RestaurantID
}

func (c comparison) compare(ctx context.Context, name string) (Comparison, error) {
	if err := c.expect(ctx, ""); err != nil { // fetches earlier changes, also of the settings
		return Comparison{}, err
	}
	var syncs, alone []time.Duration
	for range unchangedRounds {
		for _, side := range []struct {
			into *[]time.Duration
			do   func() error
		}{
			{&syncs, func() error { return c.expect(ctx, runlog.OutcomeUnchanged) }},
			{&alone, func() error { return c.fetch(ctx) }},
		} {
			took, err := computing(unchangedEach, side.do)
			if err != nil {
				return Comparison{}, err
			}
			*side.into = append(*side.into, took)
		}
	}
	one := Comparison{Name: name, Sync: Duration(Quantile(syncs, 0.5)), Alone: Duration(Quantile(alone, 0.5))}
	one.Ratio = float64(one.Sync) / float64(max(one.Alone, 1))
	return one, nil
}

// expect runs one sync; an empty want allows any outcome after which a menu is served.
func (c comparison) expect(ctx context.Context, want runlog.Outcome) error {
	run, err := c.sync(ctx, c.restaurant)
	if err != nil {
		return err
	}
	if run.Outcome != want && (want != "" || run.Outcome == runlog.OutcomeFailed) {
		return fmt.Errorf("measure: a sync ended %q, want %q: %s", run.Outcome, want, run.Error)
	}
	return nil
}

// fetch is the minimum work of a sync without a validator.
func (c comparison) fetch(ctx context.Context) error {
	answer, err := c.client.MenuView(ctx, string(c.restaurant), upstream.Validator{}, 0)
	if err != nil {
		return err
	}
	if xxhash.Sum64(answer.Body) == 0 {
		return fmt.Errorf("measure: a body of %d bytes has the hash 0", len(answer.Body))
	}
	return nil
}

// computing returns the CPU time of this process for one of several calls.
func computing(times int, do func() error) (time.Duration, error) {
	before, err := ownCPU()
	if err != nil {
		return 0, err
	}
	for range times {
		if err := do(); err != nil {
			return 0, err
		}
	}
	after, err := ownCPU()
	return (after - before) / time.Duration(times), err
}
