package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"

	systemd "github.com/coreos/go-systemd/v22/daemon"
	"github.com/sirupsen/logrus"
	"golang.org/x/sync/errgroup"

	"larder/internal/sleep"
)

const (
	// checksPerWatchdog is how often larder checks itself within WatchdogSec: a
	// response may come late, and one may be missed.
	checksPerWatchdog = 3
	// checkEvery is how often it does until it serves, where there is no watchdog.
	checkEvery = time.Second
)

// notifier tells systemd of the life of a unit with Type=notify (decision 0040):
// that larder serves, reloads and stops, and with WatchdogSec that it has just
// answered GET /livez over its own listener.
type notifier struct {
	log      logrus.FieldLogger
	wanted   bool          // NOTIFY_SOCKET is set
	watchdog time.Duration // 0: there is none
	serves   atomic.Bool   // READY=1 was sent
}

// newNotifier reads the variables that systemd sets.
func newNotifier(env []string, log logrus.FieldLogger) (*notifier, error) {
	socket, _ := variable(env, "NOTIFY_SOCKET")
	n := &notifier{log: log, wanted: socket != ""}
	if !n.wanted {
		return n, nil
	}
	var err error
	if n.watchdog, err = systemd.SdWatchdogEnabled(false); err != nil {
		return nil, fmt.Errorf("the watchdog's variables: %w: leave WATCHDOG_USEC and WATCHDOG_PID to systemd", err)
	}
	return n, nil
}

// watch runs the daemon and tells systemd of it. run calls listening once its
// listeners are open.
func (n *notifier) watch(ctx context.Context, run func(listening func(*daemon)) error) error {
	var group errgroup.Group
	running, ended := context.WithCancel(context.WithoutCancel(ctx))
	err := run(func(d *daemon) {
		if n.wanted {
			group.Go(func() error {
				n.follow(ctx, running, urlOf(d.server.Addr()))
				return nil
			})
		}
	})
	ended()
	return errors.Join(err, group.Wait())
}

// follow tells systemd of one life. ctx ends when larder is told to stop,
// running when it has stopped.
func (n *notifier) follow(ctx, running context.Context, base string) {
	serving, cancel := context.WithCancel(running)
	defer cancel()
	defer context.AfterFunc(ctx, cancel)()
	every := checkEvery
	if n.watchdog > 0 {
		every = n.watchdog / checksPerWatchdog
	}
	n.check(serving, base, every)
	<-serving.Done()
	if running.Err() != nil {
		return // it ended by itself, and its exit status says how
	}
	n.notify(systemd.SdNotifyStopping + "\nSTATUS=stopping: requests in flight are finished first")
	for n.watchdog > 0 { // its listeners are closed: TimeoutStopSec bounds the end
		n.notify(systemd.SdNotifyWatchdog)
		if sleep.For(running, every) != nil {
			return
		}
	}
}

// check requests /livez until ctx ends. The first success makes larder ready,
// each later one satisfies the watchdog; without a watchdog check returns after
// the first. It keeps its connection, so that it need not wait for a place once
// http.max_connections are open.
func (n *notifier) check(ctx context.Context, base string, every time.Duration) {
	self := &api{base: base, plain: &http.Client{Timeout: every, Transport: &http.Transport{}}} // no proxy: it is this process
	defer self.plain.CloseIdleConnections()
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for silent := false; ; {
		_, err := self.get(ctx, "/livez")
		switch {
		case ctx.Err() != nil:
			return
		case err != nil && !silent:
			n.log.WithError(err).WithField("event", "systemd.no_answer").
				Warn("larder does not answer itself; systemd is not told that it is alive until it does")
		case err == nil && silent:
			n.log.WithField("event", "systemd.answers").Info("larder answers itself again")
		}
		silent = err != nil
		switch {
		case silent:
		case !n.serves.Swap(true):
			n.notify(systemd.SdNotifyReady + "\nSTATUS=serving on " + base)
		case n.watchdog > 0:
			n.notify(systemd.SdNotifyWatchdog)
		}
		if n.watchdog == 0 && n.serves.Load() {
			return
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
	}
}

// reloading tells systemd when a reload begins and ends. Before larder serves it
// tells nothing: READY=1 would follow.
func (n *notifier) reloading(reload func()) func() {
	return func() {
		if !n.serves.Load() {
			reload()
			return
		}
		n.notify(systemd.SdNotifyReloading + "\n" + systemd.SdNotifyMonotonicUsec())
		reload()
		n.notify(systemd.SdNotifyReady)
	}
}

// notify sends a state to systemd. larder serves on when that fails.
func (n *notifier) notify(state string) {
	if _, err := systemd.SdNotify(false, state); err != nil {
		n.log.WithError(err).WithField("event", "systemd.not_told").
			Warn("systemd could not be told how larder is; a watchdog will restart it")
	}
}
