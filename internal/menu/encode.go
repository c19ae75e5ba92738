package menu

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"

	"larder/internal/jsontext"
)

// formatNumber changes when the form of a Published's Content or what is
// compiled from it changes, so that no replica reads a content it would
// understand otherwise (policy S3).
const formatNumber = 4

// ContentHash names a content: the hex SHA-256 over the format number, the
// settings that compile and lint read, and the bytes of a Published's Content.
func ContentHash(content []byte, s Settings) string {
	h := sha256.New()
	head := strconv.AppendInt(nil, formatNumber, 10)
	for _, on := range []bool{s.MaxZeroNone, s.StopListAnyValue, s.RefuseMissingExternalID} {
		head = strconv.AppendBool(append(head, ' '), on)
	}
	head = strconv.AppendInt(append(head, ' '), int64(s.depth()), 10)
	h.Write(append(head, '\n'))
	h.Write(content)
	return hex.EncodeToString(h.Sum(nil))
}

func appendOptional(dst []byte, s string) []byte {
	if s == "" {
		return append(dst, "null"...)
	}
	return jsontext.AppendString(dst, s)
}
