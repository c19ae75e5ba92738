package leaktest

import (
	"testing"
	"time"

	"go.uber.org/goleak"
)

// A goroutine that ends while Check waits is no leak. goleak alone reports it.
func TestCheckWaits(t *testing.T) {
	end := make(chan struct{})
	go func() { <-end }()
	before := goleak.Find()
	time.AfterFunc(time.Second, func() { close(end) }) //testwaits:allow the subject is a goroutine that ends after a second
	if got := Check(0); got != 0 || before == nil {
		t.Errorf("Check() = %d, goleak alone: %v", got, before)
	}
	if got := Check(3); got != 3 {
		t.Errorf("Check(3) = %d: the status of the tests is lost", got)
	}
}
