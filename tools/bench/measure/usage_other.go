//go:build !unix

package measure

import (
	"errors"
	"fmt"
	"time"
)

// ownCPU is not known here.
func ownCPU() (time.Duration, error) {
	return 0, fmt.Errorf("measure: own CPU time: %w", errors.ErrUnsupported)
}
