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

func sandboxCommand(env *environment) *cobra.Command {
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
		RunE: func(cmd *cobra.Command, _ []string) error {
			log, err := serviceLogger(cmd, env)
			if err != nil {
				return err
			}
			generate, err := generated(cmd)
			if err != nil {
				return err
			}
			menus, err := readMenus(cmd, log) // before anything listens
			if err != nil {
				return err
			}
			s, err := openSandbox(cmd.Context(), stringFlag(cmd, "listen"), "--listen", "", log)
			if err != nil {
				return err
			}
			if err := s.serveMenus(cmd, env, generate, menus); err != nil {
				return errors.Join(err, s.listener.Close())
			}
			return s.run(cmd.Context())
		},
	}
	flags := cmd.Flags()
	flags.String("listen", sandboxAddress, "where to listen; port 0 picks a free one")
	setEnv(flags, "listen", "LARDER_SANDBOX_LISTEN")
	flags.StringArray("menu", nil, "a menu view to serve; may be given several times")
	addGenerate(cmd)
	addJSON(cmd)
	return cmd
}

// addGenerate adds the flags of generated restaurants.
func addGenerate(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.Int("restaurants", 0, "generate so many restaurants in place of the bistro")
	flags.Int("products", 60, "dishes in each generated menu")
	flags.Int64("seed", 1, "random seed for generated menus")
}

// maxGenerated is how many restaurants sandbox.Generate makes at most, and how
// many dishes of each.
const maxGenerated = 10_000

// generated reads the flags of addGenerate; Restaurants is 0 for the bistro.
// --products or --seed alone ask for one generated restaurant.
func generated(cmd *cobra.Command) (generate sandbox.Generate, err error) {
	flags := cmd.Flags()
	generate.Restaurants, _ = flags.GetInt("restaurants")
	generate.Products, _ = flags.GetInt("products")
	generate.Seed, _ = flags.GetInt64("seed")
	if !flags.Changed("restaurants") && (flags.Changed("products") || flags.Changed("seed")) {
		generate.Restaurants = 1
	}
	switch {
	case generate.Restaurants < 0 || generate.Restaurants > maxGenerated:
		err = &usageError{fmt.Sprintf("--restaurants: between 0 (the bistro) and %d, not %d", maxGenerated, generate.Restaurants)}
	case generate.Products < 1 || generate.Products > maxGenerated:
		err = &usageError{fmt.Sprintf("--products: between 1 and %d, not %d", maxGenerated, generate.Products)}
	}
	return generate, err
}

// sandboxServer is a sandbox with its listener.
type sandboxServer struct {
	service  *sandbox.Sandbox
	listener net.Listener
	url      string
	log      logrus.FieldLogger
}

// openSandbox listens and makes a sandbox without menus, for the client demo
// with the secret (empty: demo-secret). flag is the flag of the address. run
// it, or close its listener.
func openSandbox(ctx context.Context, listen, flag, secret string, log logrus.FieldLogger) (*sandboxServer, error) {
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", listen)
	if err != nil {
		return nil, fmt.Errorf("the sandbox cannot listen: %w", listenError(err, flag+anyPort(flag)))
	}
	base := baseURL(listener.Addr().String())
	service := sandbox.New(sandbox.Config{ClientSecret: secret, Log: log, BaseURL: base})
	return &sandboxServer{service: service, listener: listener, url: base, log: log}, nil
}

// readMenus reads the files of --menu, by the restaurant that each is for.
func readMenus(cmd *cobra.Command, log logrus.FieldLogger) (map[string][]byte, error) {
	menus := map[string][]byte{}
	files, _ := cmd.Flags().GetStringArray("menu")
	for _, file := range files {
		raw, err := os.ReadFile(file) //nolint:gosec // G304: the person at the command line names the file
		if err != nil {
			return nil, fmt.Errorf("--menu: %w", err)
		}
		if _, err := menu.Decode(raw); err != nil {
			log.WithFields(logrus.Fields{"event": "sandbox.menu_issue", "file": file}).WithError(err).
				Warn("this file is no menu view; it is served all the same, byte for byte")
		}
		menus[strings.TrimSuffix(filepath.Base(file), filepath.Ext(file))] = raw
	}
	return menus, nil
}

// sandboxInfo is what --json prints of a sandbox.
type sandboxInfo struct {
	URL          string   `json:"url"`
	ClientID     string   `json:"clientId"`
	ClientSecret string   `json:"clientSecret"`
	Restaurants  []string `json:"restaurants"` // all that have a menu: those of files, then the generated ones
}

// serveMenus serves the menus of files, generated ones, or without
// either the bistro, and prints which restaurants it has.
func (s *sandboxServer) serveMenus(cmd *cobra.Command, env *environment, generate sandbox.Generate, menus map[string][]byte) error {
	info := sandboxInfo{URL: s.url, ClientID: "demo", ClientSecret: "demo-secret", Restaurants: []string{}}
	if generate.Restaurants > 0 || len(menus) == 0 {
		generate.ImageBase = s.url
		s.load(generate)
	}
	for id, raw := range menus {
		s.service.SetMenu(id, raw)
		if id != sandbox.DefaultMenu {
			info.Restaurants = append(info.Restaurants, id)
		}
	}
	slices.Sort(info.Restaurants)
	if generate.Restaurants == 0 && len(menus) == 0 {
		info.Restaurants = append(info.Restaurants, sandbox.BistroID)
	}
	for i := range generate.Restaurants {
		info.Restaurants = append(info.Restaurants, generate.RestaurantID(i))
	}
	return env.show(cmd, info, func() {
		names := "no restaurant, only the connection's own menu"
		if n := len(info.Restaurants); n > 0 {
			names = plural(n, "restaurant", "restaurants") + ": " + firstOf(info.Restaurants, n)
			if n > maxListed {
				names += "; --json lists them all"
			}
		}
		env.out.printf("ordering service on %s (client demo, secret demo-secret), open it for the board\n%s\n", s.url, names)
	})
}

// load serves generated menus, or the bistro's if generate asks for none. It
// returns the first menu, which is the connection's own too.
func (s *sandboxServer) load(generate sandbox.Generate) []byte {
	first := sandbox.Bistro(sandbox.BistroID, generate.ImageBase)
	if generate.Restaurants == 0 {
		s.service.SetMenu(sandbox.BistroID, first)
	} else {
		s.service.SetGenerated(generate)
		first = generate.Menu(0)
	}
	s.service.SetMenu(sandbox.DefaultMenu, first)
	return first
}

// run serves until ctx ends.
func (s *sandboxServer) run(ctx context.Context) error {
	server := &http.Server{
		Handler:           s.service.Handler(),
		ReadHeaderTimeout: 10 * time.Second,
		ErrorLog:          httpapi.ErrorLog(s.log),
	}
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error {
		if err := server.Serve(s.listener); !errors.Is(err, http.ErrServerClosed) {
			return fmt.Errorf("sandbox: %w", err)
		}
		return nil
	})
	group.Go(func() error { return ignoreCanceled(s.service.Run(ctx)) })
	group.Go(func() error {
		<-ctx.Done()
		s.service.Close() // hanging requests end
		limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopGrace)
		defer cancel()
		if err := server.Shutdown(limited); err != nil {
			return errors.Join(err, server.Close())
		}
		return nil
	})
	return group.Wait()
}
