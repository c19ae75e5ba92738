package main

import (
	"context"
	"errors"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/sirupsen/logrus"
	"github.com/spf13/cobra"

	"larder/configs"
	"larder/httpapi"
	"larder/internal/cli"
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
			log, err := serviceLogger(cmd, env)
			if err != nil {
				return err
			}
			cfg, err := cli.LoadService(cmd, env)
			if err != nil {
				return err
			}
			reloads := &reloader{log: log, read: func(running *configs.Config) (*configs.Config, []string, error) {
				return running.Reload(cli.StringFlag(cmd, "config"), env.Environ, cli.ReadOptions(cmd)...)
			}}
			systemd, err := newNotifier(env.Environ, log)
			if err != nil {
				return err
			}
			return withSIGHUP(cmd.Context(), systemd.reloading(reloads.reload), func(ctx context.Context) error {
				return systemd.watch(ctx, func(listening func(*daemon)) error {
					err := serve(ctx, cfg, log, func(d *daemon) {
						reloads.daemon.Store(d)
						listening(d)
						if d.redis.Embedded() {
							log.WithField("event", "redis.non_durable").
								Warn("redis is embedded: everything is kept in memory and gone when larder stops")
						}
					}, countDropped(env))
					return cli.ListenError(err, listenKey(err))
				})
			})
		},
	}
	cli.AddConfig(cmd)
	cli.AddUnknownKeys(cmd)
	return cmd
}

// demoStarts is how the demo starts what this package has.
func demoStarts(env *cli.Environment) *demo.Starts {
	return &demo.Starts{
		Logger: func(cmd *cobra.Command) (*logrus.Logger, error) { return serviceLogger(cmd, env) },
		Daemon: func(ctx context.Context, cfg *configs.Config, log logrus.FieldLogger, photos http.Handler, listening func(addr string)) error {
			withPhotos := func(deps *httpapi.Deps) { deps.Photos = photos }
			return serve(ctx, cfg, log, func(d *daemon) { listening(d.server.Addr()) }, withPhotos, countDropped(env))
		},
		Hangups: withSIGHUP,
	}
}

// countDropped counts in the metrics the lines that the log's reader did not get.
func countDropped(env *cli.Environment) func(*httpapi.Deps) {
	return func(deps *httpapi.Deps) { deps.Metrics.LogLinesDropped = env.DroppedLines }
}

// serve runs one daemon until ctx ends. listening is called once its listeners
// are open. with is for newDaemon.
func serve(ctx context.Context, cfg *configs.Config, log logrus.FieldLogger, listening func(d *daemon),
	with ...func(*httpapi.Deps),
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
	return d.run(ctx)
}

// listenKey is the key of the configuration that a daemon's listener could not
// be opened for.
func listenKey(err error) string {
	if err != nil && strings.Contains(err.Error(), "http.ops_listen") {
		return "http.ops_listen (LARDER_HTTP_OPS_LISTEN)"
	}
	return "http.listen (LARDER_HTTP_LISTEN)"
}

// withSIGHUP does a long-running command's work. Each SIGHUP meanwhile, which
// would end the process at once and cut what is in flight, calls reload; those
// that come during a call are answered together, after it.
func withSIGHUP(ctx context.Context, reload func(), do func(ctx context.Context) error) error {
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP)
	defer signal.Stop(hangups)
	done := make(chan error, 1)
	go func() { done <- do(ctx) }()
	for {
		select {
		case <-hangups:
			reload()
		case err := <-done:
			return err
		}
	}
}

// reloader puts a changed configuration into force while larder serves. Its
// methods are called by one goroutine.
type reloader struct {
	read    func(running *configs.Config) (next *configs.Config, restart []string, err error)
	log     logrus.FieldLogger
	daemon  atomic.Pointer[daemon] // nil until it serves
	running *configs.Config        // what is in force; nil until the first reload
}

// reload reads the whole configuration, and puts restaurants, schedules and clients into
// force if nothing is wrong with any of it. Either way the result is logged.
func (r *reloader) reload() {
	d := r.daemon.Load()
	if d == nil {
		r.log.WithField("event", "config.reload_rejected").Warn("SIGHUP during the start: send it again once larder listens")
		return
	}
	if r.running == nil {
		r.running = d.cfg
	}
	began := time.Now()
	next, restart, err := r.read(r.running)
	if err != nil {
		r.reject(err)
		return
	}
	for _, warning := range next.Warnings() {
		r.log.WithField("event", "config.warning").Warn(warning)
	}
	if len(restart) > 0 {
		r.log.WithField("event", "config.restart_needed").WithField("sections", strings.Join(restart, ", ")).
			Warn("what changed in these sections is not in force: restart larder for it")
	}
	restaurants := restaurantsOf(next)
	before := d.directory.Restaurants()
	d.directory.Replace(listed(restaurants)) // first: the replica keeps the menus of listed restaurants alone
	done, err := d.runner.Replace(restaurants, next.Sync.Schedule)
	if err != nil { // the configuration has been checked for all of it
		d.directory.Replace(before)
		r.reject(err)
		return
	}
	d.validator.SetRestaurants(rulesOf(next))
	d.replica.Drop(done.Removed...)
	clients := d.server.SetClients(next.Auth.Clients)
	r.running = next
	r.log.WithFields(logrus.Fields{
		"event": "config.reloaded", "added": len(done.Added), "changed": len(done.Changed), "removed": len(done.Removed),
		"restaurants": len(next.Restaurants), "clients": clients, "ms": time.Since(began).Milliseconds(),
	}).Info("restaurants, schedules and clients are those of the configuration")
}

// reject logs every fault, each with its place; what was in force stays so.
func (r *reloader) reject(err error) {
	faults := []error{err}
	if many, ok := errors.AsType[configs.Errors](err); ok {
		faults = many.Unwrap()
	}
	for _, fault := range faults {
		r.log.WithError(fault).WithField("event", "config.error").Error("the configuration is wrong")
	}
	r.log.WithField("event", "config.reload_rejected").WithField("faults", len(faults)).
		Error("nothing was reloaded: larder goes on with the configuration that it has")
}
