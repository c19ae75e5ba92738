package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/sirupsen/logrus"
	"golang.org/x/sync/errgroup"
)

// hangupSaid is what a SIGHUP is answered with until it reloads.
const hangupSaid = "SIGHUP: larder cannot reload its configuration yet; restart it to use a changed one"

// hangupLog warns in the log.
func hangupLog(log logrus.FieldLogger) func(msg string) {
	return func(msg string) { log.WithField("event", "config.not_reloaded").Warn(msg) }
}

// outlivingHangups does a long-running command's work. A SIGHUP meanwhile,
// which would end the process at once and cut what is in flight, only warns.
func outlivingHangups(ctx context.Context, warn func(msg string), do func(ctx context.Context) error) error {
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP)
	defer signal.Stop(hangups)
	watching, done := context.WithCancel(context.WithoutCancel(ctx))
	var group errgroup.Group
	group.Go(func() error {
		defer done()
		return do(ctx)
	})
	group.Go(func() error {
		for {
			select {
			case <-hangups:
				warn(hangupSaid)
			case <-watching.Done():
				return nil
			}
		}
	})
	return group.Wait()
}
