package cache

import (
	"context"
	"errors"
	"time"

	"github.com/redis/go-redis/v9"

	"larder/internal/menu"
)

// wholeEvery is how often a version's documented hashes are written whole
// although those of the version before could be copied: what somebody else has
// damaged in them is not handed on for longer.
const wholeEvery = 16

// errNothingToCopy says that Redis lacks a hash of the version before, or the
// command that copies it.
var errNothingToCopy = errors.New("no hash of the version before could be copied")

// hashes are the documented hashes of one version, by what they hold.
type hashes struct{ products, externalIDs, schemes revision }

// copied tells whether one of them is made of the version before.
func (h hashes) copied() bool {
	return h.products.of != "" || h.externalIDs.of != "" || h.schemes.of != ""
}

// revision is how one documented hash comes to be: of nothing, or of the same
// hash of the version before.
type revision struct {
	of     string   // the key of the version before; empty where all is written
	write  pairs    // fields that are new or other
	remove []string // fields that are gone
	fields int      // how many it has in the end
}

// wholeHashes are those of a catalogue with everything in them.
func wholeHashes(c *menu.Catalogue) hashes {
	whole := func(fields pairs) revision { return revision{write: fields, fields: len(fields) / 2} } //nolint:mnd // field and value
	return hashes{whole(productIndex(c, false)), whole(externalIDIndex(c)), whole(schemeIndex(c))}
}

// heirs are the hashes of after as copies of those of before, which stand under
// the names that begin with of; each that differs in more than half is whole.
func (s *Store) heirs(of string, before, after *menu.Catalogue) hashes {
	all := hashes{reviseProducts(before, after), reviseExternalIDs(before, after), reviseSchemes(before, after)}
	for _, one := range []struct {
		*revision
		key   string
		whole func() pairs
	}{
		{&all.products, s.keys.Products(of), func() pairs { return productIndex(after, false) }},
		{&all.externalIDs, s.keys.ExternalIDs(of), func() pairs { return externalIDIndex(after) }},
		{&all.schemes, s.keys.Schemes(of), func() pairs { return schemeIndex(after) }},
	} {
		if len(one.write)/2+len(one.remove) > one.fields/2 {
			*one.revision = revision{write: one.whole(), fields: one.fields}
		} else {
			one.of = one.key
		}
	}
	return all
}

// hashesOf gives the documented hashes of a version that has its own. They are
// copies where the publisher knows the version before, and that has its own too.
func (s *Store) hashesOf(p Publication, before standing, version int64) hashes {
	of := s.keys.Version(p.Restaurant, before.version)
	if p.Before == nil || before.form != catalogueForm || before.index != of || version%wholeEvery == 0 {
		return wholeHashes(p.Catalogue)
	}
	return s.heirs(of, p.Before, p.Catalogue)
}

// revise writes a hash under a staged name. Of a copy it gives the command whose
// answer tells whether there was something to copy; nil of a whole one.
func (b *batch) revise(ctx context.Context, staged string, r revision, life time.Duration) (*redis.Cmd, error) {
	if r.fields == 0 {
		return nil, nil
	}
	var copied *redis.Cmd
	if r.of != "" {
		// Not Copy of the client: that names a database, which need not be this one.
		copied = b.pipe.Do(ctx, "COPY", r.of, staged)
		b.expire(ctx, staged, life)
		if len(r.remove) > 0 {
			b.pipe.HDel(ctx, staged, r.remove...)
		}
	}
	return copied, b.hash(ctx, staged, r.write, life)
}
