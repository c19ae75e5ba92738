package cache

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"

	"larder/internal/menu"
)

// Representation is one encoded body, shared by all readers: they must not
// change it.
type Representation struct {
	Body []byte
	// ETag is weak: W/"<version>-<8 hex of the identity body's hash>", the
	// same for every encoding.
	ETag     string
	Encoding Encoding
}

// represent encodes an identity body of a version.
func (p *packer) represent(version int64, identity []byte, enc Encoding) (*Representation, error) {
	sum := sha256.Sum256(identity)
	tag := strconv.AppendInt([]byte(`W/"`), version, 10)
	tag = append(tag, '-')
	tag = hex.AppendEncode(tag, sum[:4])
	tag = append(tag, '"')
	body, err := p.encode(enc, identity)
	return &Representation{Body: body, ETag: string(tag), Encoding: enc}, err
}

// menuBody is the identity body of GET …/menu of a version.
func menuBody(v Version, catalogue *menu.Catalogue) []byte {
	// About the size of a menu, so that the buffer grows at most once.
	size := 1024 + 900*catalogue.ProductCount() + 450*catalogue.IngredientCount()
	return catalogue.AppendMenu(make([]byte, 0, size), menu.Head{
		Restaurant: v.Restaurant, RestaurantName: v.Name, Version: v.Version, SyncedAt: v.SyncedAt,
	})
}

// bodyKey names a body of the snapshot: WholeMenu, PublishedMenu or a dish.
func (s *Snapshot) bodyKey(what menu.Index, enc Encoding) bodyKey {
	key := bodyKey{
		restaurant: s.Restaurant, content: s.Content, version: s.Version.Version,
		synced: s.SyncedAt.UnixMilli(), product: what, enc: enc,
	}
	if what == PublishedMenu {
		key.content = s.Published
	}
	return key
}

// Ready returns the body of WholeMenu, PublishedMenu or the dish of that index
// if it is in memory. It does not encode, wait or allocate.
func (r *Replica) Ready(snap *Snapshot, what menu.Index, enc Encoding) (*Representation, bool) {
	return r.bodies.get(snap.bodyKey(what, enc))
}

// Menu returns the body of GET …/menu. The first read of a version encodes it,
// once for all concurrent readers; it is kept within the Replica's memory until
// the next version. The body of a snapshot that is no longer current is not kept.
func (r *Replica) Menu(snap *Snapshot, enc Encoding) (*Representation, error) {
	return r.representation(snap, WholeMenu, enc, func() []byte {
		return menuBody(snap.Version, snap.Catalogue)
	})
}

// Product returns the body of GET …/products/{id} as Menu does. p must be an
// index of the snapshot's catalogue.
func (r *Replica) Product(snap *Snapshot, p menu.Index, enc Encoding) (*Representation, error) {
	return r.representation(snap, p, enc, func() []byte {
		return snap.Catalogue.AppendProduct(nil, p, snap.Version.Version)
	})
}

func (r *Replica) representation(snap *Snapshot, what menu.Index, enc Encoding, body func() []byte) (*Representation, error) {
	key := snap.bodyKey(what, enc)
	if ready, ok := r.bodies.get(key); ok {
		return ready, nil
	}
	return r.bodies.build(key, r.versionBodies(snap), func() (*Representation, error) {
		defer r.readers.enter()()
		return r.store.packer.represent(snap.Version.Version, body(), enc)
	})
}

// versionBodies returns the list of the bodies of the snapshot's version, nil
// if the version is not current.
func (r *Replica) versionBodies(snap *Snapshot) *versionBodies {
	now := r.currentEntry(snap.Restaurant)
	if now == nil || now.snapshot.Catalogue != snap.Catalogue {
		return nil
	}
	return now.bodies
}
