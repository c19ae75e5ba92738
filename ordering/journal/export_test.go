package journal

import (
	"context"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/sirupsen/logrus"

	"larder.local/ordering"
)

// NewOver returns a journal for any client, for tests that need no server.
func NewOver(client redis.UniversalClient, prefix string, cfg ordering.Config, log logrus.FieldLogger) *Journal {
	return newJournal(prefix, client, client, false, cfg, log)
}

// AgeSettings makes the cached settings of a connection older, and returns the time at which they were read.
func (j *Journal) AgeSettings(connection string, by time.Duration) time.Time {
	var at time.Time
	j.durability.note(connection, func(known *observed) {
		known.readAt = known.readAt.Add(-by)
		at = known.readAt
	})
	return at
}

// Decode decodes an order from its stored form, with the whole answer of call 1.
func Decode(connection, ref, text, answer string) (ordering.Record, error) {
	o, err := decode(location{connection, ref}, text)
	if err == nil && len(o.Calls) > 0 && o.Calls[0].Answer != nil {
		err = o.readAnswer(&o.Calls[0], answer)
	}
	if err != nil {
		return ordering.Record{}, err
	}
	return o.Record, nil
}

// Recode returns a record as it is after it was written and read, with the whole answer of call 1.
func Recode(r ordering.Record) (ordering.Record, error) {
	text, err := encode(strings.Repeat("r", revisionLength), &r)
	if err != nil {
		return ordering.Record{}, err
	}
	answer := ""
	if len(r.Calls) > 0 && r.Calls[0].Answer != nil {
		if answer, err = encodeAnswer(r.Calls[0].Answer); err != nil {
			return ordering.Record{}, err
		}
	}
	return Decode(r.Connection, r.Ref, strings.Replace(text, commitTime, "001900000000000", 1), answer)
}

// Check runs a transaction that only checks the value of an idempotency key.
func (j *Journal) Check(ctx context.Context, connection, key, value string) error {
	c := j.store.blank(connection, modeProbe)
	c.check(c.idempotencyKey(key), value)
	_, err := j.store.apply(ctx, c)
	return err
}

// Queued returns the number of commits and lookups that wait for the next pipeline of a connection.
func (j *Journal) Queued(connection string) int {
	queued, s := 0, j.store.queuesOf(connection)
	for _, b := range []*batcher{&s.unreplicated, &s.withReplicas, &s.lookups} {
		b.mu.Lock()
		queued += len(b.queue)
		b.mu.Unlock()
	}
	return queued
}

// DurabilityError checks the fields of INFO.
func (j *Journal) DurabilityError(fields map[string]string) error {
	return j.durability.durabilityError(facts{info: fields}, "", nil)
}

// The errors that only tests compare with.
var (
	ErrAborted  = errAborted
	ErrCorrupt  = errCorrupt
	ErrMoved    = errMoved
	ErrRefTaken = errRefTaken
	ErrReplicas = errReplicas
)
