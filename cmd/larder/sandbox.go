package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/sirupsen/logrus"
	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"larder/httpapi"
	"larder/internal/menu"
	"larder/internal/sandbox"
)

// sandboxAddress is where the sandbox listens by default.
const sandboxAddress = "127.0.0.1:9090"

func sandboxCommand(w *world) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "sandbox",
		Short: "Run an ordering service of one's own, for development and tests",
		Long: `Run an emulator of the whole ordering service: tokens, menus, orders, payments,
an operator's steps and faults on demand (/sandbox/…), and for a browser a board
of all that at its own address. Its client is demo with the secret demo-secret.
Without --menu and --restaurants it has the hand-written bistro.

--json prints the address and the ids of all restaurants as JSON.

A --menu FILE holds a menu view; its name without the ending is the restaurant's
id, "default" is the connection's own menu.`,
		Args: takes(0, 0),
		RunE: action(func(cmd *cobra.Command, _ []string) error {
			log, err := serviceLogger(cmd, w)
			if err != nil {
				return err
			}
			shelf, err := shelfOf(cmd, log)
			if err != nil {
				return err
			}
			listen, _ := cmd.Flags().GetString("listen")
			kitchen, err := openSandbox(cmd.Context(), listen, "--listen", "", log)
			if err != nil {
				return err
			}
			kitchen.stock(shelf)
			if asJSON(cmd) {
				err = printJSON(w.out, opened{URL: kitchen.url, ClientID: "demo", ClientSecret: "demo-secret", Restaurants: shelf.everyID()})
			} else {
				w.out.printf("ordering service on %s (client demo, secret demo-secret), open it for the board\n%s\n", kitchen.url, shelf.restaurants())
			}
			if err != nil {
				return errors.Join(err, kitchen.listener.Close())
			}
			return kitchen.run(cmd.Context())
		}),
	}
	flags := cmd.Flags()
	flags.String("listen", sandboxAddress, "where to listen; port 0 picks a free one")
	setEnv(flags, "listen", "LARDER_SANDBOX_LISTEN")
	flags.StringArray("menu", nil, "a menu view to serve; may be given several times")
	addGenerate(cmd)
	addJSON(cmd)
	return cmd
}

// addGenerate gives a command the flags of generated restaurants.
func addGenerate(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.Int("restaurants", 0, "generate so many restaurants in place of the bistro")
	flags.Int("products", 60, "dishes in each generated menu")
	flags.Int64("seed", 1, "random seed for generated menus")
}

// maxRestaurants and maxProducts are what sandbox.Generate makes at most.
const (
	maxRestaurants = 10_000
	maxProducts    = 10_000
)

// generated reads the flags of addGenerate; Restaurants is 0 for the bistro.
// --products or --seed alone ask for one generated restaurant.
func generated(cmd *cobra.Command) (sandbox.Generate, error) {
	flags := cmd.Flags()
	restaurants, _ := flags.GetInt("restaurants")
	products, _ := flags.GetInt("products")
	seed, _ := flags.GetInt64("seed")
	if !flags.Changed("restaurants") && (flags.Changed("products") || flags.Changed("seed")) {
		restaurants = 1
	}
	switch {
	case restaurants < 0 || restaurants > maxRestaurants:
		return sandbox.Generate{}, &usageError{fmt.Sprintf("--restaurants: between 0 (the bistro) and %d, not %d", maxRestaurants, restaurants)}
	case products < 1 || products > maxProducts:
		return sandbox.Generate{}, &usageError{fmt.Sprintf("--products: between 1 and %d, not %d", maxProducts, products)}
	}
	return sandbox.Generate{Restaurants: restaurants, Products: products, Seed: seed}, nil
}

// kitchen is a sandbox with its listener.
type kitchen struct {
	service  *sandbox.Sandbox
	listener net.Listener
	url      string
	log      logrus.FieldLogger
}

// openSandbox listens and makes a sandbox without menus, for the client demo
// with the secret (empty: demo-secret). flag is what says where it listens. run
// it, or close its listener.
func openSandbox(ctx context.Context, listen, flag, secret string, log logrus.FieldLogger) (*kitchen, error) {
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", listen)
	if err != nil {
		return nil, fmt.Errorf("the sandbox cannot listen: %w", listenError(err, flag+anyPort(flag)))
	}
	base := urlOf(listener.Addr().String())
	return &kitchen{
		service:  sandbox.New(sandbox.Config{ClientSecret: secret, Log: log, BaseURL: base}),
		listener: listener, url: base, log: log,
	}, nil
}

// shelf is what `larder sandbox` is asked to serve.
type shelf struct {
	generate sandbox.Generate
	ids      []string // the restaurants of files, in the order given
	views    [][]byte // their menus
}

// shelfOf reads the flags and the files that they name, before anything listens.
func shelfOf(cmd *cobra.Command, log logrus.FieldLogger) (*shelf, error) {
	generate, err := generated(cmd)
	if err != nil {
		return nil, err
	}
	s := &shelf{generate: generate}
	files, _ := cmd.Flags().GetStringArray("menu")
	for _, file := range files {
		raw, err := os.ReadFile(file) //nolint:gosec // G304: the person at the command line names the file
		if err != nil {
			return nil, fmt.Errorf("--menu: %w", err)
		}
		if _, err := menu.Decode(raw); err != nil {
			log.WithFields(logrus.Fields{"event": "sandbox.menu_odd", "file": file}).WithError(err).
				Warn("this file is no menu view; it is served all the same, byte for byte")
		}
		s.ids = append(s.ids, strings.TrimSuffix(filepath.Base(file), filepath.Ext(file)))
		s.views = append(s.views, raw)
	}
	return s, nil
}

// stock gives the sandbox its menus.
func (k *kitchen) stock(s *shelf) {
	switch {
	case s.generate.Restaurants > 0:
		s.generate.ImageBase = k.url
		k.serveGenerated(s.generate)
	case len(s.views) == 0:
		k.serveBistro(k.url)
	}
	for i, id := range s.ids {
		k.service.SetMenu(id, s.views[i])
	}
}

// opened is what --json tells of a sandbox.
type opened struct {
	URL          string   `json:"url"`
	ClientID     string   `json:"clientId"`
	ClientSecret string   `json:"clientSecret"`
	Restaurants  []string `json:"restaurants"` // all of them
}

// everyID are the restaurants that have a menu: those of files, then the
// generated ones.
func (s *shelf) everyID() []string {
	ids := slices.DeleteFunc(slices.Clone(s.ids), func(id string) bool { return id == sandbox.DefaultMenu })
	slices.Sort(ids)
	ids = slices.Compact(ids)
	if len(s.ids) == 0 && s.generate.Restaurants == 0 {
		return []string{sandbox.BistroID}
	}
	for i := range s.generate.Restaurants {
		ids = append(ids, s.generate.RestaurantID(i))
	}
	return ids
}

// restaurants names the restaurants that have a menu, the first few of many.
func (s *shelf) restaurants() string {
	ids := s.everyID()
	if len(ids) == 0 {
		return "no restaurant, only the connection's own menu"
	}
	text := plural(len(ids), "restaurant", "restaurants") + ": " + firstOf(ids, len(ids))
	if len(ids) > few {
		text += "; --json lists them all"
	}
	return text
}

// serveBistro serves the hand-written menu, for its restaurant and as the
// connection's own; imageBase goes before the paths of its photos.
func (k *kitchen) serveBistro(imageBase string) {
	bistro := sandbox.Bistro(sandbox.BistroID, imageBase)
	k.service.SetMenu(sandbox.BistroID, bistro)
	k.service.SetMenu(sandbox.DefaultMenu, bistro)
}

// serveGenerated serves generated menus; the first is the connection's own too.
func (k *kitchen) serveGenerated(generate sandbox.Generate) {
	k.service.SetGenerated(generate)
	k.service.SetMenu(sandbox.DefaultMenu, generate.Menu(0))
}

// run serves until ctx ends.
func (k *kitchen) run(ctx context.Context) error {
	server := &http.Server{
		Handler:           k.service.Handler(),
		ReadHeaderTimeout: 10 * time.Second,
		ErrorLog:          httpapi.ErrorLog(k.log),
	}
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error {
		if err := server.Serve(k.listener); !errors.Is(err, http.ErrServerClosed) {
			return fmt.Errorf("sandbox: %w", err)
		}
		return nil
	})
	group.Go(func() error { return ended(k.service.Run(ctx)) })
	group.Go(func() error {
		<-ctx.Done()
		k.service.Close() // hanging requests end
		limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopGrace)
		defer cancel()
		if err := server.Shutdown(limited); err != nil {
			return errors.Join(err, server.Close())
		}
		return nil
	})
	return group.Wait()
}
