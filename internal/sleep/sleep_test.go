package sleep_test

import (
	"testing"

	"larder.local/internal/sleep"
)

func TestASignalIsSetOnce(t *testing.T) {
	t.Parallel()
	s := sleep.NewSignal()
	s.Set()
	s.Set()
	<-s
	select {
	case <-s:
		t.Error("it is set although it was received")
	default:
	}
}
