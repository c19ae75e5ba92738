package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/sirupsen/logrus"
	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"larder/configs"
	"larder/httpapi"
	"larder/internal/menu"
	"larder/internal/sandbox"
)

// demoFirstSync is how long the demo's menus may take to arrive.
const demoFirstSync = 2 * time.Minute

func demoCommand(w *world) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Run everything in one process: ordering service, Redis, larder",
		Long: `Run an ordering service (the sandbox), a Redis in memory and larder in one
process, pull the menus, and print what to open and try. Nothing needs to be
installed, nothing is left behind.

With --exit the whole main job is done once, each step printed, and the command
ends: status 0, or 1 and what failed.`,
		Args: takes(0, 0),
		RunE: action(func(cmd *cobra.Command, _ []string) error {
			d, err := prepareDemo(cmd, w)
			if err != nil {
				return err
			}
			return outlivingHangups(cmd.Context(), d.reloads.reload, d.run)
		}),
	}
	flags := cmd.Flags()
	flags.String("listen", "127.0.0.1:8080", "where larder listens; port 0 picks a free one, as --exit does by itself")
	setEnv(flags, "listen", "LARDER_HTTP_LISTEN")
	flags.String("sandbox-listen", sandboxAddress, "where the ordering service listens; port 0 picks a free one, as --exit does by itself")
	setEnv(flags, "sandbox-listen", "LARDER_SANDBOX_LISTEN")
	flags.Bool("exit", false, "do the main job once, print each step, and end")
	addGenerate(cmd)
	addJSON(cmd)
	return cmd
}

// demoPhotos is where the demo's pictures stand: at larder's own address, so that
// its page loads from nowhere else.
const demoPhotos = "/photos"

// servePhotos has larder serve the pictures of the sandbox's menus.
func servePhotos(deps *httpapi.Deps) {
	deps.Photos = http.StripPrefix(demoPhotos, sandbox.Images())
}

// demo is everything of `larder demo`.
type demo struct {
	w       *world
	cfg     *configs.Config
	log     logrus.FieldLogger
	kitchen *kitchen
	sample  []byte // one menu view, to make orders from
	exit    bool
	json    bool
	held    *heldLog // of --exit
	reloads *reloader
}

// prepareDemo opens the sandbox, so that its address is known, and makes the
// configuration that points at it.
func prepareDemo(cmd *cobra.Command, w *world) (d *demo, err error) {
	quiet := !cmd.Flags().Changed("log-level")
	if quiet {
		_ = cmd.Flags().Set("log-level", "error") // the demo's own words are enough
	}
	log, err := serviceLogger(cmd, w)
	if err != nil {
		return nil, err
	}
	exit, _ := cmd.Flags().GetBool("exit")
	d = &demo{w: w, log: log, exit: exit, json: asJSON(cmd), held: &heldLog{}, reloads: &reloader{
		log: log, read: func(running *configs.Config) (*configs.Config, []string, error) {
			return running, nil, nil // it is built in: nothing of it can have changed
		},
	}}
	if exit && quiet {
		log.SetOutput(d.held) // the walk provokes errors that it tells of itself
	}
	if d.json && !exit {
		return nil, &usageError{"--json needs --exit: a demo that runs on prints for people"}
	}
	generate, err := generated(cmd)
	if err != nil {
		return nil, err
	}
	listen, sandboxListen := d.addresses(cmd)
	secrets := demoSecrets(listen, sandboxListen)
	kitchen, err := openSandbox(cmd.Context(), sandboxListen, "--sandbox-listen", secrets.connection, log)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, kitchen.listener.Close())
		}
	}()
	d.kitchen, generate.ImageBase = kitchen, demoPhotos
	env := append(append([]string{}, w.env...), "LARDER_HTTP_LISTEN="+listen,
		"LARDER_CONNECTIONS_0_BASE_URL="+d.kitchen.url, "LARDER_CONNECTIONS_0_AUTH_URL="+d.kitchen.url)
	if d.cfg, err = configs.Parse("demo.yaml", configs.Demo(), append(env, secrets.env()...)); err != nil {
		return nil, err
	}
	d.stock(generate)
	return d, nil
}

// addresses are where larder and the sandbox listen: as asked for, or any free
// port when the demo ends by itself.
func (d *demo) addresses(cmd *cobra.Command) (listen, sandboxListen string) {
	flags := cmd.Flags()
	listen, _ = flags.GetString("listen")
	sandboxListen, _ = flags.GetString("sandbox-listen")
	if d.exit && !flags.Changed("listen") {
		listen = "127.0.0.1:0"
	}
	if d.exit && !flags.Changed("sandbox-listen") {
		sandboxListen = "127.0.0.1:0"
	}
	return listen, sandboxListen
}

// secretsOfDemo are the demo's three secrets.
type secretsOfDemo struct{ connection, storefront, ops string }

// demoSecrets are those of demo.yaml on loopback, and made for this run where
// other machines can reach the demo (policy H4).
func demoSecrets(listen, sandboxListen string) secretsOfDemo {
	if httpapi.IsLoopback(listen) && httpapi.IsLoopback(sandboxListen) {
		return secretsOfDemo{}
	}
	return secretsOfDemo{rand.Text(), rand.Text(), rand.Text()}
}

func (s secretsOfDemo) env() []string {
	if s == (secretsOfDemo{}) {
		return nil
	}
	return []string{
		"LARDER_CONNECTIONS_0_CLIENT_SECRET=" + s.connection,
		"LARDER_AUTH_CLIENTS_0_SECRET=" + s.storefront, "LARDER_AUTH_CLIENTS_1_SECRET=" + s.ops,
	}
}

// stock fills the sandbox with the bistro, or with generated restaurants that
// then are the configuration's too.
func (d *demo) stock(generate sandbox.Generate) {
	if generate.Restaurants == 0 {
		d.kitchen.serveBistro(demoPhotos)
		d.sample = sandbox.Bistro(sandbox.BistroID, demoPhotos)
		return
	}
	d.kitchen.serveGenerated(generate)
	d.sample = generate.Menu(0)
	like := d.cfg.Restaurants[0]
	d.cfg.Restaurants = nil
	for i := range generate.Restaurants {
		r := like
		r.ID = menu.RestaurantID(generate.RestaurantID(i))
		r.Name = fmt.Sprintf("Restaurant %d", i+1)
		d.cfg.Restaurants = append(d.cfg.Restaurants, r)
	}
}

// run runs sandbox and daemon until ctx ends, or until the walk of --exit is done.
func (d *demo) run(ctx context.Context) error {
	// The sandbox goes last: the daemon's last requests still want an answer.
	kitchenContext, closeKitchen := context.WithCancel(context.WithoutCancel(ctx))
	defer closeKitchen()
	group, kitchenContext := errgroup.WithContext(kitchenContext)
	group.Go(func() error { return d.kitchen.run(kitchenContext) })
	group.Go(func() error {
		defer closeKitchen()
		running, stop := context.WithCancel(ctx)
		defer stop()
		context.AfterFunc(kitchenContext, stop) // a sandbox that fails ends the demo
		return listenError(serve(running, d.cfg, d.log, d.reloads.serves, d.show, servePhotos, countDropped(d.w)), "--listen"+anyPort("--listen"))
	})
	err := group.Wait()
	if err != nil {
		d.held.tell(d.w.err.raw)
	}
	return err
}

// show is what the demo does once the daemon listens. Its end ends the demo.
func (d *demo) show(ctx context.Context, running *daemon) error {
	base := urlOf(running.server.Addr())
	walk, err := newWalk(ctx, d, base)
	if err != nil {
		return err
	}
	defer walk.close()
	if d.exit {
		return walk.all(ctx)
	}
	if err := walk.waitForMenus(ctx); err != nil {
		if ctx.Err() != nil {
			return nil
		}
		return err
	}
	if err := d.invite(walk); err != nil {
		return err
	}
	<-ctx.Done()
	return nil
}
