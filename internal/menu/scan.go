package menu

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"
)

// valueEnd gives the offset behind the value that starts at i.
func valueEnd(body []byte, i int) int {
	if i >= len(body) {
		return len(body)
	}
	switch body[i] {
	case '"':
		return stringEnd(body, i)
	case '{', '[':
		depth := 0
		for ; i < len(body); i++ {
			switch body[i] {
			case '"':
				i = stringEnd(body, i) - 1
			case '{', '[':
				depth++
			case '}', ']':
				depth--
				if depth == 0 {
					return i + 1
				}
			}
		}
		return len(body)
	default:
		for ; i < len(body); i++ {
			switch body[i] {
			case ',', '}', ']', ' ', '\t', '\n', '\r':
				return i
			}
		}
		return i
	}
}

// stringEnd gives the offset behind the string whose opening quote is at i.
func stringEnd(body []byte, i int) int {
	i++
	for i < len(body) {
		q := bytes.IndexByte(body[i:], '"')
		if q < 0 {
			return len(body)
		}
		end := i + q
		slashes := 0
		for end-slashes > i && body[end-slashes-1] == '\\' {
			slashes++
		}
		i = end + 1
		if slashes%2 == 0 {
			return i
		}
	}
	return len(body)
}

// unquote gives the text of a JSON string literal. Bytes that are no UTF-8
// become U+FFFD, so that what is sent on stays valid JSON.
func unquote(literal []byte) string {
	if len(literal) < 2 {
		return ""
	}
	inner := literal[1 : len(literal)-1]
	if bytes.IndexByte(inner, '\\') < 0 && utf8.Valid(inner) {
		return string(inner)
	}
	var s string
	if err := json.Unmarshal(literal, &s); err != nil {
		return string(bytes.ToValidUTF8(inner, []byte("\ufffd")))
	}
	return s
}
