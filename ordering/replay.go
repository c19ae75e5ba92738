package ordering

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"

	"larder.local/internal/jsontext"
	"larder.local/internal/upstream"
)

// request is what a repeated request has in common with the first one (policy O7).
type request struct {
	key  string // the client's; may be empty
	of   string // the orderID, or the restaurant of a new order
	body []byte // in canonical form
}

// withKey returns the spec with the key and the fingerprint of a request. Both are keyed hashes and contain neither
// the client's key nor the body (policy O7). A new order without a key has none. source is the connection's at that time.
func withKey(ctx context.Context, journal Journal, spec CallSpec, r request, source string) (CallSpec, error) {
	secret, err := journal.Secret(ctx, spec.Connection)
	if err != nil {
		return spec, err
	}
	spec.Fingerprint = hashed(secret, string(spec.Operation), r.of, jsontext.String(r.body))
	switch {
	case r.key != "":
		spec.Key = hashedKey(secret, spec.Client, spec.Connection, r.key)
	case spec.Operation != upstream.OpCreate: // derived from its content (policy O9)
		parts := []string{"derived", spec.Client, spec.Connection, spec.Fingerprint}
		if source != "" { // another service's order may have the same orderID (policy O16)
			parts = append(parts, source)
		}
		spec.Key, spec.Derived = hashed(secret, parts...), true
	}
	return spec, nil
}

// replay returns the result of the first request with the same key, whatever the current menu contains (policy O7). It
// returns ErrKeyFree if no request has used the key.
func replay(ctx context.Context, journal Journal, spec CallSpec) (Result, error) {
	record, number, err := journal.Lookup(ctx, spec.Connection, spec.Key)
	if err != nil {
		return Result{}, err
	}
	return replayed(record, number, spec.Fingerprint)
}

// hashedKey returns the hash of a client's key. It differs between clients and between connections.
func hashedKey(secret []byte, client, connection, key string) string {
	return hashed(secret, "key", client, connection, key)
}

// hashed returns the keyed hash of texts. The length of each text is hashed too, so that moving a boundary changes the hash.
func hashed(secret []byte, parts ...string) string {
	h := hmac.New(sha256.New, secret)
	for _, part := range parts {
		h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(part)))) // never fails (hash.Hash)
		h.Write([]byte(part))
	}
	return hex.EncodeToString(h.Sum(nil))
}

// replayed returns the result of the call that has the key. It returns *KeyReusedError for a
// different request, and *InFlightError while the call is in progress.
func replayed(record Record, number int, fingerprint string) (Result, error) {
	call, ok := record.Call(number)
	switch {
	case !ok:
		return Result{}, &JournalError{Err: errors.New("the record does not contain the call of the key")}
	case call.Fingerprint != fingerprint:
		return Result{}, &KeyReusedError{Ref: record.Ref}
	case call.Outcome == OutcomeOpen, call.Recheck == RecheckRunning:
		return Result{}, &InFlightError{Ref: record.Ref}
	default:
		return Result{Record: record, Call: call, Replayed: true}, nil
	}
}
