//go:build !unix

package bench

import (
	"errors"
	"fmt"
	"time"
)

// ownCPU is not known here.
func ownCPU() (time.Duration, error) {
	return 0, fmt.Errorf("bench: own CPU time: %w", errors.ErrUnsupported)
}
