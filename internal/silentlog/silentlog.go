// Package silentlog has the logger of callers who give none.
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
