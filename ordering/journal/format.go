package journal

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/redis/go-redis/v9"

	"larder.local/ordering"
)

// checkFormat returns an error if this version of larder cannot read the records of a connection (policy O20). A script
// that writes checks it again.
func (s *store) checkFormat(ctx context.Context, connection string) error {
	_, other, err := s.readable(ctx, []string{connection})
	return cmp.Or(err, other.ErrorOrNil())
}

// readable returns the connections whose records this version can read, and those whose records it cannot.
func (s *store) readable(ctx context.Context, connections []string) (can []string, other *ordering.FormatError, err error) {
	pipe := s.read.Pipeline()
	for _, connection := range connections { // a pipeline cannot fall back from EVALSHA to EVAL
		pipe.Eval(ctx, formatSource, []string{s.keys.JournalState(connection), s.keys.Orders(connection)})
	}
	replies, _ := pipe.Exec(ctx) // each reply has its own error
	other = &ordering.FormatError{}
	for i, connection := range connections {
		err := replies[i].Err()
		found, isOther := errors.AsType[*ordering.FormatError](unreadable(location{connection: connection}, err))
		switch {
		case errors.Is(err, redis.Nil):
			can = append(can, connection)
		case isOther:
			other.Unreadable, other.Err = append(other.Unreadable, found.Unreadable...), err
		default:
			return nil, nil, err
		}
	}
	return can, other, nil
}

// Former returns the connections with records that are not configured any more (policy O20), of all connections
// that larder has ever had.
func (j *Journal) Former(ctx context.Context, configured []string) (former []string, err error) {
	all, err := j.store.ever(ctx, nil)
	for _, connection := range all {
		if err != nil || slices.Contains(configured, connection) {
			continue
		}
		var exists int64
		if exists, err = j.store.read.Exists(ctx, j.store.keys.Orders(connection)).Result(); exists > 0 {
			former = append(former, connection)
		}
	}
	return former, failed("connections", "", err)
}

// unreadable adds to the error of something that another version of larder has written what cannot be read.
func unreadable(at location, err error) error {
	other := errors.Is(err, errCorrupt) || redis.HasErrorPrefix(err, "WRONGTYPE") || redis.HasErrorPrefix(err, "FORMAT") // of format.lua
	if !other || is[*ordering.FormatError](err) {
		return err
	}
	found := &ordering.FormatError{Err: err}
	switch {
	case at.ref != "":
		found.Unreadable = []ordering.Unreadable{{Connection: at.connection, Ref: &at.ref}}
	case at.connection != "":
		_, instead, _ := strings.Cut(err.Error(), "FORMAT ")
		found.Unreadable = []ordering.Unreadable{{Connection: at.connection, Found: instead}}
	}
	return found
}
