//go:build !unix

package measure

import (
	"errors"
	"fmt"
	"time"
)

// ownCPU is not supported here.
func ownCPU() (time.Duration, error) {
	return 0, fmt.Errorf("measure: own CPU time: %w", errors.ErrUnsupported)
}
