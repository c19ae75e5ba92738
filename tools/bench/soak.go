package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"larder.local/internal/sandbox"
	"larder.local/internal/testkit/menutest"
	"larder.local/tools/bench/measure"
)

func soakCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "soak",
		Short: "Keep one instance under constant load, and fail if its memory grows",
		Long: `Keep one instance under constant load: reads, conditional reads, order checks,
orders, syncs of changing menus, and event streams. The ordering service, Redis
and larder are separate processes on loopback. The command fails if the heap or
the number of goroutines grows, if a request fails, or if the race detector (of
a binary built with it) reports a race. Linux only.`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			flags := cmd.Flags()
			duration, _ := flags.GetDuration("for")
			restaurants, _ := flags.GetInt("restaurants")
			products, _ := flags.GetInt("products")
			switch {
			case duration < 20*time.Second:
				return &usageError{"--for: at least 20s, including 10s of warm-up"}
			case restaurants < 2 || restaurants > maxRestaurants:
				return &usageError{fmt.Sprintf("--restaurants: between 2 and %d", maxRestaurants)}
			case products < 10 || products > maxProducts:
				return &usageError{fmt.Sprintf("--products: between 10 and %d", maxProducts)}
			}
			return soak(cmd, duration, sandbox.Generate{Restaurants: restaurants, Products: products, Seed: 1})
		},
	}
	flags := cmd.Flags()
	flags.Duration("for", 10*time.Minute, "duration of the load")
	flags.Int("restaurants", 8, "number of restaurants; all menus except the first change")
	flags.Int("products", 60, "dishes per menu")
	addCommonFlags(cmd)
	return cmd
}

// soak loads one instance and shows the figures.
func soak(cmd *cobra.Command, duration time.Duration, generate sandbox.Generate) (err error) {
	program, err := programOf(cmd, "larder", "larder", "build")
	if err != nil {
		return err
	}
	within, _ := cmd.Flags().GetString("dir")
	dir, err := os.MkdirTemp(within, "larder-soak-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	order, err := soakOrder(generate.Menu(0), generate.RestaurantID(0))
	if err != nil {
		return err
	}
	s := measure.Soak{
		Layout: measure.Layout{
			Program:  program,
			Dir:      dir,
			Schedule: "@every 10s",
			Sandbox:  []string{"--restaurants", strconv.Itoa(generate.Restaurants), "--products", strconv.Itoa(generate.Products), "--seed", strconv.FormatInt(generate.Seed, 10)},
			// The menus that follow each other have no dish in common.
			Env: []string{"LARDER_HTTP_RATE_VALIDATE=10000/s", "LARDER_HTTP_RATE_PLACE=10000/s", "LARDER_SYNC_SHRINK_LIMIT=1"},
		},
		For:   duration,
		Order: order,
		// Three menus in turn: each differs from the version before.
		Change: func(restaurant, n int) []byte {
			other := generate
			other.Seed = int64(2 + n/(generate.Restaurants-1)%3)
			return other.Menu(restaurant)
		},
		Say: sayTo(cmd.ErrOrStderr()),
	}
	for i := range generate.Restaurants {
		s.Restaurants = append(s.Restaurants, generate.RestaurantID(i))
	}
	found, err := s.Measure(cmd.Context())
	if err != nil {
		return err
	}
	return errors.Join(show(cmd, found, found.Text()), found.Flat())
}

// soakOrder makes an order for the menu. It is due as soon as possible, so that it
// is valid during the whole load.
func soakOrder(view []byte, restaurant string) ([]byte, error) {
	maker, err := menutest.NewOrderGenerator(view, restaurant, 1)
	if err != nil {
		return nil, fmt.Errorf("make an order: %w", err)
	}
	var order map[string]json.RawMessage
	if err := json.Unmarshal(maker.Next(menutest.OrderOptions{Lines: 2}), &order); err != nil {
		return nil, fmt.Errorf("make an order: %w", err)
	}
	delete(order, "expectedAt")
	order["soonest"] = json.RawMessage("true")
	return json.Marshal(order)
}
