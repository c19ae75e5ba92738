package express

import "encoding/binary"

// The places that a byte of a request may stand in.
const (
	inName = 1 << iota
	inPath
	inQuery
	inHost
)

// allowed tells for each byte the places it may stand in. It is narrower than
// the standards: the rest is for net/http to judge.
var allowed = places() //nolint:gochecknoglobals // a constant that Go cannot write as one

func places() (table [256]byte) {
	allow := func(bytes string, where byte) {
		for i := range len(bytes) {
			table[bytes[i]] |= where
		}
	}
	allow("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_", inName|inPath|inQuery|inHost)
	allow(".:", inPath|inQuery|inHost)
	allow("~", inPath|inQuery)
	allow("/", inPath)
	allow("=", inQuery)
	allow("[]", inHost)
	return table
}

// consists tells whether every byte may stand in the place.
func consists(text []byte, where byte) bool {
	for _, b := range text {
		if allowed[b]&where == 0 {
			return false
		}
	}
	return true
}

// plain tells whether no byte is a control character; a tab is one here. Eight
// bytes are looked at at once.
func plain(line []byte) bool {
	const (
		one  = 0x0101010101010101
		high = one << 7
	)
	for ; len(line) >= 8; line = line[8:] {
		word := binary.LittleEndian.Uint64(line)
		deleted := word ^ one*0x7f
		if ((word-one*' ')&^word|(deleted-one)&^deleted)&high != 0 {
			return false
		}
	}
	for _, b := range line {
		if b < ' ' || b == 0x7f {
			return false
		}
	}
	return true
}

// isName compares with a name in lower case, which consists of letters and "-",
// blind to case.
func isName(text []byte, name string) bool {
	if len(text) != len(name) {
		return false
	}
	for i, b := range text {
		if 'A' <= b && b <= 'Z' {
			b |= ' '
		}
		if b != name[i] {
			return false
		}
	}
	return true
}
