package demo

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sirupsen/logrus"
	"github.com/spf13/cobra"

	"larder/internal/cli"
	"larder/internal/menu"
	"larder/internal/sandbox"
)

// sandboxAddress is where the sandbox listens by default.
const sandboxAddress = "127.0.0.1:9090"

// SandboxCommand makes `larder sandbox`.
func SandboxCommand(env *cli.Environment, with *Starts) *cobra.Command {
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
			log, err := with.Logger(cmd)
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
			s, err := openSandbox(cmd.Context(), cli.StringFlag(cmd, "listen"), "--listen", "", log)
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
	cli.SetEnv(flags, "listen", "LARDER_SANDBOX_LISTEN")
	flags.StringArray("menu", nil, "a menu view to serve; may be given several times")
	addGenerate(cmd)
	cli.AddJSON(cmd)
	return cmd
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
		names := "no restaurant, only the connection's own menu"
		if n := len(info.Restaurants); n > 0 {
			names = cli.Plural(n, "restaurant", "restaurants") + ": " + cli.FirstOf(info.Restaurants, n)
			if n > cli.MaxListed {
				names += "; --json lists them all"
			}
		}
		env.Out.Printf("ordering service on %s (client demo, secret demo-secret), open it for the board\n%s\n", s.url, names)
	})
}
