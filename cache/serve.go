package cache

import "larder/internal/menu"

// key names a body of the snapshot: WholeMenu, PublishedMenu or a dish.
func (s *Snapshot) key(what menu.Index, enc Encoding) bodyKey {
	key := bodyKey{
		restaurant: s.Restaurant, content: s.Content, version: s.Version.Version,
		synced: s.SyncedAt.UnixMilli(), product: what, enc: enc,
	}
	if what == PublishedMenu {
		key.content = s.Published
	}
	return key
}

// Ready gives the body that memory holds of WholeMenu, PublishedMenu or the
// dish of that index, in the encoding of the set that larder prefers; it makes
// none, asks nobody and allocates nothing. Where it is not the densest of the
// set, that one is wished for, and made while Run runs.
func (r *Replica) Ready(snap *Snapshot, what menu.Index, accepted Encodings) (*Representation, bool) {
	if what == ChangesOnly {
		return nil, false
	}
	for _, enc := range order(what) {
		if !accepted.Has(enc) {
			continue
		}
		if ready, ok := r.bodies.get(snap.key(what, enc)); ok {
			ready.use()
			r.wish(snap, what, ready, accepted.First(what))
			return ready, true
		}
	}
	return nil, false
}

// Menu gives the ready body of GET …/menu. It is built by the first who asks,
// quickly, made denser soon after while Run runs, and kept within the
// Replica's memory until the next version; a later read costs one look-up.
// Whoever holds a snapshot that is no longer current gets that version's body,
// which is then not kept.
func (r *Replica) Menu(snap *Snapshot, enc Encoding) (*Representation, error) {
	return read(r.menu(snap, enc))
}

func (r *Replica) menu(snap *Snapshot, enc Encoding) (*Representation, error) {
	return r.representation(snap, WholeMenu, enc, func() []byte {
		return menuBody(snap.Version, snap.Catalogue)
	})
}

// read notes that a body is given to a reader.
func read(ready *Representation, err error) (*Representation, error) {
	if err != nil {
		return nil, err
	}
	ready.use()
	return ready, nil
}

// Product gives the ready body of GET …/products/{id} as Menu does. p must be
// an index of the snapshot's catalogue.
func (r *Replica) Product(snap *Snapshot, p menu.Index, enc Encoding) (*Representation, error) {
	return r.representation(snap, p, enc, func() []byte {
		return snap.Catalogue.AppendProduct(nil, p, snap.Version.Version)
	})
}

func (r *Replica) representation(snap *Snapshot, what menu.Index, enc Encoding, body func() []byte) (*Representation, error) {
	key := snap.key(what, enc)
	ready, ok := r.bodies.get(key)
	if !ok {
		var err error
		ready, err = r.bodies.build(key, r.shelfOf(snap), func() (*Representation, error) {
			defer r.readers.enter()()
			ready, err := r.recoded(key)
			if ready == nil && err == nil {
				ready, err = r.store.packer.represent(snap.Version.Version, body(), enc)
			}
			return ready, err
		})
		if err != nil {
			return nil, err
		}
	}
	r.wish(snap, what, ready, enc)
	return ready, nil
}

// recoded makes a body from the same in another encoding; nil where memory
// holds none.
func (r *Replica) recoded(key bodyKey) (*Representation, error) {
	held := r.held(key)
	if held == nil || held.Encoding == key.enc {
		return held, nil
	}
	return r.store.packer.recode(held, key.enc, quick)
}

// shelfOf gives the shelf of the snapshot's version while it is current.
func (r *Replica) shelfOf(snap *Snapshot) *shelf {
	now := r.seated(snap.Restaurant)
	if now == nil || now.snapshot.Catalogue != snap.Catalogue {
		return nil
	}
	return now.shelf
}
