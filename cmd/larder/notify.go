package main

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	systemd "github.com/coreos/go-systemd/v22/daemon"
	"github.com/sirupsen/logrus"

	"larder/internal/cli"
	"larder/internal/client"
	"larder/internal/sleep"
)

const (
	// checksPerWatchdog is how often larder checks itself within WatchdogSec: a
	// response may come late, and one may be missed.
	checksPerWatchdog = 3
	// checkEvery is how often it does until it serves, where there is no watchdog.
	checkEvery = time.Second
)

// notifier reports to systemd the life of a unit with Type=notify (decision 0040):
// that larder serves, reloads and stops, and with WatchdogSec that it has just
// answered GET /livez over its own listener.
type notifier struct {
	log      logrus.FieldLogger
	wanted   bool          // NOTIFY_SOCKET is set
	watchdog time.Duration // 0: there is none
	serves   atomic.Bool   // READY=1 was sent
}

// newNotifier reads the variables that systemd sets.
func newNotifier(environ []string, log logrus.FieldLogger) (*notifier, error) {
	socket, _ := cli.Variable(environ, "NOTIFY_SOCKET")
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

// watch begins to report a daemon that listens at base. ctx ends when larder has to
// stop; stop is called when it has stopped, and waits for the last report.
func (n *notifier) watch(ctx context.Context, base string) (stop func()) {
	if !n.wanted {
		return func() {}
	}
	var group sync.WaitGroup
	running, ended := context.WithCancel(context.WithoutCancel(ctx))
	group.Go(func() { n.follow(ctx, running, base) })
	return func() {
		ended()
		group.Wait()
	}
}

// follow reports one life to systemd. ctx ends when larder has to stop,
// running when it has stopped: if it ended by itself, its exit status says how.
func (n *notifier) follow(ctx, running context.Context, base string) {
	every := checkEvery
	if n.watchdog > 0 {
		every = n.watchdog / checksPerWatchdog
	}
	serving, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(running, cancel)()
	// Not over a proxy: it is this process. It keeps its connection, so that it need
	// not wait for a place once http.max_connections are open.
	self := &client.Client{Base: base, HTTP: &http.Client{Timeout: every, Transport: &http.Transport{}}}
	defer self.HTTP.CloseIdleConnections()
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for silent := false; serving.Err() == nil; {
		if n.watchdog > 0 || !n.serves.Load() {
			silent = n.check(serving, self, silent)
		}
		select {
		case <-ticker.C:
		case <-serving.Done():
		}
	}
	if running.Err() != nil {
		return
	}
	n.notify(systemd.SdNotifyStopping + "\nSTATUS=stopping: requests in flight are finished first")
	for n.watchdog > 0 { // its listeners are closed: TimeoutStopSec bounds the end
		n.notify(systemd.SdNotifyWatchdog)
		if sleep.For(running, every) != nil {
			return
		}
	}
}

// check requests /livez and reports whether it got no answer; silent is
// the result of the last time. The first success makes larder ready, each later one satisfies
// the watchdog.
func (n *notifier) check(ctx context.Context, self *client.Client, silent bool) bool {
	_, err := self.Get(ctx, "/livez")
	switch {
	case ctx.Err() != nil:
	case err != nil && !silent:
		n.log.WithError(err).WithField("event", "systemd.not_responding").
			Warn("larder does not answer itself; systemd is not told that it is alive until it does")
	case err == nil && silent:
		n.log.WithField("event", "systemd.responding").Info("larder answers itself again")
	}
	switch {
	case err != nil:
	case !n.serves.Swap(true):
		n.notify(systemd.SdNotifyReady + "\nSTATUS=serving on " + self.Base)
	case n.watchdog > 0:
		n.notify(systemd.SdNotifyWatchdog)
	}
	return err != nil
}

// reloading reports to systemd when a reload begins and ends. Before larder serves
// it reports nothing: READY=1 would follow.
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
		n.log.WithError(err).WithField("event", "systemd.notify_failed").
			Warn("systemd could not be told how larder is; a watchdog will restart it")
	}
}
