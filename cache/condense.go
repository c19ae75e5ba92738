package cache

import (
	"bytes"
	"context"
)

// Pack makes menu.Packer of the packer: what a content tells of its dishes is
// kept packed (docs/decisions/0043-what-a-cached-menu-keeps.md).
func (p *packer) Pack(plain []byte) []byte {
	return bytes.Clone(p.pack(plain)) // no spare capacity is kept
}

// Unpack gives what Pack was given.
func (p *packer) Unpack(packed []byte) ([]byte, error) { return p.unpack(packed) }

// condenseAlways condenses the contents that came into memory, one at a time:
// behind those who publish or load them, so that they do not wait for it.
func (r *Replica) condenseAlways(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-r.contents.fresh.wake:
		}
		for _, hash := range r.contents.fresh.take(1) {
			r.readers.giveWay(ctx)
			r.condense(hash)
		}
	}
}

// condense condenses one content, unless it has been let go of since.
func (r *Replica) condense(hash string) {
	if content := r.contents.held(hash); content != nil {
		content.Condense(r.store.packer)
	}
}
