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
	to    io.Writer
	ready chan struct{} // holds one element while there is something to do
	done  chan struct{} // closed when the goroutine has ended

	mu      sync.Mutex
	queue   []byte
	lines   int // in queue
	dropped int // since the last report
	total   int // dropped in all
	closed  bool
	report  func(dropped int) []byte // what to write once lines were dropped; nil: nothing
}

func newLineBuffer(to io.Writer) *lineBuffer {
	b := &lineBuffer{to: to, ready: make(chan struct{}, 1), done: make(chan struct{})}
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
	b.wake()
	return len(p), nil
}

// drop counts lines that nobody will read. The caller holds mu.
func (b *lineBuffer) drop(lines int) {
	b.dropped += lines
	b.total += lines
}

func (b *lineBuffer) wake() {
	select {
	case b.ready <- struct{}{}:
	default: // it will look anyway
	}
}

// run writes what is queued until the buffer is closed and empty.
func (b *lineBuffer) run() {
	defer close(b.done)
	var batch []byte
	for range b.ready {
		for {
			b.mu.Lock()
			batch, b.queue = b.queue, batch[:0]
			lines, closed := b.lines, b.closed
			b.lines = 0
			b.mu.Unlock()
			if len(batch) == 0 {
				if closed {
					return
				}
				break
			}
			b.write(batch, lines)
		}
	}
}

// write writes a batch. Once the reader has caught up after lines were dropped,
// it reports how many.
func (b *lineBuffer) write(batch []byte, lines int) {
	_, err := b.to.Write(batch)
	b.mu.Lock()
	if err != nil {
		b.drop(lines)
	}
	dropped, report := b.dropped, b.report
	if err != nil || dropped == 0 || report == nil || len(b.queue) > 0 {
		b.mu.Unlock()
		return
	}
	b.dropped = 0
	b.mu.Unlock()
	if _, err := b.to.Write(report(dropped)); err != nil {
		b.mu.Lock()
		b.dropped += dropped // for the next report
		b.mu.Unlock()
	}
}

// droppedLines is how many lines were dropped in all.
func (b *lineBuffer) droppedLines() float64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return float64(b.total)
}

// setReport sets what is written once lines were dropped.
func (b *lineBuffer) setReport(report func(dropped int) []byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.report = report
}

// close takes no more lines and waits until the queue is written, or until
// limit is closed.
func (b *lineBuffer) close(limit <-chan struct{}) {
	b.mu.Lock()
	b.closed = true
	b.mu.Unlock()
	b.wake()
	select {
	case <-b.done:
	case <-limit: // the reader has stalled, and the process ends without it
	}
}
