package demo

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

	"larder.local/cmd/larder/cli"
	"larder.local/cmd/larder/client"
	"larder.local/httpapi"
	"larder.local/internal/menu"
	"larder.local/internal/sandbox"
)

// sandboxAddress is the default listen address of the sandbox.
const sandboxAddress = "127.0.0.1:9090"

// SandboxCommand returns the command `larder sandbox`.
func SandboxCommand(env *cli.Environment, with *Starts) *cobra.Command {
	cmd := cli.NewCommand("larder", "sandbox", func(cmd *cobra.Command, _ []string) error {
		log, err := with.Logger(cmd)
		if err != nil {
			return err
		}
		generate, err := generated(cmd)
		if err != nil {
			return err
		}
		menus, err := readMenus(cmd, log) // report errors before listening
		if err != nil {
			return err
		}
		s, err := openSandbox(cmd.Context(), cli.StringFlag(cmd, "listen"), "--listen", "", log)
		if err != nil {
			return err
		}
		if err := s.serveMenus(cmd, env, generate, menus); err != nil {
			return errors.Join(err, s.listener.Close())
		}
		return s.run(cmd.Context())
	})
	flags := cmd.Flags()
	flags.String("listen", sandboxAddress, "listen address; port 0 selects a free port")
	cli.SetEnv(flags, "listen", "LARDER_SANDBOX_LISTEN")
	flags.StringArray("menu", nil, "file with a menu view to serve; can be repeated")
	addGenerate(cmd)
	cli.AddJSON(cmd)
	return cmd
}

// readMenus reads the files of --menu. The keys are restaurant ids.
func readMenus(cmd *cobra.Command, log logrus.FieldLogger) (map[string][]byte, error) {
	menus := map[string][]byte{}
	files, _ := cmd.Flags().GetStringArray("menu")
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("--menu: %w", err)
		}
		if _, err := menu.Decode(raw); err != nil {
			log.WithFields(logrus.Fields{"event": "sandbox.menu_issue", "file": file}).WithError(err).
				Warn("this file is not a valid menu view; it is served unchanged")
		}
		menus[strings.TrimSuffix(filepath.Base(file), filepath.Ext(file))] = raw
	}
	return menus, nil
}

// sandboxInfo is the output of --json.
type sandboxInfo struct {
	URL          string   `json:"url"`
	ClientID     string   `json:"clientId"`
	ClientSecret string   `json:"clientSecret"`
	Restaurants  []string `json:"restaurants"` // ids of files, then generated ids
}

// serveMenus serves menus of files and generated menus, or the bistro, and prints the restaurants.
func (s *sandboxServer) serveMenus(cmd *cobra.Command, env *cli.Environment, generate sandbox.Generate, menus map[string][]byte) error {
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
	return env.Show(cmd, info, func() {
		names := "no restaurants, only the default menu"
		if n := len(info.Restaurants); n > 0 {
			names = cli.Plural(n, "restaurant", "restaurants") + ": " + cli.FirstOf(info.Restaurants, n)
			if n > cli.MaxListed {
				names += "; --json lists them all"
			}
		}
		env.Out.Printf("ordering service on %s (client demo, secret demo-secret); open it in a browser for the board\n%s\n", s.url, names)
	})
}

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
		err = cli.NewUsageError(fmt.Sprintf("--products must be between 1 and %d, not %d", sandbox.MaxProducts, generate.Products))
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
	server := &http.Server{Handler: s.service.Handler(), ReadHeaderTimeout: 10 * time.Second, ErrorLog: httpapi.ErrorLog(s.log)}
	served := make(chan error, 1)
	go func() { served <- server.Serve(s.listener) }()
	var err error
	select {
	case fault := <-served:
		err = fmt.Errorf("sandbox: %w", fault)
	case <-ctx.Done():
	}
	s.service.Close() // ends requests that a fault delays
	limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopLimit)
	defer cancel()
	if stopErr := server.Shutdown(limited); stopErr != nil {
		return errors.Join(err, stopErr, server.Close())
	}
	return err
}
