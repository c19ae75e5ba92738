package main

import (
	"io"
	"sync"
)

// maxHeld bounds what a heldLog keeps; the oldest goes first.
const maxHeld = 64 << 10

// heldLog keeps log lines that are worth reading only when something fails.
type heldLog struct {
	mu   sync.Mutex
	text []byte
}

func (h *heldLog) Write(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.text = append(h.text, p...)
	if over := len(h.text) - maxHeld; over > 0 {
		h.text = append(h.text[:0], h.text[over:]...)
	}
	return len(p), nil
}

// tell writes what was kept, once.
func (h *heldLog) tell(out io.Writer) {
	h.mu.Lock()
	defer h.mu.Unlock()
	_, _ = out.Write(h.text) // standard error: there is no other place to say it
	h.text = nil
}
