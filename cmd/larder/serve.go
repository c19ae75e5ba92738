package main

import (
	"context"
	"net/http"
	"strings"

	"github.com/sirupsen/logrus"
	"github.com/spf13/cobra"

	"larder/configs"
	"larder/httpapi"
	"larder/internal/cli"
	"larder/internal/client"
	"larder/internal/demo"
)

func serveCommand(env *cli.Environment) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "serve --config FILE",
		Short: "Run the daemon: keep menus fresh, serve them, check and place orders",
		Long: `Run the daemon until it gets SIGTERM or SIGINT; then requests in flight are
finished and the status is 0. A second signal forces. On SIGHUP the configuration
is read again: restaurants, their settings and schedules, and the clients follow
it while larder serves; what changed elsewhere takes a restart, and the log says so. With a fault
anywhere in it nothing changes, and the log names every fault.

It starts even when Redis or the ordering service cannot be reached: /readyz
says so, and it recovers by itself.

With --allow-unknown-keys a key that this version does not know is a warning, so
that an older larder starts with the configuration of a newer one. A likely
misspelling of a known key, and any unknown key under auth, are errors as before.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			err := serve(cmd, env)
			return cli.ListenError(err, listenKey(err))
		},
	}
	cli.AddConfig(cmd)
	cli.AddUnknownKeys(cmd)
	return cmd
}

// serve reads the configuration, wires the daemon and runs it until the command's
// context ends. Meanwhile a SIGHUP reloads the configuration, and systemd learns how
// the daemon is.
func serve(cmd *cobra.Command, env *cli.Environment) error {
	ctx := cmd.Context()
	log, err := serviceLogger(cmd, env)
	if err != nil {
		return err
	}
	cfg, err := cli.LoadService(cmd, env)
	if err != nil {
		return err
	}
	systemd, err := newNotifier(env.Environ, log)
	if err != nil {
		return err
	}
	reloads := &reloader{log: log, read: func(running *configs.Config) (*configs.Config, []string, error) {
		return running.Reload(cli.StringFlag(cmd, "config"), env.Environ, cli.ReadOptions(cmd)...)
	}}
	defer onSIGHUP(systemd.reloading(reloads.reload))()
	d, err := listeningDaemon(ctx, cfg, log, countDropped(env))
	if err != nil {
		return err
	}
	reloads.daemon.Store(d)
	defer systemd.watch(ctx, client.BaseURL(d.server.Addr()))()
	if d.redis.Embedded() {
		log.WithField("event", "redis.non_durable").
			Warn("redis is embedded: everything is kept in memory and gone when larder stops")
	}
	return d.run(ctx)
}

// demoStarts is how the demo starts what this package has.
func demoStarts(env *cli.Environment) *demo.Starts {
	return &demo.Starts{
		Logger: func(cmd *cobra.Command) (*logrus.Logger, error) { return serviceLogger(cmd, env) },
		Daemon: func(ctx context.Context, cfg *configs.Config, log logrus.FieldLogger, photos http.Handler,
			listening func(addr string),
		) error {
			withPhotos := func(deps *httpapi.Deps) { deps.Photos = photos }
			d, err := listeningDaemon(ctx, cfg, log, withPhotos, countDropped(env))
			if err != nil {
				return err
			}
			listening(d.server.Addr())
			return d.run(ctx)
		},
		OnSIGHUP: onSIGHUP,
	}
}

// countDropped counts in the metrics the lines that the log's reader did not get.
func countDropped(env *cli.Environment) func(*httpapi.Deps) {
	return func(deps *httpapi.Deps) { deps.Metrics.LogLinesDropped = env.DroppedLines }
}

// listenKey is the key of the configuration that a daemon's listener could not
// be opened for.
func listenKey(err error) string {
	if err != nil && strings.Contains(err.Error(), "http.ops_listen") {
		return "http.ops_listen (LARDER_HTTP_OPS_LISTEN)"
	}
	return "http.listen (LARDER_HTTP_LISTEN)"
}
