package journal

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	"larder/internal/upstream"
	"larder/ordering"
)

// A record is stored as one text:
//
//	f2 REVISION COMMITTED VALUES
//
// REVISION has 26 characters and is different after each change; commit.lua compares it. COMMITTED is
// the time of the last commit, 15 digits, which commit.lua inserts. VALUES are the values of the record
// in the order of codec.record, each followed by a space. A text is LENGTH:BYTES, a list begins with
// its length, and a time is in milliseconds since the epoch, 0 if it is zero, or = for COMMITTED.
const (
	recordFormat   = "f2 "
	revisionLength = 26
	timeDigits     = 15
	recordHead     = len(recordFormat) + revisionLength + 1
	zeros          = "000000000000000"
)

const (
	// latest is the last millisecond of the year 9999, the last one that JSON times support.
	latest = 253402300799999
	// exponents limits the exponents of decimals: formatting a larger one could use all memory.
	exponents = 64
	// maxDecimal limits the length of a decimal: parsing a longer one could take seconds.
	maxDecimal = 256
)

// encode returns the stored form of a record: the parts before and after the time of the commit. encode rounds
// the times of r as decode would return them, and fails for a record that decode would reject.
func encode(unnamed, revision string, r *ordering.Record) (head, tail string, err error) {
	c := codec{unnamed: unnamed}
	c.record(r)
	return recordFormat + revision + " ", " " + c.out.String(), c.err(r.Ref) // the time goes between them
}

// decode decodes an order. The error is errCorrupt with the name of the value, never with the value
// itself. Each answer has only its status and code.
func decode(at location, text string) (*order, error) {
	o := &order{place: at}
	c := codec{reading: true}
	if len(text) <= recordHead+timeDigits || !strings.HasPrefix(text, recordFormat) ||
		text[recordHead-1] != ' ' || text[recordHead+timeDigits] != ' ' {
		c.corrupt("format")
		return nil, c.err(at.ref)
	}
	o.revision = text[len(recordFormat) : recordHead-1]
	committed, err := strconv.ParseInt(text[recordHead:recordHead+timeDigits], 10, 64)
	if err != nil || committed < 1 || committed > latest {
		c.corrupt("committed")
	}
	c.committed = moment(committed)
	c.rest = text[recordHead+timeDigits+1:]
	c.record(&o.Record)
	c.end("end")
	if o.Ref != at.ref {
		c.corrupt("ref")
	}
	if o.Connection != at.connection {
		c.corrupt("connection")
	}
	return o, c.err(at.ref)
}

// encodeAnswer returns the stored form of a whole answer.
func encodeAnswer(a *ordering.Answer) string {
	c := codec{}
	c.answer(a)
	return recordFormat + c.out.String()
}

// readAnswer sets the whole answer of a call. It keeps the status and code of the record if text
// does not fit: then it was written after the record was read.
func (o *order) readAnswer(call *ordering.Call, text string) error {
	c := codec{reading: true, callNumber: call.Number}
	rest, ok := strings.CutPrefix(text, recordFormat)
	if !ok {
		c.corrupt("answer")
	}
	c.rest = rest
	whole := &ordering.Answer{}
	c.answer(whole)
	c.end("answer")
	if call.Answer != nil && whole.Status == call.Answer.Status && whole.Code == call.Answer.Code {
		call.Answer = whole
	}
	return c.err(o.Ref)
}

// codec writes values to out, or reads them from rest. One function lists the values for both, so
// that they cannot differ. It keeps the first error.
type codec struct {
	reading    bool
	out        strings.Builder
	rest       string
	committed  time.Time // the time of the commit, when reading
	callNumber int       // of the current call, for errors
	unnamed    string    // the source that records do not name, so that an older version can read them
	fault      string
}

func (c *codec) record(r *ordering.Record) {
	c.text("state", (*string)(&r.State))
	c.text("orderID", &r.OrderID)
	c.bool("paid", &r.Paid)
	c.text("ref", &r.Ref)
	c.text("connection", &r.Connection)
	c.text("client", &r.Client)
	c.text("restaurant", (*string)(&r.Restaurant))
	c.bool("adopted", &r.Adopted)
	c.bool("total", &r.Total.Valid)
	if r.Total.Valid {
		c.decimal("total", &r.Total.Decimal)
	}
	integer(c, "menuVersion", &r.MenuVersion)
	c.time("expected", &r.ExpectedAt, true)
	c.time("created", &r.CreatedAt, false)
	c.time("updated", &r.UpdatedAt, false)
	list(c, "calls", &r.Calls, (*codec).call)
	if c.callNumber = 0; !slices.Contains(ordering.States(), r.State) {
		c.corrupt("state")
	}
	if c.reading && c.rest != "" || r.Source != c.unnamed { // records of older versions end before it
		c.text("source", &r.Source)
	}
}

func (c *codec) call(call *ordering.Call) {
	if integer(c, "number", &call.Number); call.Number <= c.callNumber {
		c.corrupt("number")
	}
	c.callNumber = call.Number
	c.text("operation", (*string)(&call.Operation))
	c.outcome("outcome", &call.Outcome, false)
	c.text("client", &call.Client)
	c.text("requestID", &call.RequestID)
	c.text("fingerprint", &call.Fingerprint)
	c.text("key", &call.Key)
	c.text("specID", &call.SpecID)
	c.keyState(call)
	c.time("started", &call.StartedAt, false)
	c.time("ended", &call.EndedAt, true)
	list(c, "attempts", &call.Attempts, (*codec).attempt)
	list(c, "payments", &call.Payments, (*codec).payment)
	if optional(c, "answer", &call.Answer) {
		integer(c, "status", &call.Answer.Status)
		c.text("code", &call.Answer.Code)
	}
	if optional(c, "resolved", &call.Resolved) {
		c.resolved(call.Resolved)
	}
	c.outcome("contradicted", &call.Contradicted, true)
	switch call.Operation {
	case upstream.OpCreate, upstream.OpPay, upstream.OpComplete, upstream.OpReject:
	default:
		c.corrupt("operation")
	}
}

// keyState is one number: Recheck × 2, and 1 more for a derived key.
func (c *codec) keyState(call *ordering.Call) {
	n := int64(2 * call.Recheck)
	if call.Derived {
		n++
	}
	if integer(c, "derived", &n); n < 0 || n/2 > int64(ordering.RecheckExplained) {
		c.corrupt("derived")
	}
	if c.reading {
		call.Derived, call.Recheck = n%2 == 1, ordering.Recheck(n/2)
	}
}

func (c *codec) attempt(t *ordering.Attempt) {
	at := int64(0)
	if !t.At.IsZero() {
		at = t.At.UnixNano()
	}
	if integer(c, "attempts", &at); c.reading && at != 0 {
		t.At = time.Unix(0, at).UTC()
	}
	integer(c, "attempts", &t.Duration)
	integer(c, "attempts", &t.Status)
	c.outcome("attempts", &t.Outcome, false)
	c.text("attempts", &t.Code)
}

func (c *codec) payment(p *ordering.Payment) {
	c.text("payments", &p.Code)
	c.decimal("payments", &p.Amount)
	c.text("payments", &p.PaidAt)
}

func (c *codec) resolved(r *ordering.ResolvedBy) {
	c.text("resolved", &r.By)
	c.time("resolved", &r.At, true)
	c.text("resolved", (*string)(&r.Resolution))
	c.text("resolved", &r.Note)
	if !slices.Contains([]ordering.Resolution{ordering.ResolvedDone, ordering.ResolvedNotDone, ordering.ResolvedRetry}, r.Resolution) {
		c.corrupt("resolved")
	}
}

func (c *codec) answer(a *ordering.Answer) {
	integer(c, "answer", &a.Status)
	c.text("answer", &a.ContentType)
	c.text("answer", &a.Code)
	c.text("answer", &a.Msg)
	c.text("answer", &a.RequestID)
	integer(c, "answer", &a.RetryAfter)
	c.bool("answer", &a.Cut)
	body := ""
	if !c.reading {
		body = string(a.Body)
	}
	if c.text("answer", &body); c.reading && body != "" {
		a.Body = []byte(body)
	}
}

func (c *codec) corrupt(name string) {
	if c.callNumber > 0 {
		name = "call " + strconv.Itoa(c.callNumber) + " " + name
	}
	c.fault = cmp.Or(c.fault, name)
}

func (c *codec) err(ref string) error {
	if c.fault == "" {
		return nil
	}
	return fmt.Errorf("order %q: %w: value %q", ref, errCorrupt, c.fault)
}

// end checks that everything was read.
func (c *codec) end(name string) {
	if c.rest != "" && c.fault == "" {
		c.corrupt(name)
	}
}

// word reads up to a separator.
func (c *codec) word(name string, separator byte) string {
	word, rest, ok := strings.Cut(c.rest, string(separator))
	if !ok {
		c.corrupt(name)
	}
	c.rest = rest
	return word
}

func integer[T ~int | ~int64](c *codec, name string, v *T) {
	if !c.reading {
		c.out.WriteString(number(int64(*v)) + " ")
		return
	}
	n, err := strconv.ParseInt(c.word(name, ' '), 10, 64)
	if err != nil {
		c.corrupt(name)
	}
	*v = T(n)
}

func (c *codec) bool(name string, v *bool) {
	n := int64(0)
	if *v {
		n = 1
	}
	if integer(c, name, &n); n != 0 && n != 1 {
		c.corrupt(name)
	}
	if c.reading {
		*v = n == 1
	}
}

func (c *codec) text(name string, v *string) {
	if !c.reading {
		c.out.WriteString(number(int64(len(*v))) + ":" + *v + " ")
		return
	}
	n, err := strconv.Atoi(c.word(name, ':'))
	if err != nil || n < 0 || n >= len(c.rest) || c.rest[n] != ' ' {
		c.corrupt(name)
		c.rest = ""
		return
	}
	*v, c.rest = c.rest[:n], c.rest[n+1:]
}

// time reads and writes a time; the zero time only if it may be missing.
func (c *codec) time(name string, v *time.Time, missing bool) {
	if c.reading && strings.HasPrefix(c.rest, "= ") {
		*v, c.rest = c.committed, c.rest[2:]
		return
	}
	if !c.reading && v.Equal(atCommit()) {
		c.out.WriteString("= ")
		return
	}
	ms := epoch(*v)
	if integer(c, name, &ms); ms < 0 || ms > latest || ms == 0 && !missing {
		c.corrupt(name)
	}
	if rounded := moment(ms); *v != rounded { // other goroutines may read a rounded record, so it is not written
		*v = rounded
	}
}

func (c *codec) decimal(name string, v *decimal.Decimal) {
	text := ""
	if !c.reading && !hasExponent(*v) {
		c.corrupt(name)
		return
	}
	if !c.reading {
		text = v.StringFixed(max(-v.Exponent(), 0)) // all digits, including trailing zeros
	}
	if c.text(name, &text); len(text) > maxDecimal {
		c.corrupt(name)
		return
	}
	if !c.reading {
		return
	}
	d, err := decimal.NewFromString(text)
	if err != nil || !hasExponent(d) {
		c.corrupt(name)
		return
	}
	*v = d
}

// hasExponent reports whether the exponent of a decimal is within the limits.
func hasExponent(d decimal.Decimal) bool {
	return d.Exponent() <= exponents && d.Exponent() >= -exponents
}

func (c *codec) outcome(name string, v *ordering.Outcome, missing bool) {
	c.text(name, (*string)(v))
	if *v != ordering.OutcomeOpen && *v != ordering.OutcomeUnknown && !v.Certain() && (*v != "" || !missing) {
		c.corrupt(name)
	}
}

// list reads and writes the length of a list and its items.
func list[T any](c *codec, name string, items *[]T, item func(*codec, *T)) {
	n := len(*items)
	if integer(c, name, &n); n < 0 || c.reading && n > len(c.rest) { // an item has at least one byte
		c.corrupt(name)
	}
	for i := range n {
		if c.fault != "" {
			return
		}
		if c.reading {
			*items = append(*items, *new(T)) // one by one: a damaged length must not take memory
		}
		item(c, &(*items)[i])
	}
}

// optional reads and writes whether a value exists, and reports it.
func optional[T any](c *codec, name string, v **T) bool {
	exists := *v != nil
	if c.bool(name, &exists); exists && c.reading {
		*v = new(T)
	}
	return exists
}
