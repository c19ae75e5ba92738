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

	"larder.local/cmd/larder/client"
	"larder.local/configs"
	"larder.local/internal/sleep"
)

const (
	// checksPerWatchdog is the number of self-checks within WatchdogSec. One may fail, one may be late.
	checksPerWatchdog = 3
	// checkEvery is the interval of self-checks during startup without a watchdog.
	checkEvery = time.Second
)

// notifier notifies systemd of the state of a unit with Type=notify (decision 0040): serving, reloading, stopping.
// With WatchdogSec it also notifies the watchdog after each successful GET /livez on larder's own listener.
type notifier struct {
	log      logrus.FieldLogger
	wanted   bool          // NOTIFY_SOCKET is set
	watchdog time.Duration // WatchdogSec; 0: no watchdog
	serves   atomic.Bool   // READY=1 was sent
}

// newNotifier reads the variables that systemd sets.
func newNotifier(environ []string, log logrus.FieldLogger) (*notifier, error) {
	socket, _ := configs.Variable(environ, "NOTIFY_SOCKET")
	n := &notifier{log: log, wanted: socket != ""}
	if !n.wanted {
		return n, nil
	}
	var err error
	if n.watchdog, err = systemd.SdWatchdogEnabled(false); err != nil {
		return nil, fmt.Errorf("invalid WATCHDOG_USEC or WATCHDOG_PID: %w: only systemd should set them", err)
	}
	return n, nil
}

// watch starts to notify systemd of a daemon that listens at base. ctx ends when the daemon must stop.
// The caller calls stop after that; stop waits for the last notification.
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

// follow notifies systemd. ctx ends when the daemon must stop, running when it has stopped.
func (n *notifier) follow(ctx, running context.Context, base string) {
	every := checkEvery
	if n.watchdog > 0 {
		every = n.watchdog / checksPerWatchdog
	}
	serving, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(running, cancel)()
	// No proxy: the target is this process. One reused connection: http.max_connections cannot delay it.
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
	n.notify(systemd.SdNotifyStopping + "\nSTATUS=stopping: finishing requests in progress")
	for n.watchdog > 0 { // without checks: the listeners are closed, and TimeoutStopSec limits the shutdown
		n.notify(systemd.SdNotifyWatchdog)
		if sleep.For(running, every) != nil {
			return
		}
	}
}

// check requests /livez and reports whether the request failed. silent is the previous result. The
// first success reports larder as ready, each later one notifies the watchdog.
func (n *notifier) check(ctx context.Context, self *client.Client, silent bool) bool {
	_, err := self.Get(ctx, "/livez")
	switch {
	case ctx.Err() != nil:
	case err != nil && !silent:
		n.log.WithError(err).WithField("event", "systemd.not_responding").
			Warn("larder does not answer its own health check: the watchdog is not notified until it does")
	case err == nil && silent:
		n.log.WithField("event", "systemd.responding").Info("larder answers its own health check again")
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

// reloading notifies systemd when a reload begins and ends, but not before larder is ready.
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

// notify sends a state to systemd. If that fails, it logs the error.
func (n *notifier) notify(state string) {
	if _, err := systemd.SdNotify(false, state); err != nil {
		n.log.WithError(err).WithField("event", "systemd.notify_failed").
			Warn("cannot notify systemd: if the unit has a watchdog, systemd will restart larder")
	}
}
