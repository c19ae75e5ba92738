package cache

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"

	"larder/internal/menu"
)

// Encoding is how a body is encoded for transfer.
type Encoding uint8

// The encodings that bodies are kept in.
const (
	Identity Encoding = iota
	Gzip
)

// encodings is how many there are.
const encodings = int(Gzip) + 1

// String is the encoding's name in Content-Encoding and Accept-Encoding.
func (e Encoding) String() string {
	if e == Gzip {
		return "gzip"
	}
	return "identity"
}

// Representation is one ready-made body, shared by everyone who asks for it:
// the caller must not change it.
type Representation struct {
	Body []byte
	// ETag is weak: W/"<version>-<8 hex of the identity body's hash>", the
	// same for every encoding.
	ETag     string
	Encoding Encoding
}

// etag names a body that was made from one version.
func etag(version int64, identity []byte) string {
	hash := sha256.Sum256(identity)
	tag := strconv.AppendInt([]byte(`W/"`), version, 10)
	tag = append(tag, '-')
	tag = hex.AppendEncode(tag, hash[:4])
	return string(append(tag, '"'))
}

// menuBody is the body of GET …/menu of a version.
func menuBody(v Version, catalogue *menu.Catalogue) []byte {
	// About what a menu takes, so that it grows at most once.
	size := 1024 + 900*len(catalogue.Products()) + 450*len(catalogue.Ingredients())
	return catalogue.AppendMenu(make([]byte, 0, size), menu.Head{
		Restaurant: v.Restaurant, RestaurantName: v.Name, Version: v.Version, SyncedAt: v.SyncedAt,
	})
}

// represent makes the representation of an identity body in one encoding.
func (p *packer) represent(version int64, identity []byte, enc Encoding) (*Representation, error) {
	r := &Representation{Body: identity, ETag: etag(version, identity), Encoding: enc}
	if enc == Gzip {
		packed, err := p.gzip(identity)
		if err != nil {
			return nil, err
		}
		r.Body = packed
	}
	return r, nil
}
