package cache

import "larder/internal/menu"

func (s *Snapshot) key(product menu.Index, enc Encoding) bodyKey {
	return bodyKey{
		restaurant: s.Restaurant, content: s.Content, version: s.Version.Version,
		synced: s.SyncedAt.UnixMilli(), product: product, enc: enc,
	}
}

// Menu gives the ready body of GET …/menu. It is built by the first who asks
// and kept within the Replica's memory until the next version; a later read
// costs one look-up. Whoever holds a snapshot that is no longer current gets
// that version's body, which is then not kept.
func (r *Replica) Menu(snap *Snapshot, enc Encoding) (*Representation, error) {
	return r.representation(snap, wholeMenu, enc, func() []byte {
		return menuBody(snap.Version, snap.Catalogue)
	})
}

// Product gives the ready body of GET …/products/{id} as Menu does. p must be
// an index of the snapshot's catalogue.
func (r *Replica) Product(snap *Snapshot, p menu.Index, enc Encoding) (*Representation, error) {
	return r.representation(snap, p, enc, func() []byte {
		return snap.Catalogue.AppendProduct(nil, p, snap.Version.Version)
	})
}

func (r *Replica) representation(snap *Snapshot, p menu.Index, enc Encoding, body func() []byte) (*Representation, error) {
	key := snap.key(p, enc)
	if ready, ok := r.bodies.get(key); ok {
		return ready, nil
	}
	return r.bodies.build(key, r.shelfOf(snap), func() (*Representation, error) {
		defer r.readers.enter()()
		return r.store.packer.represent(snap.Version.Version, body(), enc)
	})
}

// shelfOf gives the shelf of the snapshot's version while it is current.
func (r *Replica) shelfOf(snap *Snapshot) *shelf {
	now := r.seated(snap.Restaurant)
	if now == nil || now.snapshot.Catalogue != snap.Catalogue {
		return nil
	}
	return now.shelf
}
