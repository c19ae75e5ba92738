package cache

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/redis/go-redis/v9"

	"larder/internal/menu"
)

// Content loads, decodes and compiles a content: O(its size). The caller
// should keep it, one for each hash.
//
// Errors: ErrNoCatalogue when it is not stored, ErrCorrupt when what is stored
// does not have that hash, ErrUnavailable.
func (s *Store) Content(ctx context.Context, hash string) (*menu.Content, error) {
	values, err := s.redis.Client().HMGet(ctx, s.keys.ContentBody(hash), "view", "settings", "parts").Result()
	if err != nil {
		return nil, unavailable("load content "+hash, err)
	}
	packed, stored := readStowed(values[0], values[2])
	if !stored {
		return nil, fmt.Errorf("cache: content %s: %w", hash, ErrNoCatalogue)
	}
	settings, err := readSettings(values[1])
	if err != nil {
		return nil, fmt.Errorf("cache: content %s: %w", hash, err)
	}
	return s.compile(hash, packed, settings)
}

// readStowed reads the fields view and parts; false where there is no view.
func readStowed(view, parts any) (stowed, bool) {
	frames, stored := view.(string)
	known, _ := parts.(string) // none of a larder before
	return stowed{frames: []byte(frames), parts: []byte(known)}, stored
}

// readSettings reads what a content was compiled with. The error is ErrCorrupt.
func readSettings(value any) (settings menu.Settings, err error) {
	raw, _ := value.(string)
	if err := json.Unmarshal([]byte(raw), &settings); err != nil {
		return settings, fmt.Errorf("its settings: %w: %w", ErrCorrupt, err)
	}
	return settings, nil
}

func (s *Store) compile(hash string, packed stowed, settings menu.Settings) (*menu.Content, error) {
	raw, err := s.packer.unstow(packed)
	if err != nil {
		return nil, err
	}
	if got := menu.ContentHash(raw, settings); got != hash {
		return nil, fmt.Errorf("cache: content %s: its hash is %s: %w", hash, got, ErrCorrupt)
	}
	view, err := menu.DecodeContent(raw)
	if err != nil {
		return nil, fmt.Errorf("cache: content %s: %w: %w", hash, ErrCorrupt, err)
	}
	return menu.CompileContent(view, settings), nil
}

// Restore writes the content of a version again that Redis has lost: somebody
// deleted its key. c is what published was compiled to. Nothing happens where
// the content is there. Errors: ErrStale
// when it is another content, ErrUnavailable.
func (s *Store) Restore(ctx context.Context, v Version, c *menu.Catalogue, published menu.Published) error {
	if hash := menu.ContentHash(published.Content, c.Settings()); hash != v.Content {
		return fmt.Errorf("cache: restore content %s of %s@%d: this one is %s: %w", v.Content, v.Restaurant, v.Version, hash, ErrStale)
	}
	p := Publication{Restaurant: v.Restaurant, Catalogue: c, Published: published}
	if _, err := s.storeContent(ctx, p, v.Content, "", ""); err != nil {
		return unavailable("restore content "+v.Content, err)
	}
	return nil
}

// storeContent makes sure that the content and who uses it are stored, before
// any version names it; before is the content that it replaces, if there is one.
// It tells under which name the version's documented hashes stand: its own, or
// the content's where a chain shares it.
func (s *Store) storeContent(ctx context.Context, p Publication, hash, before, own string) (index string, err error) {
	client := s.redis.Client()
	now := s.clock().UnixMilli()
	state, err := s.scripts.touch.Run(ctx, client, []string{s.keys.ContentBody(hash)}, now).Int64Slice()
	if err != nil {
		return "", err
	}
	exists, indexed := state[0] == 1, state[1] == 1
	if !exists {
		settings, err := json.Marshal(p.Catalogue.Settings())
		if err != nil {
			return "", err
		}
		known, err := s.list(ctx, hash, before)
		if err != nil {
			return "", err
		}
		packed := s.packer.stow(p.Published.Content, known)
		err = client.HSet(ctx, s.keys.ContentBody(hash),
			"view", packed.frames, "parts", packed.parts, "settings", settings, "named", now).Err()
		if err != nil {
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

// list lists a content before it is there, and loads the one before as it is
// stored; none where it is not. addUser lists it again: neither a crash in
// between nor a sweep leaves a content that no sweep finds.
func (s *Store) list(ctx context.Context, hash, before string) (known stowed, err error) {
	var values *redis.SliceCmd
	_, err = s.redis.Client().Pipelined(ctx, func(pipe redis.Pipeliner) error {
		pipe.SAdd(ctx, s.keys.Contents(), hash)
		if before != "" {
			values = pipe.HMGet(ctx, s.keys.ContentBody(before), "view", "parts")
		}
		return nil
	})
	if err == nil && values != nil {
		known, _ = readStowed(values.Val()[0], values.Val()[1])
	}
	return known, err
}

// addUser notes that the restaurant uses the content and counts who does.
func (s *Store) addUser(ctx context.Context, hash string, restaurant menu.RestaurantID) (int64, error) {
	var count *redis.IntCmd
	_, err := s.redis.Client().Pipelined(ctx, func(pipe redis.Pipeliner) error {
		pipe.SAdd(ctx, s.keys.Contents(), hash)
		pipe.SAdd(ctx, s.keys.ContentUsers(hash), string(restaurant))
		count = pipe.SCard(ctx, s.keys.ContentUsers(hash))
		return nil
	})
	if err != nil {
		return 0, err
	}
	return count.Val(), nil
}

// indexContent writes the documented hashes that restaurants share. Writers at
// the same time write the same; no version names them before they are whole.
func (s *Store) indexContent(ctx context.Context, hash string, c *menu.Catalogue) error {
	shared := s.keys.Content(hash)
	b := newBatch(s.redis.Client())
	for key, fields := range map[string]pairs{
		s.keys.Products(shared):    productIndex(c, true),
		s.keys.ExternalIDs(shared): externalIDIndex(c),
		s.keys.Schemes(shared):     schemeIndex(c),
	} {
		if err := b.hash(ctx, key, fields, 0); err != nil {
			return err
		}
	}
	if err := b.flush(ctx); err != nil {
		return err
	}
	return s.redis.Client().HSet(ctx, s.keys.ContentBody(hash), "indexed", 1).Err()
}
