package cache

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"sync/atomic"

	"larder/internal/menu"
)

// Representation is one ready-made body, shared by everyone who asks for it:
// the caller must not change it. A body that becomes denser while it is served
// is another Representation; this one stays as it is.
type Representation struct {
	Body []byte
	// ETag is weak: W/"<version>-<8 hex of the identity body's hash>", the
	// same for every encoding.
	ETag     string
	Encoding Encoding

	sum    [sha256.Size]byte // of the identity body
	dense  bool              // it will not become smaller
	wished atomic.Uint32     // a bit for each encoding that was wished for in its place
	used   atomic.Bool       // somebody read it, or what it took the place of
}

// use notes that the body is read. It writes once: readers share the memory.
func (r *Representation) use() {
	if !r.used.Load() {
		r.used.Store(true)
	}
}

// etag names a body that was made from one version.
func etag(version int64, sum [sha256.Size]byte) string {
	tag := strconv.AppendInt([]byte(`W/"`), version, 10)
	tag = append(tag, '-')
	tag = hex.AppendEncode(tag, sum[:4])
	return string(append(tag, '"'))
}

// menuBody is the body of GET …/menu of a version.
func menuBody(v Version, catalogue *menu.Catalogue) []byte {
	// About what a menu takes, so that it grows at most once.
	size := 1024 + 900*catalogue.ProductCount() + 450*catalogue.IngredientCount()
	return catalogue.AppendMenu(make([]byte, 0, size), menu.Head{
		Restaurant: v.Restaurant, RestaurantName: v.Name, Version: v.Version, SyncedAt: v.SyncedAt,
	})
}

// represent makes the representation of an identity body in one encoding.
func (p *packer) represent(version int64, identity []byte, enc Encoding) (*Representation, error) {
	plain := &Representation{Body: identity, sum: sha256.Sum256(identity), dense: true}
	plain.ETag = etag(version, plain.sum)
	return p.recode(plain, enc, quick)
}

// recode makes a body in another encoding, or in its own with another effort.
func (p *packer) recode(from *Representation, enc Encoding, e effort) (*Representation, error) {
	body := from.Body
	if from.Encoding != Identity {
		var err error
		if body, err = p.decode(from.Encoding, body); err != nil {
			return nil, err
		}
	}
	if len(body) <= smallBody {
		e = dense
	}
	if enc != Identity {
		var err error
		if body, err = p.encode(enc, e, body); err != nil {
			return nil, err
		}
	}
	return &Representation{
		Body: body, ETag: from.ETag, Encoding: enc, sum: from.sum, dense: e == dense || enc == Identity || enc == Zstd,
	}, nil
}
