package main

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	systemd "github.com/coreos/go-systemd/v22/daemon"
	"github.com/sirupsen/logrus"
	"golang.org/x/sync/errgroup"
)

const (
	// askedIn is how many times larder asks itself within a watchdog's patience:
	// an answer may come late, and one may be missed.
	askedIn = 3
	// askedEvery is how often it does until it serves, where there is no watchdog.
	askedEvery = time.Second
)

// manager is the service manager that has started larder and wants to hear of
// it: systemd with Type=notify (decision 0040). It is told when larder serves,
// when it reads its configuration again and when it stops; and where the unit
// has WatchdogSec, again and again that larder has just answered itself.
type manager struct {
	log    logrus.FieldLogger
	wanted bool          // somebody is to be told
	within time.Duration // what the watchdog waits at most; 0: there is none
	serves atomic.Bool   // READY=1 was sent
	lost   atomic.Bool   // the last word could not be sent
}

// newManager finds the manager in the variables that systemd sets.
func newManager(env []string, log logrus.FieldLogger) (*manager, error) {
	socket, _ := variable(env, "NOTIFY_SOCKET")
	m := &manager{log: log, wanted: socket != ""}
	if !m.wanted {
		return m, nil
	}
	within, err := systemd.SdWatchdogEnabled(false)
	if err != nil {
		return nil, fmt.Errorf("the watchdog's variables: %w: leave WATCHDOG_USEC and WATCHDOG_PID to systemd", err)
	}
	m.within = within
	return m, nil
}

// watch does the daemon's work, and tells the manager of it. do hands the daemon
// over once its listeners are open.
func (m *manager) watch(ctx context.Context, do func(ctx context.Context, listening func(*daemon)) error) error {
	if !m.wanted {
		return do(ctx, func(*daemon) {})
	}
	address := make(chan string, 1)
	running, ended := context.WithCancel(context.WithoutCancel(ctx))
	var group errgroup.Group
	group.Go(func() error {
		defer ended()
		return do(ctx, func(d *daemon) { address <- urlOf(d.server.Addr()) })
	})
	group.Go(func() error {
		m.follow(ctx, running, address)
		return nil
	})
	return group.Wait()
}

// follow tells of one life: stop is over when larder is to stop, running when it
// has.
func (m *manager) follow(stop, running context.Context, address <-chan string) {
	serving, cancel := context.WithCancel(running)
	defer cancel()
	defer context.AfterFunc(stop, cancel)()
	select {
	case base := <-address:
		m.attest(serving, base)
	case <-serving.Done():
	}
	<-serving.Done() // without a watchdog nothing is to be told between
	if running.Err() != nil {
		return // it has ended by itself, and its status says how
	}
	m.tell(systemd.SdNotifyStopping + "\nSTATUS=stopping: requests in flight are finished first")
	m.outlast(running)
}

// attest asks larder whether it answers, until ctx ends: the first answer makes
// it ready, each one contents the watchdog. Without one it ends with the first.
func (m *manager) attest(ctx context.Context, base string) {
	every := askedEvery
	if m.within > 0 {
		every = m.within / askedIn
	}
	self := newSelf(base, every)
	defer self.close()
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	silent := false
	for {
		err := self.ask(ctx)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil && !silent:
			m.log.WithError(err).WithField("event", "systemd.no_answer").
				Warn("larder does not answer itself; systemd is not told that it is alive until it does")
		case err == nil && silent:
			m.log.WithField("event", "systemd.answers").Info("larder answers itself again")
		}
		silent = err != nil
		if err == nil {
			m.alive(base)
		}
		if m.within == 0 && m.serves.Load() {
			return
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
	}
}

// alive tells what an answer has shown.
func (m *manager) alive(base string) {
	switch {
	case m.serves.CompareAndSwap(false, true):
		m.tell(systemd.SdNotifyReady + "\nSTATUS=serving on " + base)
	case m.within > 0:
		m.tell(systemd.SdNotifyWatchdog)
	}
}

// outlast contents the watchdog while larder stops: its listeners are closed
// then, and TimeoutStopSec bounds it.
func (m *manager) outlast(running context.Context) {
	if m.within == 0 {
		return
	}
	ticker := time.NewTicker(m.within / askedIn)
	defer ticker.Stop()
	for {
		m.tell(systemd.SdNotifyWatchdog)
		select {
		case <-ticker.C:
		case <-running.Done():
			return
		}
	}
}

// reloading tells that a hangup is being answered, and when it has been. Before
// larder serves there is nothing to tell: the word after it would be READY=1.
func (m *manager) reloading(answer func()) func() {
	return func() {
		if !m.serves.Load() {
			answer()
			return
		}
		m.tell(systemd.SdNotifyReloading + "\n" + systemd.SdNotifyMonotonicUsec())
		answer()
		m.tell(systemd.SdNotifyReady)
	}
}

// tell sends a word to the manager. larder serves on when nobody takes it.
func (m *manager) tell(word string) {
	_, err := systemd.SdNotify(false, word)
	if lost := err != nil; m.lost.Swap(lost) != lost && lost {
		m.log.WithError(err).WithField("event", "systemd.not_told").
			Warn("systemd could not be told how larder is; a watchdog will restart it")
	}
}
