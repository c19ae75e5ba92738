package menu

import (
	"math/bits"
	"unicode/utf8"
)

// Cursor reads a JSON text that nobody has checked, value by value, once only
// and without allocating: it finds the values and verifies the text in one
// pass. Where the text stops being JSON, or nests too deep, it stops: there are
// no more members, elements and values, and Err says why. What was read before
// means nothing then.
//
//	for name, ok := c.Member(); ok; name, ok = c.Member() { … one value … }
//
// Texts that it gives are parts of the text it reads.
type Cursor struct {
	text   string
	at     int // behind white space, where a value or its end is
	room   int // levels of brackets that may still open
	depth  int
	named  int  // where the name begins that was read last
	opened bool // the innermost bracket has just opened
	broken bool
	untidy bool // what was read since this was set false may not stand in its canonical form
}

// NewCursor begins a text, which may start with a byte order mark (policy
// W11); it may nest depth levels.
func NewCursor(text string, depth int) Cursor {
	const bom = "\xef\xbb\xbf"
	if len(text) >= len(bom) && text[:len(bom)] == bom {
		text = text[len(bom):]
	}
	c := Cursor{text: text, room: depth, depth: depth}
	c.at = c.space(0)
	return c
}

// End tells whether the text was read to its end and nothing is wrong with it.
func (c *Cursor) End() bool {
	return !c.broken && c.room == c.depth && c.space(c.at) == len(c.text)
}

// Err says what is wrong with the text: a *SyntaxError, with the place in body,
// which is the text that NewCursor was given; nil when End is true.
func (c *Cursor) Err(body []byte) error {
	if c.End() {
		return nil
	}
	if _, err := Check(body, c.depth); err != nil {
		return err
	}
	return syntaxError(body, 0, c.at, "unexpected text") // cannot be: Check and the Cursor agree
}

// fail stops the reading.
func (c *Cursor) fail() {
	c.broken = true
	c.at = len(c.text)
}

func (c *Cursor) space(i int) int {
	start := i
	for i < len(c.text) && c.text[i] <= ' ' && (c.text[i] == ' ' || c.text[i] == '\n' || c.text[i] == '\t' || c.text[i] == '\r') {
		i++
	}
	if i > start {
		c.untidy = true
	}
	return i
}

// Kind tells the next value's kind and consumes nothing. What is no JSON at all
// may be taken for a number until it is read.
func (c *Cursor) Kind() Kind {
	if c.at >= len(c.text) {
		return KindNone
	}
	switch c.text[c.at] {
	case '{':
		return KindObject
	case '[':
		return KindArray
	case '"':
		return KindString
	case 't', 'f':
		return KindBool
	case 'n':
		return KindNull
	default:
		return KindNumber
	}
}

// Open goes into the object or array that is next; its members or elements must
// then be read to their end.
func (c *Cursor) Open() {
	if c.at >= len(c.text) || c.room == 0 {
		c.fail()
		return
	}
	c.room--
	c.at++
	c.opened = true
}

// Member goes to the next member of the object that is open and gives its name;
// its value must be consumed. False at the object's end, which it leaves.
func (c *Cursor) Member() (name string, ok bool) {
	i := c.at + 1
	if c.opened || i >= len(c.text) || c.text[c.at] != ',' || c.text[i] != '"' { // not as programs write it
		var more bool
		if i, more = c.follow('}'); !more {
			return "", false
		}
		if c.text[i] != '"' {
			c.fail()
			return "", false
		}
	}
	c.named = i
	name, i = c.quoted(i)
	if i < len(c.text) && c.text[i] != ':' {
		i = c.space(i)
	}
	if i >= len(c.text) || c.text[i] != ':' {
		c.fail()
		return "", false
	}
	c.at = i + 1
	if c.at < len(c.text) && c.text[c.at] <= ' ' {
		c.at = c.space(c.at)
	}
	return name, true
}

// follows goes to the next member if it stands as programs write it, with this
// name, which was read in the same text: in quotes, with a colon behind it. It
// consumes nothing else.
func (c *Cursor) follows(head string) bool {
	i := c.at
	if !c.opened {
		if i >= len(c.text) || c.text[i] != ',' {
			return false
		}
		i++
	}
	if len(c.text)-i < len(head) || c.text[i:i+len(head)] != head {
		return false
	}
	c.named, c.opened = i, false
	c.at = i + len(head)
	if c.at < len(c.text) && c.text[c.at] <= ' ' {
		c.at = c.space(c.at)
	}
	return true
}

// Element is Member for an array.
func (c *Cursor) Element() bool {
	i, more := c.follow(']')
	if more {
		c.at = i
	}
	return more
}

// follow passes the comma before a member or element and gives its place; false
// at the closing bracket, which it passes.
func (c *Cursor) follow(closing byte) (at int, more bool) {
	i := c.space(c.at)
	if i >= len(c.text) {
		c.fail()
		return i, false
	}
	switch b := c.text[i]; {
	case b == closing:
		c.opened = false
		c.room++
		c.at = i + 1
		return i, false
	case c.opened:
		c.opened = false
		return i, true
	case b != ',':
		c.fail()
		return i, false
	}
	if i = c.space(i + 1); i >= len(c.text) {
		c.fail()
		return i, false
	}
	return i, true
}

// Skip consumes the next value.
func (c *Cursor) Skip() { c.Raw() }

// Raw consumes the next value and gives it as it stands.
func (c *Cursor) Raw() string {
	end := pastValue(c.text, c.at, c.room)
	if end < 0 {
		c.fail()
		return ""
	}
	if b := c.text[c.at]; b == '"' || b == '{' || b == '[' {
		c.untidy = true // nobody has looked
	}
	raw := c.text[c.at:end]
	c.at = end
	return raw
}

// Text consumes the next value; false when it is no string.
func (c *Cursor) Text() (text string, ok bool) {
	if c.at >= len(c.text) || c.text[c.at] != '"' {
		c.Skip()
		return "", false
	}
	text, c.at = c.quoted(c.at)
	return text, true
}

// ID consumes an identifier: a string, a number whose digits are kept as they
// stand, or null for none (policy W4). Another kind gives false.
func (c *Cursor) ID() (string, bool) {
	switch c.Kind() {
	case KindString:
		return c.Text()
	case KindNumber:
		return c.Raw(), true
	case KindNull, KindNone:
		c.Skip()
		return "", true
	default:
		c.Skip()
		return "", false
	}
}

// Number consumes a number or numeric string (policy W5).
func (c *Cursor) Number() (Number, NumberState) {
	switch c.Kind() {
	case KindNumber:
		if n, ok := c.plainNumber(); ok {
			return n, NumberOK
		}
		return ParseNumber(c.Raw())
	case KindString:
		text, _ := c.Text()
		return ParseNumber(text)
	case KindNull, KindNone:
		c.Skip()
		return Number{}, NumberNull
	default:
		c.Skip()
		return Number{}, NumberInvalid
	}
}

// plainNumber consumes what nearly every number is: at most 18 digits without
// exponent, and behind them what may follow a number. It consumes nothing else.
func (c *Cursor) plainNumber() (n Number, ok bool) {
	i := c.at
	negative := c.text[i] == '-'
	if negative {
		i++
	}
	start, stop := i, -1
	for ; i < len(c.text); i++ {
		switch b := c.text[i]; {
		case b >= '0' && b <= '9':
			n.units = n.units*10 + int64(b-'0')
			continue
		case b == '.' && stop < 0:
			stop = i
			continue
		case b != ',' && b != '}' && b != ']' && b > ' ':
			return Number{}, false
		}
		break
	}
	digits, whole := i-start, i-start
	if stop >= 0 {
		digits, whole = digits-1, stop-start
		n.places = int32(i - stop - 1) //nolint:gosec // at most plainDigits, or it is not taken
		if n.places == 0 {
			return Number{}, false
		}
	}
	if whole == 0 || digits > plainDigits || (whole > 1 && c.text[start] == '0') {
		return Number{}, false
	}
	if negative {
		n.units = -n.units
	}
	c.at = i
	return n, true
}

// Bool consumes true or false; false as second result for any other kind.
func (c *Cursor) Bool() (value, ok bool) {
	if c.Kind() != KindBool {
		c.Skip()
		return false, false
	}
	return c.Raw() == "true", true
}

// quoted gives the text of the string that begins at i, and the offset behind
// it. Bytes that are no UTF-8 become U+FFFD.
func (c *Cursor) quoted(i int) (text string, end int) {
	start := i + 1
	if i = start; i+8 <= len(c.text) {
		if marks := ascii(eightBytes(c.text, i)); marks != 0 { // nearly every name ends here
			i += bits.TrailingZeros64(marks) / 8
		} else {
			i = pastASCII(c.text, i+8)
		}
	} else {
		i = pastASCII(c.text, i)
	}
	if i < len(c.text) && c.text[i] == '"' {
		return c.text[start:i], i + 1
	}
	if end = pastPlain(c.text, i); end < len(c.text) && c.text[end] == '"' && utf8.ValidString(c.text[i:end]) {
		return c.text[start:end], end + 1
	}
	c.untidy = true
	end = pastString(c.text, start-1)
	if end < 0 {
		c.fail()
		return "", len(c.text)
	}
	inner := c.text[start : end-1]
	for ; i < end-1; i++ {
		if c.text[i] == '\\' {
			return unquote([]byte(c.text[start-1 : end])), end
		}
	}
	if utf8.ValidString(inner) {
		return inner, end
	}
	return unquote([]byte(c.text[start-1 : end])), end
}
