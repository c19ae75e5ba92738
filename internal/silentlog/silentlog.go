// Package silentlog has a logger that writes nothing, for constructors whose caller passes none. It never buffers.
package silentlog

import (
	"io"

	"github.com/sirupsen/logrus"
)

// New returns a logger that writes nothing.
func New() logrus.FieldLogger {
	log := logrus.New()
	log.SetOutput(io.Discard)
	log.SetLevel(logrus.PanicLevel)
	return log
}
