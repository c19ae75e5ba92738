package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	stdlog "log" //nolint:depguard // only to turn it off
	"os"
	"os/signal"
	"strconv"
	"sync"
	"syscall"
	"time"
	"unicode/utf8"

	"github.com/sirupsen/logrus"
	"github.com/spf13/cobra"

	"larder.local/cmd/larder/cli"
	"larder.local/internal/setting"
)

// logger returns a log that writes to standard error, with the level and format that the flags set.
func logger(cmd *cobra.Command, env *cli.Environment) (*logrus.Logger, error) {
	levelName := cli.StringFlag(cmd, "log-level")
	format := cli.StringFlag(cmd, "log-format")
	level, err := logrus.ParseLevel(levelName)
	if err != nil || level > logrus.DebugLevel || level < logrus.ErrorLevel {
		return nil, cli.NewUsageError("--log-level: " + setting.Unknown("level", levelName, []string{"debug", "info", "warn", "error"}))
	}
	coloured := env.ColoursErrors()
	log := logrus.New()
	log.SetOutput(env.Err.Raw)
	log.SetLevel(level)
	switch {
	case format == "json", format == "auto" && !env.Terminal:
		log.SetFormatter(jsonLines{})
	case format == "text", format == "auto":
		log.SetFormatter(&safeText{logrus.TextFormatter{
			FullTimestamp:   true,
			TimestampFormat: "15:04:05.000",
			ForceColors:     coloured,
			DisableColors:   !coloured,
		}})
	default:
		return nil, cli.NewUsageError("--log-format: use text, json or auto")
	}
	return log, nil
}

// serviceLogger returns the log of a long-running command such as serve. The process continues even
// if the program that reads its standard output or error stalls or ends (policy H11).
func serviceLogger(cmd *cobra.Command, env *cli.Environment) (*logrus.Logger, error) {
	broken := make(chan os.Signal, 1)
	signal.Notify(broken, syscall.SIGPIPE) // writes return an error; signal.Ignore would affect child processes too
	out, errs := newLineBuffer(env.Out.Raw), newLineBuffer(env.Err.Raw)
	env.Out.Raw, env.Err.Raw, env.DroppedLines = out, errs, errs.droppedLines
	env.Flush = func() {
		limit, cancel := context.WithTimeout(context.Background(), flushLimit)
		defer cancel()
		out.close(limit.Done())
		errs.close(limit.Done())
		signal.Stop(broken)
	}
	log, err := logger(cmd, env)
	if err != nil {
		return nil, err
	}
	stdlog.SetOutput(io.Discard) // net/http writes responses without a request to it: names and addresses of guests
	errs.mu.Lock()
	defer errs.mu.Unlock()
	errs.report = func(dropped int) []byte {
		entry := logrus.NewEntry(log).WithFields(logrus.Fields{"event": "log.lines_dropped", "dropped": dropped})
		entry.Time, entry.Level, entry.Message = time.Now(), logrus.WarnLevel, "log lines were dropped: the program that reads them stalled"
		line, _ := log.Formatter.Format(entry) // cannot fail: the fields are a text and a number
		return line
	}
	return log, nil
}

// jsonLines formats entries as logrus.JSONFormatter does, with short values.
type jsonLines struct{}

// Format implements logrus.Formatter.
func (jsonLines) Format(entry *logrus.Entry) ([]byte, error) {
	lines := logrus.JSONFormatter{TimestampFormat: "2006-01-02T15:04:05.000Z07:00", DisableHTMLEscape: true}
	return lines.Format(withValues(entry, shortened(entry.Message), func(value any) any {
		switch v := value.(type) {
		case int, int64, bool:
			return v
		case string:
			return shortened(v)
		case error:
			return shortened(fmt.Sprint(v)) // unlike Error, it returns for a nil pointer too
		}
		text, err := json.Marshal(value)
		switch {
		case err != nil:
			return shortened(err.Error())
		case len(text) > maxLogged:
			return shortened(string(text))
		default:
			return json.RawMessage(text)
		}
	}))
}

// withValues returns an entry with another message and other values of its fields.
func withValues(entry *logrus.Entry, message string, value func(any) any) *logrus.Entry {
	line := *entry
	line.Message = message
	line.Data = make(logrus.Fields, len(entry.Data))
	for name, v := range entry.Data {
		line.Data[name] = value(v)
	}
	return &line
}

// maxLogged is the longest text of a value in a log line: Redis and the services may send more.
const maxLogged = 4 << 10

// shortened returns the start of a long text, and how much is missing.
func shortened(text string) string {
	if len(text) <= maxLogged {
		return text
	}
	end := maxLogged
	for end > maxLogged-utf8.UTFMax && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + "… (" + strconv.Itoa(len(text)-end) + " more bytes)"
}

// safeText escapes control characters in messages, because logrus does not quote them (policy H9).
type safeText struct{ logrus.TextFormatter }

// Format implements logrus.Formatter.
func (f *safeText) Format(entry *logrus.Entry) ([]byte, error) {
	return f.TextFormatter.Format(withValues(entry, cli.Safe(shortened(entry.Message)), func(value any) any {
		if text := fmt.Sprint(value); len(text) > maxLogged {
			return shortened(text)
		}
		return value
	}))
}

const (
	// maxBuffered is the largest number of bytes that wait for a stalled reader.
	maxBuffered = 1 << 20
	// flushLimit is the longest wait for this reader before the process exits.
	flushLimit = 2 * time.Second
)

// lineBuffer replaces standard output or error in a long-running command (policy H11). Write never blocks and
// never fails: one goroutine writes to the reader. Lines beyond maxBuffered are dropped and counted.
type lineBuffer struct {
	to   io.Writer
	done chan struct{} // closed when the goroutine has ended

	mu       sync.Mutex
	changed  sync.Cond // signals a change of queue or closed
	queue    []byte
	lines    int // lines in queue
	dropped  int // all dropped lines
	reported int // dropped lines that are already reported
	closed   bool
	report   func(dropped int) []byte // returns the line that reports dropped lines; nil: no report
}

func newLineBuffer(to io.Writer) *lineBuffer {
	b := &lineBuffer{to: to, done: make(chan struct{})}
	b.changed.L = &b.mu
	go b.run()
	return b
}

// Write implements io.Writer.
func (b *lineBuffer) Write(p []byte) (int, error) {
	lines := max(bytes.Count(p, []byte("\n")), 1)
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed || len(b.queue) > 0 && len(b.queue)+len(p) > maxBuffered {
		b.dropped += lines
		return len(p), nil
	}
	b.queue = append(b.queue, p...)
	b.lines += lines
	b.changed.Signal()
	return len(p), nil
}

// run writes the queue until the buffer is closed and empty, and reports dropped lines.
func (b *lineBuffer) run() {
	defer close(b.done)
	b.mu.Lock()
	defer b.mu.Unlock()
	var batch []byte
	for {
		for len(b.queue) == 0 && !b.closed {
			b.changed.Wait()
		}
		if len(b.queue) == 0 {
			return
		}
		batch, b.queue = b.queue, batch[:0]
		lines := b.lines
		b.lines = 0
		if !b.writeUnlocked(batch) {
			b.dropped += lines
			continue
		}
		missing := b.dropped - b.reported
		if missing > 0 && b.report != nil && len(b.queue) == 0 && b.writeUnlocked(b.report(missing)) {
			b.reported += missing
		}
	}
}

// writeUnlocked unlocks mu, which the caller has locked, while it writes. It reports whether it succeeded.
func (b *lineBuffer) writeUnlocked(p []byte) bool {
	b.mu.Unlock()
	defer b.mu.Lock()
	_, err := b.to.Write(p)
	return err == nil
}

// droppedLines returns the number of lines dropped so far.
func (b *lineBuffer) droppedLines() float64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return float64(b.dropped)
}

// close drops all later lines. It waits until the queue is written or the channel limit is closed.
func (b *lineBuffer) close(limit <-chan struct{}) {
	b.mu.Lock()
	b.closed = true
	b.changed.Signal()
	b.mu.Unlock()
	select {
	case <-b.done:
	case <-limit: // the reader has stalled
	}
}
