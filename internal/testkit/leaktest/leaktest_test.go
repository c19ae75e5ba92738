package leaktest

import (
	"testing"
	"time"

	"go.uber.org/goleak"
)

// A goroutine that needs more time than goleak waits, and less than a minute, is no leak.
func TestCheckWaits(t *testing.T) {
	ended := time.Now().Add(time.Second)          //testwaits:allow the subject is a goroutine that ends after a second
	go func() { time.Sleep(time.Until(ended)) }() //testwaits:allow the subject is a goroutine that sleeps
	before := goleak.Find()
	if got := Check(0); got != 0 || time.Now().Before(ended) || before == nil {
		t.Errorf("Check() = %d, goleak alone: %v", got, before)
	}
	if got := Check(3); got != 3 {
		t.Errorf("Check(3) = %d: the status of the tests is lost", got)
	}
}
