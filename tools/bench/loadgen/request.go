package loadgen

import (
	"bytes"
	"strconv"
)

// KeyMark in a request is replaced by a number of twelve digits, so that it does not
// change the length. ValueMark is replaced by one of the plan's values.
const (
	KeyMark   = "{key of 12}"
	ValueMark = "{value}"
)

// template is a request that is cut at its marks.
type template struct {
	pieces [][]byte // one more than keys
	keys   []bool   // whether the mark after the piece is KeyMark
}

// cut finds the marks of a request.
func cut(request []byte) template {
	var t template
	for {
		key, value := bytes.Index(request, []byte(KeyMark)), bytes.Index(request, []byte(ValueMark))
		if key < 0 && value < 0 {
			t.pieces = append(t.pieces, request)
			return t
		}
		at, isKey, length := value, false, len(ValueMark)
		if value < 0 || key >= 0 && key < value {
			at, isKey, length = key, true, len(KeyMark)
		}
		t.pieces, t.keys = append(t.pieces, request[:at]), append(t.keys, isKey)
		request = request[at+length:]
	}
}

// keyDigits is the length of a number in place of KeyMark.
const keyDigits = 12

// append appends the request with these values in place of its marks.
func (t template) append(out []byte, key int, value string) []byte {
	for i, piece := range t.pieces {
		out = append(out, piece...)
		switch {
		case i >= len(t.keys):
		case t.keys[i]:
			var digits [20]byte
			number := strconv.AppendInt(digits[:0], int64(key), 10)
			for range keyDigits - len(number) {
				out = append(out, '0')
			}
			out = append(out, number...)
		default:
			out = append(out, value...)
		}
	}
	return out
}

// request returns the n-th request, which is sent on c, in the load's buffer.
func (l *load) request(c *connection, n int) []byte {
	key, value := l.FirstKey+n, ""
	if l.Keys > 0 {
		key = l.FirstKey + n%l.Keys
	}
	if len(l.Values) > 0 {
		value = l.Values[n]
	}
	l.out = c.request.append(l.out[:0], key, value)
	return l.out
}
