package main

import (
	"context"
	"net/http"
	"runtime"
	"strings"

	"github.com/sirupsen/logrus"
	"github.com/spf13/cobra"

	"larder.local/cmd/larder/cli"
	"larder.local/cmd/larder/client"
	"larder.local/cmd/larder/demo"
	"larder.local/configs"
)

func serveCommand(env *cli.Environment) *cobra.Command {
	cmd := cli.NewCommand("larder", "serve --config FILE", func(cmd *cobra.Command, _ []string) error {
		err := serve(cmd, env)
		return cli.ListenError(err, listenKey(err))
	})
	cli.AddConfig(cmd)
	cli.AddUnknownKeys(cmd)
	return cmd
}

// serve runs the daemon until the command's context ends, and handles SIGHUP and systemd.
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
	d, err := newDaemon(ctx, cfg, log, env.DroppedLines, nil)
	if err != nil {
		return err
	}
	reloads.daemon.Store(d)
	defer systemd.watch(ctx, client.BaseURL(d.server.Addr()))()
	if d.redis.Embedded() {
		log.WithField("event", "redis.non_durable").
			Warn("redis is embedded: all data is in memory and is lost when larder stops; to keep it, set redis.url")
	}
	defer runtime.KeepAlive(make([]byte, heapReserve))
	return d.run(ctx)
}

// heapReserve is the size of memory that is allocated and never used. The system provides no pages for it, but it
// counts as heap. The garbage collector runs when the heap has doubled, so a small heap is not collected all the
// time (docs/performance.md).
const heapReserve = 48 << 20

// demoStarts returns the functions with which the demo starts a log and a daemon.
func demoStarts(env *cli.Environment) *demo.Starts {
	return &demo.Starts{
		Logger: func(cmd *cobra.Command) (*logrus.Logger, error) { return serviceLogger(cmd, env) },
		Daemon: func(ctx context.Context, cfg *configs.Config, log logrus.FieldLogger, photos http.Handler,
			listening func(addr string),
		) error {
			d, err := newDaemon(ctx, cfg, log, env.DroppedLines, photos)
			if err != nil {
				return err
			}
			listening(d.server.Addr())
			return d.run(ctx)
		},
		OnSIGHUP: onSIGHUP,
	}
}

// listenKey returns the configuration key of the listener that could not be opened.
func listenKey(err error) string {
	if err != nil && strings.Contains(err.Error(), "http.ops_listen") {
		return "http.ops_listen (LARDER_HTTP_OPS_LISTEN)"
	}
	return "http.listen (LARDER_HTTP_LISTEN)"
}
