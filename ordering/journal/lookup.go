package journal

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"

	"larder.local/ordering"
)

// Lookup returns the call that has the key, with its order (policy O7).
func (j *Journal) Lookup(ctx context.Context, connection, key string) (ordering.Record, int, error) {
	_, taken, err := j.store.keyOwner(ctx, connection, key, "")
	if taken == nil {
		return ordering.Record{}, 0, failed("lookup", connection, cmp.Or(err, ordering.ErrKeyFree))
	}
	return taken.Record, taken.Call, nil
}

// keyOwner returns the value of a key in Redis, and the call that has the key, with its order, or nil. The value is empty
// if the key does not exist; it may have outlived its record. known is the value if a commit has just read it, or empty.
func (s *store) keyOwner(ctx context.Context, connection, key, known string) (string, *ordering.KeyTakenError, error) {
	if key == "" {
		return "", nil, nil
	}
	value, err := known, error(nil)
	if value == "" {
		value, err = s.sharedText(ctx, connection, s.keys.OrderKey(connection, key))
	}
	if err != nil || value == "" {
		return "", nil, err
	}
	ref, number, _ := strings.Cut(value, " ")
	n, err := strconv.Atoi(number)
	if err != nil {
		return "", nil, fmt.Errorf("the owner of a key: %w", errCorrupt)
	}
	owner, err := s.readOrder(ctx, s.write, location{connection, ref})
	if errors.Is(err, ordering.ErrNoOrder) {
		return value, nil, nil
	}
	if err != nil {
		return "", nil, err
	}
	if call, _ := owner.Call(n); call.Recheck == ordering.RecheckRunning { // it may have ended by time (policy O18)
		if owner, err = s.withoutOverdueRecheck(ctx, owner, n); err != nil {
			return "", nil, err
		}
	}
	if call, ok := owner.Call(n); !ok || call.Key != key || releasesKey(call, call.Outcome) {
		return value, nil, nil // freed since the key was read
	}
	return value, &ordering.KeyTakenError{Record: owner.Record, Call: n}, nil
}

// sharedText is readText in a pipeline with other reads of the connection, because every change of an order reads a key. It also
// reads the format of the records (policy O20): an older or a newer larder can take over at any time.
// In a cluster, each read is sent alone: the cluster client can then follow a slot that moves to another node.
func (s *store) sharedText(ctx context.Context, connection, key string) (string, error) {
	if _, oneServer := s.write.(*redis.Client); !oneServer {
		text, err := s.readText(ctx, key)
		return text, cmp.Or(err, s.checkFormat(ctx, connection))
	}
	// GETRANGE returns an empty text for a missing key.
	e := &evaluation{key: key, command: []any{"getrange", key, 0, -1}, state: s.keys.JournalState(connection)}
	if err := s.share(ctx, &s.queuesOf(connection).lookups, e); err != nil {
		return "", err
	}
	if format, _ := e.format.Slice(); !slices.Equal(format, []any{ordering.RecordFormat}) {
		if err := s.checkFormat(ctx, connection); err != nil { // it may be a new journal
			return "", err
		}
	}
	return e.reply.Text()
}
