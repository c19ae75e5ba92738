package ordering

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"

	"larder/internal/upstream"
)

// requestKey is what a request asks for, as the journal knows it: it contains
// neither the key nor the body (policy O7).
type requestKey struct {
	// key is the hash of the key in its scope, "" for none.
	key string
	// derived: the key was made from what is asked for.
	derived bool
	// fingerprint is the hash of what is asked for.
	fingerprint string
}

// scope is whose key it is and what it is for.
type scope struct {
	operation          Operation
	connection, client string
	// key is the client's own, "" for none.
	key string
	// of is the order's orderID, or the restaurant that a new one is for.
	of string
}

// hashRequest hashes what is asked for: body is canonical. A change without a key gets
// one made of what it is (policy O9); a new order without a key has none.
func (o *Orders) hashRequest(ctx context.Context, s scope, body []byte) (requestKey, error) {
	secret, err := o.deps.Journal.Secret(ctx)
	if err != nil {
		return requestKey{}, err
	}
	a := requestKey{fingerprint: hashed(secret, string(s.operation), s.of, string(body))}
	switch {
	case s.key != "":
		a.key = hashedKey(secret, s.client, s.connection, s.key)
	case s.operation != upstream.OpCreate:
		a.key, a.derived = hashed(secret, "derived", s.client, s.connection, a.fingerprint), true
	}
	return a, nil
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

// replay returns what became of the call that has the key; false when none has.
func (o *Orders) replay(ctx context.Context, connection string, a requestKey) (Result, bool, error) {
	if a.key == "" {
		return Result{}, false, nil
	}
	record, call, err := o.deps.Journal.Lookup(ctx, connection, a.key)
	if errors.Is(err, ErrKeyFree) {
		return Result{}, false, nil
	}
	if err != nil {
		return Result{}, false, err
	}
	result, err := replayed(record, call, a.fingerprint)
	return result, true, err
}

// replayed returns the call that has the key to the request that asks for the
// same: another request is a *KeyReusedError, a call in flight *InFlightError.
func replayed(record Record, number int, fingerprint string) (Result, error) {
	call, ok := record.Call(number)
	switch {
	case !ok:
		return Result{}, &JournalError{Err: errors.New("the record lacks the call that has the key")}
	case call.Fingerprint != fingerprint:
		return Result{}, &KeyReusedError{Ref: record.Ref}
	case call.Outcome == OutcomeOpen:
		return Result{}, &InFlightError{Ref: record.Ref}
	default:
		return Result{Record: record, Call: call, Replayed: true}, nil
	}
}
