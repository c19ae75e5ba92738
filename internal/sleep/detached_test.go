package sleep_test

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"testing/synctest"
	"time"
	"weak"

	"larder/internal/sleep"
)

type name struct{}

func TestADetachedContextEndsAtItsTimeOnly(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		parent, cancel := context.WithCancel(context.WithValue(t.Context(), name{}, "kept"))
		end := time.Now().Add(time.Second)
		ctx := sleep.Detached(parent, end)
		cancel()
		if err := ctx.Err(); err != nil {
			t.Errorf("the end of its parent ended it: %v", err)
		}
		if got := ctx.Value(name{}); got != "kept" {
			t.Errorf("the value is %v", got)
		}
		if got, ok := sleep.End(ctx); !ok || !got.Equal(end) {
			t.Errorf("End() = %v, %v", got, ok)
		}
		child, stop := context.WithCancel(ctx)
		defer stop()
		if _, ok := sleep.End(child); ok {
			t.Error("End() ignores that the child can be cancelled")
		}
		start := time.Now()
		<-child.Done()
		if took := time.Since(start); took != time.Second {
			t.Errorf("it ended after %v", took)
		}
		if err := ctx.Err(); !errors.Is(err, context.DeadlineExceeded) || !errors.Is(context.Cause(child), err) {
			t.Errorf("Err() = %v, and the child's cause is %v", err, context.Cause(child))
		}
	})
}

// The timer of a context whose Done was called does not keep the context's values in memory.
func TestTheTimerKeepsNoValues(t *testing.T) {
	t.Parallel()
	value := &struct{ guest [1 << 10]byte }{}
	kept := weak.Make(value)
	ctx := sleep.Detached(context.WithValue(t.Context(), name{}, value), time.Now().Add(time.Hour))
	if ctx.Done() == nil || kept.Value() == nil {
		t.Fatal("the context has no end or no value")
	}
	runtime.KeepAlive(value)
	runtime.KeepAlive(ctx)
	runtime.GC()
	if kept.Value() != nil {
		t.Error("the value is still in memory")
	}
}
