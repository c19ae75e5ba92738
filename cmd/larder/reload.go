package main

import (
	"errors"
	"os"
	"os/signal"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/sirupsen/logrus"

	"larder/configs"
)

// onSIGHUP calls reload for each SIGHUP, which would end the process at once and cut
// what is in flight, until stop is called. Signals that come during a call are
// answered together, after it; stop waits for a call that has begun.
func onSIGHUP(reload func()) (stop func()) {
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP)
	stopped, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case <-hangups:
				reload()
			case <-stopped:
				return
			}
		}
	}()
	return func() {
		signal.Stop(hangups)
		close(stopped)
		<-ended
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
