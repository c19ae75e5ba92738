package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/sync/errgroup"
)

// outlivingHangups does a long-running command's work. Each SIGHUP meanwhile,
// which would end the process at once and cut what is in flight, is answered;
// those that come during an answer are answered together, after it.
func outlivingHangups(ctx context.Context, answer func(), do func(ctx context.Context) error) error {
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
				answer()
			case <-watching.Done():
				return nil
			}
		}
	})
	return group.Wait()
}
