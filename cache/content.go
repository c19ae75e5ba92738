package cache

import (
	"context"
	"encoding/json"
	"fmt"

	"larder.local/internal/menu"
)

// Content loads a content from Redis, decodes it and compiles it: O(its size). The caller should cache
// the result by hash. Errors: ErrNoCatalogue if the content is not stored, ErrCorrupt if the stored one
// is unreadable or has another hash, redisdb.ErrUnavailable.
//
// It is compiled with other settings than the stored ones (policy S9), unless as is nil.
func (s *Store) Content(ctx context.Context, hash string, as *menu.Settings) (*menu.Content, error) {
	raw, settings, err := s.loadContent(ctx, hash)
	if err != nil {
		return nil, err
	}
	view, err := menu.DecodeContent(raw)
	if err != nil {
		return nil, fmt.Errorf("cache: content %s: %w: %w", hash, ErrCorrupt, err)
	}
	if as != nil {
		settings = *as
	}
	return menu.CompileContent(view, settings), nil
}

// loadContent returns the stored view and settings of a content. Errors are those of Content.
func (s *Store) loadContent(ctx context.Context, hash string) (raw []byte, settings menu.Settings, err error) {
	stored, err := s.redis.Client().HMGet(ctx, s.keys.ContentBody(hash), "view", "settings").Result()
	if IsForeign(err) {
		return nil, settings, fmt.Errorf("cache: content %s: %w: %w", hash, ErrCorrupt, err)
	}
	if err != nil {
		return nil, settings, unavailable("load content "+hash, err)
	}
	view, there := stored[0].(string)
	if !there {
		return nil, settings, fmt.Errorf("cache: content %s: %w", hash, ErrNoCatalogue)
	}
	text, _ := stored[1].(string)
	if err := json.Unmarshal([]byte(text), &settings); err != nil {
		return nil, settings, fmt.Errorf("cache: content %s: its settings: %w: %w", hash, ErrCorrupt, err)
	}
	if raw, err = s.packer.unpack([]byte(view)); err != nil {
		return nil, settings, fmt.Errorf("cache: content %s: %w", hash, err)
	}
	if got := menu.ContentHash(raw, settings); got != hash {
		return nil, settings, fmt.Errorf("cache: content %s: its hash is %s: %w", hash, got, ErrCorrupt)
	}
	return raw, settings, nil
}

// Restore writes the content of version v again after Redis lost it, for example because its key was deleted or
// overwritten. c is compiled from published. Errors: ErrStale if published is not the content of v, redisdb.ErrUnavailable.
func (s *Store) Restore(ctx context.Context, v Version, c *menu.Catalogue, published menu.Published) error {
	if hash := menu.ContentHash(published.Content, c.Settings()); hash != v.Content {
		return fmt.Errorf("cache: restore content %s of %s@%d: the given one has hash %s: %w", v.Content, v.Restaurant, v.Version, hash, ErrStale)
	}
	p := Publication{Restaurant: v.Restaurant, Catalogue: c, Published: published}
	err := s.redis.Client().Unlink(ctx, s.keys.ContentBody(v.Content)).Err() // storeContent does not write an existing one
	if err == nil {
		_, err = s.storeContent(ctx, p, v.Content, "")
	}
	return unavailable("restore content "+v.Content, err)
}

// storeContent stores the content and adds the restaurant to its users, before any version refers to it.
// It returns the prefix of the documented hashes: the content's if several restaurants use it, else own.
func (s *Store) storeContent(ctx context.Context, p Publication, hash, own string) (index string, err error) {
	client := s.redis.Client()
	now := s.clock().UnixMilli()
	state, err := confirmScript.Run(ctx, client, []string{s.keys.ContentBody(hash)}, now).Int64Slice()
	if err != nil {
		return "", err
	}
	exists, indexed := state[0] == 1, state[1] == 1
	if !exists {
		settings, err := json.Marshal(p.Catalogue.Settings())
		if err != nil {
			return "", err
		}
		// Add the hash to Contents first; addUser adds it again. So Contents has every
		// stored content, even after a crash or a concurrent sweep.
		if err := client.SAdd(ctx, s.keys.Contents(), hash).Err(); err != nil {
			return "", err
		}
		view := s.packer.pack(p.Published.Content)
		if err := client.HSet(ctx, s.keys.ContentBody(hash), "view", view, "settings", settings, "named", now).Err(); err != nil {
			return "", err
		}
	}
	users, err := s.addUser(ctx, hash, p.Restaurant)
	if err != nil {
		return "", err
	}
	if users < 2 {
		return own, nil
	}
	shared := s.keys.Content(hash)
	if indexed {
		return shared, nil
	}
	return shared, s.indexContent(ctx, hash, p.Catalogue)
}

// addUser adds the restaurant to the content's users and returns their number.
func (s *Store) addUser(ctx context.Context, hash string, restaurant menu.RestaurantID) (int64, error) {
	pipe := s.redis.Client().Pipeline()
	pipe.SAdd(ctx, s.keys.Contents(), hash)
	pipe.SAdd(ctx, s.keys.ContentUsers(hash), string(restaurant))
	count := pipe.SCard(ctx, s.keys.ContentUsers(hash))
	_, err := pipe.Exec(ctx)
	return count.Val(), err
}

// indexContent writes the documented hashes of a content that restaurants share. Concurrent writers
// write the same values, and no version refers to the hashes before they are complete.
func (s *Store) indexContent(ctx context.Context, hash string, c *menu.Catalogue) error {
	shared := s.keys.Content(hash)
	b := newBatch(ctx, s.redis.Client())
	for _, documented := range documentedHashes(s.keys, shared, c, true) {
		b.add("hset", documented.key, documented.fields, 2, 0)
	}
	if err := b.flush(); err != nil {
		return err
	}
	return s.redis.Client().HSet(ctx, s.keys.ContentBody(hash), "indexed", 1).Err()
}
