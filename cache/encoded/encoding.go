package encoded

import (
	"slices"

	"larder/internal/menu"
)

// Encoding is how a body is encoded for transfer.
type Encoding uint8

// The encodings that bodies are kept in.
const (
	Identity Encoding = iota
	Gzip
	Brotli
	Zstd
)

// encodings is how many there are.
const encodings = int(Zstd) + 1

// String is the encoding's name in Content-Encoding and Accept-Encoding.
func (e Encoding) String() string {
	return [encodings]string{"identity", "gzip", "br", "zstd"}[e]
}

// Encodings is a set of encodings: those that a client values most, and equally.
type Encodings uint8

// Accept is the set of the given encodings; without any it is empty: nothing
// that larder makes is acceptable.
func Accept(all ...Encoding) Encodings {
	var set Encodings
	for _, e := range all {
		set |= 1 << e
	}
	return set
}

// Has tells whether e is in the set.
func (s Encodings) Has(e Encoding) bool { return s&(1<<e) != 0 }

// The encodings in the order in which larder prefers them among those that the
// client values equally: for a menu the smallest first, for a dish, where sizes
// hardly differ, the one that most clients accept, so that it is kept once.
var (
	menuOrder = [...]Encoding{Brotli, Zstd, Gzip, Identity} //nolint:gochecknoglobals // constant
	dishOrder = [...]Encoding{Gzip, Zstd, Brotli, Identity} //nolint:gochecknoglobals // constant
)

// First returns the encoding of the set in which larder sends WholeMenu,
// PublishedMenu or the dish of that index. It is Identity for an empty set.
func (s Encodings) First(what menu.Index) Encoding {
	order := &dishOrder
	if what == WholeMenu || what == PublishedMenu {
		order = &menuOrder
	}
	if at := slices.IndexFunc(order[:], s.Has); at >= 0 {
		return order[at]
	}
	return Identity
}
