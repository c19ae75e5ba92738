package replica

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"larder.local/internal/menu"
)

// The end of a caller's context ends its wait, and not the load, which others share.
func TestContentCache_CallerGivesUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, callerGivesUp)
}

func callerGivesUp(t *testing.T) {
	begun, end := make(chan struct{}), make(chan struct{})
	c := contentCache{load: func(ctx context.Context, _ contentKey) (*menu.Content, error) {
		close(begun)
		<-end
		return &menu.Content{}, ctx.Err()
	}}
	first, leave := context.WithCancel(t.Context())
	left, got := make(chan error, 1), make(chan error, 1)
	go func() { _, err := c.content(first, contentKey{hash: "h"}); left <- err }()
	<-begun
	go func() { _, err := c.content(t.Context(), contentKey{hash: "h"}); got <- err }()
	synctest.Wait() // it waits for the same load
	leave()
	if err := <-left; !errors.Is(err, context.Canceled) {
		t.Errorf("the caller that gave up got %v", err)
	}
	close(end)
	if err := <-got; err != nil {
		t.Errorf("the other caller got %v", err)
	}
}
