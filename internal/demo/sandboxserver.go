package demo

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/sirupsen/logrus"
	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"larder/httpapi"
	"larder/internal/cli"
	"larder/internal/client"
	"larder/internal/sandbox"
)

// addGenerate adds the flags of generated restaurants.
func addGenerate(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.Int("restaurants", 0, "number of generated restaurants; 0 means the sample bistro")
	flags.Int("products", 60, "dishes in each generated menu")
	flags.Int64("seed", 1, "random seed for generated menus")
}

// generated reads the flags of addGenerate. Restaurants is 0 for the bistro, and 1
// for --products or --seed without --restaurants.
func generated(cmd *cobra.Command) (generate sandbox.Generate, err error) {
	flags := cmd.Flags()
	generate.Restaurants, _ = flags.GetInt("restaurants")
	generate.Products, _ = flags.GetInt("products")
	generate.Seed, _ = flags.GetInt64("seed")
	if !flags.Changed("restaurants") && (flags.Changed("products") || flags.Changed("seed")) {
		generate.Restaurants = 1
	}
	switch {
	case generate.Restaurants < 0 || generate.Restaurants > sandbox.MaxGenerated:
		err = cli.NewUsageError(fmt.Sprintf("--restaurants must be between 0 (the bistro) and %d, not %d",
			sandbox.MaxGenerated, generate.Restaurants))
	case generate.Products < 1 || generate.Products > sandbox.MaxProducts:
		err = cli.NewUsageError(fmt.Sprintf("--products must be between 1 and %d, not %d",
			sandbox.MaxProducts, generate.Products))
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

// openSandbox opens a listener and returns a sandbox without menus. Its client is demo with the secret, or demo-secret
// if secret is empty. flag is the name of the flag with the address. The caller must call run or close the listener.
func openSandbox(ctx context.Context, listen, flag, secret string, log logrus.FieldLogger) (*sandboxServer, error) {
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", listen)
	if err != nil {
		return nil, fmt.Errorf("the sandbox cannot listen: %w", cli.ListenError(err, flag+cli.AnyPort(flag)))
	}
	base := client.BaseURL(listener.Addr().String())
	service := sandbox.New(sandbox.Config{ClientSecret: secret, Log: log, BaseURL: base})
	return &sandboxServer{service: service, listener: listener, url: base, log: log}, nil
}

// load serves generated menus, or the bistro's if generate.Restaurants is 0. It
// returns the first menu, which it also serves as the default menu.
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

// stopLimit is the time limit for stopping a sandbox.
const stopLimit = 5 * time.Second

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
	group.Go(func() error {
		<-ctx.Done()
		s.service.Close() // ends requests that a fault delays
		limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopLimit)
		defer cancel()
		if err := server.Shutdown(limited); err != nil {
			return errors.Join(err, server.Close())
		}
		return nil
	})
	return group.Wait()
}
