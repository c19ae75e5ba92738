package sandbox

import "sync"

// pulse tells everyone who waits that something changed. Nobody is waited for,
// and without anybody who waits a beat costs a lock.
type pulse struct {
	mu   sync.Mutex
	next chan struct{} // closed by the next beat; nil while nobody waits
}

// wait gives a channel that the next beat closes.
func (p *pulse) wait() <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.next == nil {
		p.next = make(chan struct{})
	}
	return p.next
}

func (p *pulse) beat() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.next != nil {
		close(p.next)
		p.next = nil
	}
}
