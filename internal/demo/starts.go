package demo

import (
	"context"
	"net/http"

	"github.com/sirupsen/logrus"
	"github.com/spf13/cobra"

	"larder/configs"
)

// Starts has the functions of the program that start what the demo and the sandbox
// run: their log, the daemon, and the handling of SIGHUP.
type Starts struct {
	// Logger makes the log of a process that serves.
	Logger func(cmd *cobra.Command) (*logrus.Logger, error)
	// Daemon runs larder until ctx ends, with photos below demoPhotos. It calls
	// listening with its address once its listener is open.
	Daemon func(ctx context.Context, cfg *configs.Config, log logrus.FieldLogger, photos http.Handler, listening func(addr string)) error
	// OnSIGHUP calls reload for each SIGHUP until stop is called.
	OnSIGHUP func(reload func()) (stop func())
}
