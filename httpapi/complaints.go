package httpapi

import (
	"context"
	"log" //nolint:depguard // http.Server.ErrorLog has this type
	"log/slog"
	"strings"

	"github.com/sirupsen/logrus"
)

// complaints gives what net/http itself complains of (a client's broken
// request, an answer that was cut) to the log, at a level that nobody is woken
// by. It is the handler that http.Server.ErrorLog can be made from.
type complaints struct{ to logrus.FieldLogger }

// ErrorLog returns an http.Server's ErrorLog that writes to the program's log
// instead of standard error.
func ErrorLog(to logrus.FieldLogger) *log.Logger {
	return slog.NewLogLogger(complaints{to}, slog.LevelDebug)
}

// Enabled implements slog.Handler.
func (complaints) Enabled(context.Context, slog.Level) bool { return true }

// Handle implements slog.Handler.
func (h complaints) Handle(_ context.Context, record slog.Record) error {
	entry := h.to.WithField("event", "http.server")
	if strings.HasPrefix(record.Message, "http: panic ") {
		entry.Error(record.Message)
	} else {
		entry.Debug(record.Message)
	}
	return nil
}

// WithAttrs implements slog.Handler; net/http gives none.
func (h complaints) WithAttrs([]slog.Attr) slog.Handler { return h }

// WithGroup implements slog.Handler; net/http gives none.
func (h complaints) WithGroup(string) slog.Handler { return h }
