package cache

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"larder/internal/menu"
	"larder/internal/redisdb"
)

// publishTx is the one step that makes a staged version current: the arguments of
// publish.lua.
type publishTx struct {
	token      string // names this attempt
	restaurant menu.RestaurantID
	fence      int64
	run        string
	base       int64
	version    int64
	entry      historyEntry
	overlay    bool
	limit      int

	staged  []stagedKey
	old     []string
	current []any // fields and values
}

type stagedKey struct {
	from, to string
	count    string // the command that counts its elements
	want     int
}

// stageKey plans the renaming of a key and gives its staged name. A key without
// elements does not exist in Redis and is not planned.
func (f *publishTx) stageKey(final, count string, want int) (staged string) {
	staged = final + "~" + f.token
	if want > 0 {
		f.staged = append(f.staged, stagedKey{staged, final, count, want})
	}
	return staged
}

// planRetirement plans what becomes of the versions before: the index keys of the
// last one, and the records that leave the history, live on for a while.
func (f *publishTx) planRetirement(s *Store, before publishState, v Version) {
	f.overlay = before.version > 0 && before.content == v.Content
	kept := before.history
	var gone []historyEntry
	if f.overlay && len(kept) > 0 {
		gone, kept = kept[:1], kept[1:]
	}
	if room := f.limit - 1; len(kept) > room {
		gone = append(slices.Clip(gone), kept[room:]...)
	}
	for _, entry := range gone {
		f.old = append(f.old, s.keys.Record(f.restaurant, entry.version), s.keys.StopValues(f.restaurant, entry.version))
	}
	if before.version > 0 {
		index := s.keys.Version(f.restaurant, before.version)
		f.old = append(f.old, s.keys.Products(index), s.keys.ExternalIDs(index), s.keys.Schemes(index),
			s.keys.Stopped(f.restaurant, before.version))
	}
}

func (f *publishTx) keys(k Keys) []string {
	keys := []string{k.Current(f.restaurant), k.Fence(f.restaurant), k.History(f.restaurant)}
	for _, staged := range f.staged {
		keys = append(keys, staged.from, staged.to)
	}
	return append(keys, f.old...)
}

func (f *publishTx) arguments(channel string) []any {
	overlay := 0
	if f.overlay {
		overlay = 1
	}
	arguments := []any{
		publisher(f.fence, f.run), f.base, f.entry.String(), overlay, f.limit,
		channel, notice{f.version, f.restaurant}.String(), oldLife.Milliseconds(), len(f.staged),
	}
	for _, staged := range f.staged {
		arguments = append(arguments, staged.count, staged.want)
	}
	return append(arguments, f.current...)
}

// publisher is how fenced.lua knows one.
func publisher(fence int64, run string) string { return strconv.FormatInt(fence, 10) + " " + run }

var errIncompleteStage = errors.New("staged keys expired before they were published")

// commit runs the script, through the client that never repeats a command.
func (s *Store) commit(ctx context.Context, f *publishTx) error {
	answer, err := publishScript.Run(ctx, s.redis.NoRetry(), f.keys(s.keys), f.arguments(s.keys.Notices())...).StringSlice()
	if err != nil {
		if s.committed(ctx, f) {
			return nil
		}
		return fmt.Errorf("%w: %w", redisdb.ErrUnavailable, err)
	}
	return publishError(answer, f.fence)
}

// publishError reads the answer of a script that publishes.
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
		return fmt.Errorf("publish script answered %q: %w", answer, ErrCorrupt)
	}
}

// committed asks, after an answer was lost, whether the script has run: the
// caller's ctx may be what ended the wait.
func (s *Store) committed(ctx context.Context, f *publishTx) bool {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), verifyWithin)
	defer cancel()
	values, err := s.redis.Client().HMGet(ctx, s.keys.Current(f.restaurant), "version", "publication").Result()
	return err == nil && values[0] == strconv.FormatInt(f.version, 10) && values[1] == f.token
}
