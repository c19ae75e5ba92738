package demo

import (
	"cmp"
	"context"
	"crypto/rand"
	_ "embed" // banner.txt
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/sirupsen/logrus"
	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"larder.local/cmd/larder/cli"
	"larder.local/cmd/larder/client"
	"larder.local/configs"
	"larder.local/httpapi"
	"larder.local/internal/menu"
	"larder.local/internal/sandbox"
	"larder.local/internal/setting"
)

// Starts has the functions that start a log, a daemon and the handling of SIGHUP.
type Starts struct {
	// Logger returns the log of a process that serves.
	Logger func(cmd *cobra.Command) (*logrus.Logger, error)
	// Daemon runs larder until ctx ends and serves photos below demoPhotos. It calls
	// listening with its address when its listener is open.
	Daemon func(ctx context.Context, cfg *configs.Config, log logrus.FieldLogger, photos http.Handler, listening func(addr string)) error
	// OnSIGHUP calls reload for each SIGHUP until stop is called.
	OnSIGHUP func(reload func()) (stop func())
}

// Command returns the command `larder demo`.
func Command(env *cli.Environment, with *Starts) *cobra.Command {
	cmd := cli.NewCommand("larder", "demo", func(cmd *cobra.Command, _ []string) error {
		d, err := prepareDemo(cmd, env, with)
		if err != nil {
			return err
		}
		defer with.OnSIGHUP(func() {
			d.log.WithField("event", "config.nothing_to_reload").Info("the demo's configuration is built in: there is nothing to reload")
		})()
		return d.run(cmd.Context())
	})
	flags := cmd.Flags()
	flags.String("listen", "127.0.0.1:8080", "listen address of larder; port 0 selects a free port, as with --exit")
	cli.SetEnv(flags, "listen", "LARDER_HTTP_LISTEN")
	flags.String("sandbox-listen", sandboxAddress, "listen address of the ordering service; port 0 selects a free port, as with --exit")
	cli.SetEnv(flags, "sandbox-listen", "LARDER_SANDBOX_LISTEN")
	flags.Bool("exit", false, "sync the menu, place, pay and complete an order, print each step, and end")
	flags.StringArray("origin", nil, "origin of a page that may read menus and place orders, as in http://127.0.0.1:3000 (repeatable)")
	addGenerate(cmd)
	cli.AddJSON(cmd)
	return cmd
}

// demoPhotos is the path of the photos on larder, so that its page needs no other origin.
const demoPhotos = "/photos"

// demo is the state of `larder demo`.
type demo struct {
	env        *cli.Environment
	starts     *Starts
	cfg        *configs.Config
	log        *logrus.Logger
	sandbox    *sandboxServer
	sample     []byte // a menu view, to create orders from
	exit, json bool
	heldLog    ringLog // with --exit
}

// prepareDemo opens the sandbox and reads the configuration with its address.
func prepareDemo(cmd *cobra.Command, env *cli.Environment, with *Starts) (*demo, error) {
	quiet := !cmd.Flags().Changed("log-level")
	if quiet {
		_ = cmd.Flags().Set("log-level", "error") // the demo prints its own messages
	}
	log, err := with.Logger(cmd)
	if err != nil {
		return nil, err
	}
	d := &demo{env: env, starts: with, log: log, exit: cli.BoolFlag(cmd, "exit"), json: cli.AsJSON(cmd)}
	if d.exit && quiet {
		log.SetOutput(&d.heldLog) // the scenario causes errors on purpose
	}
	if d.json && !d.exit {
		return nil, cli.NewUsageError("--json needs --exit")
	}
	generate, err := generated(cmd)
	if err != nil {
		return nil, err
	}
	origins, _ := cmd.Flags().GetStringArray("origin")
	for _, origin := range origins {
		if wrong := setting.Origin("--origin", origin); wrong != nil {
			return nil, cli.NewUsageError(wrong.Error())
		}
	}
	address := func(flag string) string {
		if d.exit && !cmd.Flags().Changed(flag) {
			return "127.0.0.1:0"
		}
		return cli.StringFlag(cmd, flag)
	}
	listen, sandboxListen := address("listen"), address("sandbox-listen")
	variables, secret := slices.Clone(env.Environ), ""
	if !httpapi.IsLoopback(listen) || !httpapi.IsLoopback(sandboxListen) { // reachable by others: random secrets (policy H4)
		secret = rand.Text()
		variables = append(variables, "LARDER_CONNECTIONS_0_CLIENT_SECRET="+secret,
			"LARDER_AUTH_CLIENTS_0_SECRET="+rand.Text(), "LARDER_AUTH_CLIENTS_1_SECRET="+rand.Text(),
			"LARDER_AUTH_CLIENTS_2_SECRET="+rand.Text())
	}
	if d.sandbox, err = openSandbox(cmd.Context(), sandboxListen, "--sandbox-listen", secret, log); err != nil {
		return nil, err
	}
	d.cfg, err = configs.Parse("demo.yaml", configs.Demo(), append(variables, "LARDER_HTTP_LISTEN="+listen,
		"LARDER_CONNECTIONS_0_BASE_URL="+d.sandbox.url, "LARDER_CONNECTIONS_0_AUTH_URL="+d.sandbox.url))
	if err != nil {
		return nil, errors.Join(err, d.sandbox.listener.Close())
	}
	d.cfg.HTTP.CORSOrigins = append(d.cfg.HTTP.CORSOrigins, origins...)
	d.cfg.Auth.PublicOrders.Origins = append(d.cfg.Auth.PublicOrders.Origins, origins...)
	generate.ImageBase = demoPhotos
	d.sample = d.sandbox.load(generate)
	if generate.Restaurants > 0 {
		d.cfg.Restaurants = restaurantsOf(d.cfg.Restaurants[0], generate)
	}
	return d, nil
}

// restaurantsOf returns the configuration of generated restaurants.
func restaurantsOf(first configs.Restaurant, generate sandbox.Generate) []configs.Restaurant {
	all := slices.Repeat([]configs.Restaurant{first}, generate.Restaurants)
	for i := range all {
		all[i].ID, all[i].Name = menu.RestaurantID(generate.RestaurantID(i)), fmt.Sprintf("Restaurant %d", i+1)
	}
	return all
}

// run runs sandbox and daemon until ctx ends or the scenario of --exit has ended.
func (d *demo) run(ctx context.Context) error {
	// The sandbox stops last, because it must answer the daemon's last requests.
	sandboxContext, closeSandbox := context.WithCancel(context.WithoutCancel(ctx))
	defer closeSandbox()
	group, sandboxContext := errgroup.WithContext(sandboxContext)
	group.Go(func() error { return d.sandbox.run(sandboxContext) })
	group.Go(func() error {
		defer closeSandbox()
		running, stop := context.WithCancel(ctx)
		defer stop()
		context.AfterFunc(sandboxContext, stop) // if the sandbox fails, the demo ends
		photos := http.StripPrefix(demoPhotos, sandbox.Images())
		var shown errgroup.Group
		err := d.starts.Daemon(running, d.cfg, d.log, photos, func(addr string) {
			shown.Go(func() error {
				defer stop()
				return d.show(running, client.BaseURL(addr))
			})
		})
		stop()
		return cmp.Or(shown.Wait(), cli.ListenError(err, "--listen"+cli.AnyPort("--listen")))
	})
	err := group.Wait()
	d.log.SetOutput(d.env.Err.Raw)
	if err != nil {
		_, _ = d.env.Err.Raw.Write(d.heldLog) // if this fails, there is no place to report it
	}
	return err
}

// show runs the scenario, or prints the banner and waits until ctx ends.
func (d *demo) show(ctx context.Context, base string) error {
	s, err := newScenario(ctx, d, base)
	if err != nil {
		return err
	}
	if d.exit {
		return s.run(ctx)
	}
	if _, err := s.waitForMenus(ctx); ctx.Err() != nil {
		return nil //nolint:nilerr // a stop is not a failure
	} else if err != nil {
		return err
	}
	d.printBanner(s)
	<-ctx.Done()
	return nil
}

//go:embed banner.txt
var bannerText string

// printBanner prints what to open and try. A test runs every printed command.
func (d *demo) printBanner(s *scenario) {
	base, shop, ops, connection := s.daemon.Base, d.cfg.Auth.Clients[0], d.cfg.Auth.Clients[1], d.cfg.Connections[0]
	body := func(order []byte) string { return "'" + strings.ReplaceAll(string(order), "'", `'\''`) + "'" }
	text := strings.NewReplacer(
		"{base}", base,
		"{service}", d.sandbox.url,
		"{restaurant}", base+client.RestaurantPath(s.restaurant),
		"{ops-restaurant}", base+client.OpsRestaurantPath(s.restaurant),
		"{restaurants}", cli.Plural(len(d.cfg.Restaurants), "restaurant", "restaurants"),
		"{bad}", body(s.bad), "{good}", body(s.good),
		"{shop}", shop.ID, "{shop-secret}", shop.Secret,
		"{ops}", ops.ID, "{ops-secret}", ops.Secret,
		"{connection}", connection.ClientID, "{connection-secret}", connection.ClientSecret,
	).Replace(bannerText)
	d.env.Out.PrintLines(text)
}

// ringLog keeps the last lines of a log, which are printed only after a failure.
type ringLog []byte

// Write implements io.Writer. The logger serializes the calls.
func (r *ringLog) Write(p []byte) (int, error) {
	const most = 64 << 10
	*r = append(*r, p...)
	*r = (*r)[max(len(*r)-most, 0):]
	return len(p), nil
}
