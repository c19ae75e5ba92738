package cache

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"larder.local/internal/redisdb"
)

// publishTx is the step that makes a staged version current: the arguments of publish.lua.
type publishTx struct {
	token       string // identifies this attempt
	publication Publication
	version     Version
	overlay     bool // the previous version has the same content

	staged  []string // pairs: staged key, final key
	sizes   []any    // pairs: the command that counts the elements of a staged key, and their number
	old     []string
	current []any // fields and values
}

// stageKey plans the renaming of a key and returns its staged name. A key without
// elements does not exist in Redis and is not planned.
func (f *publishTx) stageKey(final, count string, want int) (staged string) {
	staged = final + "~" + f.token
	if want > 0 {
		f.staged, f.sizes = append(f.staged, staged, final), append(f.sizes, count, want)
	}
	return staged
}

// planRetirement plans the expiry of old keys: the index keys of the previous
// version, and the records that leave the history.
func (f *publishTx) planRetirement(s *Store, before publishState) {
	v := f.version
	f.overlay = before.version > 0 && before.content == v.Content
	kept := before.history
	var replaced []historyEntry
	if f.overlay && len(kept) > 0 {
		replaced, kept = kept[:1], kept[1:]
	}
	for _, entry := range slices.Concat(replaced, kept[min(len(kept), s.history-1):]) {
		f.old = append(f.old, s.keys.Record(v.Restaurant, entry.version), s.keys.StopValues(v.Restaurant, entry.version))
	}
	if before.version > 0 {
		index := s.keys.Version(v.Restaurant, before.version)
		f.old = append(f.old, s.keys.Products(index), s.keys.ExternalIDs(index), s.keys.Schemes(index),
			s.keys.Stopped(v.Restaurant, before.version))
	}
}

// publisher identifies a publisher for fenced.lua.
func publisher(fence int64, run string) string { return strconv.FormatInt(fence, 10) + " " + run }

var errIncompleteStage = errors.New("staged keys expired before they were published")

// commit runs the script, through the client without retries.
func (s *Store) commit(ctx context.Context, f *publishTx) error {
	p, v := f.publication, f.version
	keys := []string{
		s.keys.Current(v.Restaurant), s.keys.Fence(v.Restaurant), s.keys.History(v.Restaurant),
		s.keys.Published(v.Restaurant), s.keys.MenuSources(v.Restaurant),
	}
	arguments := []any{
		publisher(p.Fence, p.Run), p.Base, historyEntry{v.Version, v.Content}.String(), f.overlay, s.history,
		s.keys.Notices(), notice(v.Restaurant, v.Version), oldLife.Milliseconds(), len(f.staged) / 2,
		s.sources.tag(v.Restaurant),
	}
	answer, err := publishScript.Run(ctx, s.redis.NoRetry(),
		slices.Concat(keys, f.staged, f.old), slices.Concat(arguments, f.sizes, f.current)...).StringSlice()
	if err != nil {
		if s.committed(ctx, f) {
			return nil
		}
		return fmt.Errorf("%w: %w", redisdb.ErrUnavailable, err)
	}
	return publishError(answer, p.Fence)
}

func publishError(answer []string, fence int64) error {
	if len(answer) == 0 {
		answer = []string{""}
	}
	switch answer[0] {
	case "ok":
		return nil
	case "fenced":
		return fmt.Errorf("fence %d, the stored one is %s: %w", fence, answer[1], ErrFenced)
	case "stale":
		return fmt.Errorf("version %s is current: %w", answer[1], ErrStale)
	case "floor":
		return fmt.Errorf("versions up to %s were served before Redis lost them: %w", answer[1], ErrStale)
	case "incomplete":
		return fmt.Errorf("%w: %w", redisdb.ErrUnavailable, errIncompleteStage)
	default:
		return fmt.Errorf("the publish script returned %q: %w", answer, ErrCorrupt)
	}
}

// committed checks, after a lost response, whether the script has run. ctx may be
// the reason for the lost response, so it is not used.
func (s *Store) committed(ctx context.Context, f *publishTx) bool {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), verifyWithin)
	defer cancel()
	values, err := s.redis.Client().HMGet(ctx, s.keys.Current(f.version.Restaurant), "version", "publication").Result()
	return err == nil && values[0] == strconv.FormatInt(f.version.Version, 10) && values[1] == f.token
}
