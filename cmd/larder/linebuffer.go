package main

import (
	"bytes"
	"io"
	"sync"
	"time"
)

const (
	// maxBuffered is how many bytes wait for a reader that has stalled.
	maxBuffered = 1 << 20
	// flushLimit is how long the end of the process waits for that reader.
	flushLimit = 2 * time.Second
)

// lineBuffer is what a process that serves writes to in place of its standard
// output or error (policy H11). Write never blocks and never fails: one goroutine
// writes to the reader, and lines beyond maxBuffered are dropped and counted.
type lineBuffer struct {
	to   io.Writer
	done chan struct{} // closed when the goroutine has ended

	mu      sync.Mutex
	changed sync.Cond // queue or closed
	queue   []byte
	lines   int // in queue
	dropped int // since the last report
	total   int // dropped in all
	closed  bool
	report  func(dropped int) []byte // what to write once lines were dropped; nil: nothing
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
		b.drop(lines)
		return len(p), nil
	}
	b.queue = append(b.queue, p...)
	b.lines += lines
	b.changed.Signal()
	return len(p), nil
}

// drop counts lines that nobody will read. The caller holds mu.
func (b *lineBuffer) drop(lines int) {
	b.dropped += lines
	b.total += lines
}

// run writes what is queued until the buffer is closed and empty. Once the reader
// has caught up after lines were dropped, it reports how many.
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
		if !b.write(batch) {
			b.drop(lines)
			continue
		}
		if dropped := b.dropped; dropped > 0 && b.report != nil && len(b.queue) == 0 {
			b.dropped = 0
			if !b.write(b.report(dropped)) {
				b.dropped += dropped // for the next report
			}
		}
	}
}

// write writes without mu, which the caller holds, and reports whether all was
// written.
func (b *lineBuffer) write(p []byte) bool {
	b.mu.Unlock()
	defer b.mu.Lock()
	_, err := b.to.Write(p)
	return err == nil
}

// droppedLines is how many lines were dropped in all.
func (b *lineBuffer) droppedLines() float64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return float64(b.total)
}

// close takes no more lines and waits until the queue is written, or until
// limit is closed.
func (b *lineBuffer) close(limit <-chan struct{}) {
	b.mu.Lock()
	b.closed = true
	b.changed.Signal()
	b.mu.Unlock()
	select {
	case <-b.done:
	case <-limit: // the reader has stalled, and the process ends without it
	}
}
