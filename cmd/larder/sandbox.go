package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/sirupsen/logrus"
	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"larder/internal/sandbox"
)

// sandboxAddress is where the sandbox listens by default.
const sandboxAddress = "127.0.0.1:9090"

func sandboxCommand(w *world) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "sandbox",
		Short: "Run an ordering service of one's own, for development and tests",
		Long: `Run an emulator of the whole ordering service: tokens, menus, orders, payments,
an operator's steps and faults on demand (/sandbox/…). Its client is demo with
the secret demo-secret. Without --menu and --restaurants it has the hand-written
bistro.

A --menu FILE holds a menu view; its name without the ending is the restaurant's
id, "default" is the connection's own menu.`,
		Args: cobra.NoArgs,
		RunE: action(func(cmd *cobra.Command, _ []string) error {
			log, err := logger(cmd, w)
			if err != nil {
				return err
			}
			listen, _ := cmd.Flags().GetString("listen")
			kitchen, err := openSandbox(cmd.Context(), listen, "", log)
			if err != nil {
				return err
			}
			if err := kitchen.stock(cmd); err != nil {
				return errors.Join(err, kitchen.listener.Close())
			}
			fmt.Fprintf(w.out, "ordering service on %s (client demo, secret demo-secret)\n", kitchen.url)
			return kitchen.run(cmd.Context())
		}),
	}
	flags := cmd.Flags()
	flags.String("listen", sandboxAddress, "where to listen; port 0 picks a free one")
	setEnv(cmd, "listen", "LARDER_SANDBOX_LISTEN")
	flags.StringArray("menu", nil, "a menu view to serve; may be given several times")
	setEnv(cmd, "menu", "LARDER_SANDBOX_MENU")
	addGenerate(cmd)
	return cmd
}

// addGenerate gives a command the flags of generated restaurants.
func addGenerate(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.Int("restaurants", 0, "generate so many restaurants in place of the bistro")
	setEnv(cmd, "restaurants", "LARDER_SANDBOX_RESTAURANTS")
	flags.Int("products", 60, "dishes in each generated menu")
	setEnv(cmd, "products", "LARDER_SANDBOX_PRODUCTS")
	flags.Int64("seed", 1, "what the generated menus grow from: the same seed, the same menus")
	setEnv(cmd, "seed", "LARDER_SANDBOX_SEED")
}

// generated reads the flags of addGenerate; Restaurants is 0 for the bistro.
func generated(cmd *cobra.Command, imageBase string) (sandbox.Generate, error) {
	flags := cmd.Flags()
	restaurants, _ := flags.GetInt("restaurants")
	products, _ := flags.GetInt("products")
	seed, _ := flags.GetInt64("seed")
	switch {
	case restaurants < 0 || restaurants > 100_000:
		return sandbox.Generate{}, &usageError{"--restaurants: between 0 and 100000"}
	case products < 1 || products > 10_000:
		return sandbox.Generate{}, &usageError{"--products: between 1 and 10000"}
	}
	return sandbox.Generate{Restaurants: restaurants, Products: products, Seed: seed, ImageBase: imageBase}, nil
}

// kitchen is a sandbox with its listener.
type kitchen struct {
	service  *sandbox.Sandbox
	listener net.Listener
	url      string
}

// openSandbox listens and makes a sandbox without menus, for the client demo
// with the secret (empty: demo-secret). run it, or close its listener.
func openSandbox(ctx context.Context, listen, secret string, log logrus.FieldLogger) (*kitchen, error) {
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", listen)
	if err != nil {
		return nil, fmt.Errorf("the sandbox cannot listen: %w", err)
	}
	base := urlOf(listener.Addr().String())
	return &kitchen{
		service:  sandbox.New(sandbox.Config{ClientSecret: secret, Log: log, BaseURL: base}),
		listener: listener, url: base,
	}, nil
}

// stock gives the sandbox the menus that the flags ask for.
func (k *kitchen) stock(cmd *cobra.Command) error {
	files, _ := cmd.Flags().GetStringArray("menu")
	generate, err := generated(cmd, k.url)
	if err != nil {
		return err
	}
	switch {
	case generate.Restaurants > 0:
		k.serveGenerated(generate)
	case len(files) == 0:
		k.serveBistro()
	}
	for _, file := range files {
		raw, err := os.ReadFile(file) //nolint:gosec // G304: the person at the command line names the file
		if err != nil {
			return fmt.Errorf("--menu: %w", err)
		}
		id := strings.TrimSuffix(filepath.Base(file), filepath.Ext(file))
		k.service.SetMenu(id, raw)
	}
	return nil
}

// serveBistro serves the hand-written menu, for its restaurant and as the
// connection's own.
func (k *kitchen) serveBistro() {
	bistro := sandbox.Bistro(sandbox.BistroID, k.url)
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
	server := &http.Server{Handler: k.service.Handler(), ReadHeaderTimeout: 10 * time.Second}
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
