package encoded

import (
	"slices"

	"larder.local/internal/menu"
)

// Encoding is a content encoding.
type Encoding uint8

// The supported content encodings.
const (
	Identity Encoding = iota
	Gzip
	Brotli
	Zstd
)

const encodings = int(Zstd) + 1

// String returns the encoding's name in Content-Encoding and Accept-Encoding.
func (e Encoding) String() string {
	return [encodings]string{"identity", "gzip", "br", "zstd"}[e]
}

// Encodings is the set of encodings to which a client gives the same, highest weight.
type Encodings uint8

// Accept returns the set of the given encodings. An empty set means that the client accepts no encoding.
func Accept(all ...Encoding) Encodings {
	var set Encodings
	for _, e := range all {
		set |= 1 << e
	}
	return set
}

// Has reports whether e is in the set.
func (s Encodings) Has(e Encoding) bool { return s&(1<<e) != 0 }

// The order in which larder chooses among encodings of equal weight. For a menu, the encoding with the
// smallest body is first. For a dish, all bodies have almost the same size. So the encoding that most
// clients accept is first, and most of them share one cached body.
var (
	menuOrder = [...]Encoding{Brotli, Zstd, Gzip, Identity} //nolint:gochecknoglobals // constant
	dishOrder = [...]Encoding{Gzip, Zstd, Brotli, Identity} //nolint:gochecknoglobals // constant
)

// First returns the encoding in the set that larder uses for a body: WholeMenu, PublishedMenu or the
// index of a dish. For an empty set it returns Identity.
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
