package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"syscall"

	"github.com/sirupsen/logrus"
	"github.com/spf13/cobra"

	"larder/configs"
	"larder/httpapi"
)

func serveCommand(env *environment) *cobra.Command {
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
		Args: argRange(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			log, err := serviceLogger(cmd, env)
			if err != nil {
				return err
			}
			cfg, err := loadService(cmd, env)
			if err != nil {
				return err
			}
			reloads := &reloader{log: log, read: func(running *configs.Config) (*configs.Config, []string, error) {
				return running.Reload(stringFlag(cmd, "config"), env.environ, readOptions(cmd)...)
			}}
			systemd, err := newNotifier(env.environ, log)
			if err != nil {
				return err
			}
			return withSIGHUP(cmd.Context(), systemd.reloading(reloads.reload), func(ctx context.Context) error {
				return systemd.watch(ctx, func(listening func(*daemon)) error {
					err := serve(ctx, cfg, log, func(d *daemon) {
						reloads.daemon.Store(d)
						listening(d)
					}, nil, countDropped(env))
					return listenError(err, listenKey(err))
				})
			})
		},
	}
	addConfig(cmd)
	addUnknownKeys(cmd)
	return cmd
}

// countDropped counts in the metrics the lines that the log's reader did not get.
func countDropped(env *environment) func(*httpapi.Deps) {
	return func(deps *httpapi.Deps) { deps.Metrics.LogLinesDropped = env.droppedLines }
}

// serve runs one daemon. listening is called once its listeners are open.
// beside, when given, runs next to it from then on; its end ends the daemon. with
// is for newDaemon.
func serve(ctx context.Context, cfg *configs.Config, log logrus.FieldLogger, listening func(d *daemon),
	beside func(ctx context.Context, d *daemon) error, with ...func(*httpapi.Deps),
) error {
	for _, warning := range cfg.Warnings() {
		log.WithField("event", "config.warning").Warn(warning)
	}
	if len(cfg.Connections) == 0 {
		log.WithField("event", "config.nothing_to_serve").Warn("the configuration has no connection: there is nothing to serve")
	}
	d, err := newDaemon(cfg, log, with...) //nolint:contextcheck // handlers take their request's context
	if err != nil {
		return err
	}
	if err := d.server.Listen(ctx); err != nil { // first of all, so that a taken port is reported
		return errors.Join(err, d.close()) //nolint:contextcheck // the end is bounded by itself
	}
	listening(d)
	if beside == nil {
		if d.redis.Embedded() {
			log.WithField("event", "redis.non_durable").Warn("redis is embedded: everything is kept in memory and gone when larder stops")
		}
		return d.run(ctx)
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	done := make(chan error, 1)
	go func() {
		err := beside(ctx, d)
		stop()
		done <- err
	}()
	err = d.run(ctx)
	stop()
	if besideErr := <-done; besideErr != nil {
		return besideErr
	}
	return err
}

// listenError explains what to change about an address that cannot be listened on.
// what is the flag or key that holds it.
func listenError(err error, what string) error {
	fault, ok := errors.AsType[*net.OpError](err)
	if !ok || fault.Op != "listen" {
		return err
	}
	msg := fmt.Sprintf("cannot listen: %s (%s)", rootCause(err), what)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		msg = fmt.Sprintf("%v is taken by another program: say another address with %s", fault.Addr, what)
	case errors.Is(err, syscall.EACCES):
		msg = fmt.Sprintf("listening on %v is not allowed (ports below 1024 need the right to): say another address with %s", fault.Addr, what)
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		msg = fmt.Sprintf("%v is no address of this machine: say another one with %s", fault.Addr, what)
	}
	return &hintError{&linesError{[]string{msg}, err}, ""}
}

// anyPort shows how a flag asks for any free port.
func anyPort(flag string) string { return " (" + flag + " 127.0.0.1:0 takes any free port)" }

// listenKey is the key of the configuration that a daemon's listener could not
// be opened for.
func listenKey(err error) string {
	if err != nil && strings.Contains(err.Error(), "http.ops_listen") {
		return "http.ops_listen (LARDER_HTTP_OPS_LISTEN)"
	}
	return "http.listen (LARDER_HTTP_LISTEN)"
}
