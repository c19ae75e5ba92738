package main

import (
	"cmp"
	"context"
	"errors"
	"os"
	"os/signal"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/sirupsen/logrus"

	"larder.local/configs"
	"larder.local/internal/upstream"
)

// reloadWait is the longest wait for a reload when larder stops.
const reloadWait = time.Second

// onSIGHUP calls reload for each SIGHUP until stop is called. Signals during a call cause one more
// call. stop waits for a call in progress, but not long: it may be reading a slow file (policy H12).
func onSIGHUP(reload func()) (stop func()) {
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range hangups {
			reload()
		}
	}()
	return func() {
		signal.Stop(hangups)
		close(hangups)
		select {
		case <-done:
		case <-time.After(reloadWait):
		}
	}
}

// reloader applies a changed configuration to a running daemon. It is for one goroutine.
type reloader struct {
	read    func(running *configs.Config) (next *configs.Config, restart []string, err error) // restart: the sections that need a restart
	log     logrus.FieldLogger
	daemon  atomic.Pointer[daemon] // nil during startup
	running *configs.Config        // the current configuration; nil until the first reload
}

// reload reads the configuration and applies restaurants, schedules and clients, or logs all errors.
func (r *reloader) reload() {
	d := r.daemon.Load()
	if d == nil {
		r.log.WithField("event", "config.reload_rejected").Warn("SIGHUP was ignored during startup: send it again when larder is ready")
		return
	}
	r.running = cmp.Or(r.running, d.cfg)
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
			Warn("changes in these sections are not applied: restart larder to apply them")
	}
	files, err := tlsFilesOf(next)
	if err != nil { // changed since it was checked
		r.reject(err)
		return
	}
	restaurants := restaurantsOf(next)
	before := d.directory.Restaurants()
	recent := d.recentRestaurants(context.Background()) // it has its own time limit
	d.sources.Set(next.Connections)
	d.setUp(restaurants)
	d.directory.Replace(listed(restaurants)) // first: the replica accepts only menus of listed restaurants
	done, err := d.scheduler.Replace(restaurants, next.Sync.Schedule, recent)
	if err != nil { // unexpected: the configuration was checked
		d.sources.Set(r.running.Connections)
		d.setUp(restaurantsOf(r.running))
		d.directory.Replace(before)
		r.reject(err)
		return
	}
	d.validator.SetRestaurants(rulesOf(next))
	d.replica.Drop(done.Removed...)
	d.replica.Refresh(d.directory.Menus()...)
	d.reloaded.Set()
	for i, client := range d.clients {
		client.Reload(next.Connections[i].ClientSecret, files[i])
	}
	clients := d.server.SetClients(next.Auth.Clients)
	r.running = next
	r.log.WithFields(logrus.Fields{
		"event":       "config.reloaded",
		"added":       len(done.Added),
		"changed":     len(done.Changed),
		"removed":     len(done.Removed),
		"restaurants": len(next.Restaurants),
		"clients":     clients,
		"ms":          time.Since(began).Milliseconds(),
	}).Info("reloaded restaurants, schedules and clients")
}

// tlsFilesOf reads the files of all connections.
func tlsFilesOf(cfg *configs.Config) ([]*upstream.TLSFiles, error) {
	files := make([]*upstream.TLSFiles, len(cfg.Connections))
	for i := range files {
		var err error
		if files[i], err = cfg.Connections[i].TLS.Load(); err != nil {
			return nil, err
		}
	}
	return files, nil
}

// reject logs every error of the configuration, each with its file, line and column or its variable.
func (r *reloader) reject(err error) {
	all := []error{err}
	if many, ok := errors.AsType[configs.Errors](err); ok {
		all = many.Unwrap()
	}
	for _, each := range all {
		r.log.WithError(each).WithField("event", "config.error").Error("error in the configuration")
	}
	r.log.WithField("event", "config.reload_rejected").WithField("errors", len(all)).
		Error("nothing was reloaded: larder keeps its current configuration; fix the errors and send SIGHUP again")
}
