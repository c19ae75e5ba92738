package journal

import (
	"github.com/redis/go-redis/v9"
	"github.com/sirupsen/logrus"

	"larder/cache"
	"larder/ordering"
)

// NewOver returns a journal for any client, for tests that need no server.
func NewOver(client redis.UniversalClient, prefix string, cfg ordering.Config, log logrus.FieldLogger) *Journal {
	return newJournal(&reader{
		keys:  cache.NewKeys(prefix),
		read:  client,
		write: client,
		log:   log,
	}, false, cfg)
}

// Decode decodes an order from its fields.
func Decode(connection, ref string, fields map[string]string, answers map[int]string) (ordering.Record, error) {
	o, err := decode(location{connection, ref}, fields, answers)
	if err != nil {
		return ordering.Record{}, err
	}
	return o.Record, nil
}

// DurabilityError checks the fields of INFO.
func (j *Journal) DurabilityError(facts map[string]string) error { return j.durabilityError(facts, 0) }
