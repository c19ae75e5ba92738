// Package silentlog has the default logger of packages that are used without one.
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
