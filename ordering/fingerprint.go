package ordering

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"

	"larder/internal/upstream"
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
