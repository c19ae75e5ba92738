package ordering

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"strconv"
	"strings"

	"larder/internal/jsontext"
	"larder/internal/upstream"
	"larder/ordering/validate"
)

// hashRequest sets the key and the fingerprint of the call to hashes of what is asked
// for: they contain neither the client's key nor the body (policy O7). A change
// without a key gets one made of what it is (policy O9); a new order without a key
// has none.
func (o *Orders) hashRequest(ctx context.Context, r *request, spec *CallSpec) error {
	secret, err := o.deps.Journal.Secret(ctx)
	if err != nil {
		return err
	}
	spec.Fingerprint = hashed(secret, string(r.operation), r.of, string(r.body))
	switch {
	case r.key != "":
		spec.Key = hashedKey(secret, r.client, r.connection, r.key)
	case r.operation != upstream.OpCreate:
		spec.Key, spec.Derived = hashed(secret, "derived", r.client, r.connection, spec.Fingerprint), true
	}
	return nil
}

// hashedKey is the hash of a client's key: nobody else's, and no other
// connection's, is the same.
func hashedKey(secret []byte, client, connection, key string) string {
	return hashed(secret, "key", client, connection, key)
}

// hashed returns the keyed hash of texts, each kept apart from the next.
func hashed(secret []byte, parts ...string) string {
	mac := hmac.New(sha256.New, secret)
	var length [8]byte
	for _, part := range parts {
		binary.BigEndian.PutUint64(length[:], uint64(len(part)))
		_, _ = mac.Write(length[:]) // never fails (hash.Hash)
		_, _ = mac.Write([]byte(part))
	}
	return hex.EncodeToString(mac.Sum(nil))
}

// canonical returns the one form that all bodies that say the same have in
// common (policy O7): members sorted, no white space, strings with the same
// escapes, numbers by value. Two spellings of one field in an object stay in
// their order, for the last one counts. The error is a *jsontext.SyntaxError.
func canonical(body []byte) ([]byte, error) {
	c := jsontext.Canonical{Reader: jsontext.NewReader(jsontext.String(body), validate.MaxBodyDepth), AppendNumber: appendCanonicalNumber}
	text := c.AppendNext(make([]byte, 0, len(body)))
	if err := c.Err(); err != nil {
		return nil, err
	}
	return text, nil
}

// maxExponentDigits bounds the exponents that are computed: a number with a
// longer one stays as it stands.
const maxExponentDigits = 9

// appendCanonicalNumber appends a JSON number by its value: digits without
// zeros at either end, and the exponent where it is not 0. O(len), whatever
// the exponent.
func appendCanonicalNumber(dst []byte, number string) []byte {
	mantissa, power := number, ""
	if e := strings.IndexAny(number, "eE"); e >= 0 {
		mantissa, power = number[:e], number[e+1:]
	}
	unsigned := strings.TrimPrefix(mantissa, "-")
	whole, fraction, _ := strings.Cut(unsigned, ".")
	digits := whole + fraction
	significant := strings.TrimRight(digits, "0")
	exponent := len(digits) - len(significant) - len(fraction)
	significant = strings.TrimLeft(significant, "0")
	if significant == "" {
		return append(dst, '0')
	}
	if len(strings.TrimLeft(power, "+-0")) > maxExponentDigits {
		return append(dst, number...)
	}
	n, _ := strconv.Atoi(power) // 0 where there is none
	exponent += n
	if len(unsigned) < len(mantissa) {
		dst = append(dst, '-')
	}
	dst = append(dst, significant...)
	if exponent != 0 {
		dst = strconv.AppendInt(append(dst, 'e'), int64(exponent), 10)
	}
	return dst
}
