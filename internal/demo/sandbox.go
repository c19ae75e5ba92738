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
	info := sandboxInfo{
		URL:          s.url,
		ClientID:     "demo",
		ClientSecret: "demo-secret",
		Restaurants:  []string{},
	}
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
