package cache

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"larder/internal/menu"
	"larder/internal/redisdb"
)

const (
	// stagedLife is how long keys that were written wait for the script.
	stagedLife = 2 * time.Minute
	// oldLife is how long the keys of the version before stay readable
	// (docs/redis.md).
	oldLife = 10 * time.Minute
	// verifyWithin bounds the look whether a publish without answer took place.
	verifyWithin = 2 * time.Second
)

// Publication is one version to be published.
type Publication struct {
	Restaurant menu.RestaurantID
	Name       string // the restaurant's name as bodies show it
	// Fence is the publisher's fencing number (policy S2), Run what has the lease
	// under that number; empty where the number alone decides.
	Fence int64
	Run   string
	// Base is the version that was current when the publisher began, 0 for
	// none. Another one since is ErrStale.
	Base int64
	// Catalogue is what Published was compiled to, stop lists included. Neither
	// may change any more.
	Catalogue *menu.Catalogue
	Published menu.Published
	// Content is the menu.ContentHash of what was published, where the publisher
	// has it already; empty: Publish reckons it.
	Content  string
	SyncedAt time.Time // kept in whole milliseconds
	// CheckedAt is when the ordering service was asked last; zero means
	// SyncedAt, at which it was.
	CheckedAt time.Time
	// Floor is the highest version that the publisher has served: the new one
	// is above it although Redis may have lost its data (policies S2, S2a).
	Floor int64
	// Hold is set or, where it is zero, lifted with the version (policy S7a);
	// nil leaves it as it stands.
	Hold *Hold
	// Outcome is that of the run that publishes; empty means "updated".
	Outcome string
}

var errIncomplete = errors.New("restaurant, catalogue and what was published must be given")

// Publish makes a version current: max(Base, Floor, the stored floor)+1. Everything that it
// names is written first, under staged names and in bounded pipelines;
// then one small script moves the restaurant. Whenever the publisher dies, the
// version before stays current and whole (policy S6).
//
// A content that is stored already is not written again; one that is the
// current version's own, so that only stop lists differ, takes no new place in
// the history (policy S7).
//
// Errors: ErrFenced, ErrStale, redisdb.ErrUnavailable.
func (s *Store) Publish(ctx context.Context, p Publication) (Version, error) {
	version, err := s.publish(ctx, p)
	if err != nil {
		return Version{}, fmt.Errorf("cache: publish %s over version %d: %w", p.Restaurant, p.Base, err)
	}
	return version, nil
}

func (s *Store) publish(ctx context.Context, p Publication) (Version, error) {
	if p.Restaurant == "" || p.Catalogue == nil || len(p.Published.Content) == 0 {
		return Version{}, errIncomplete
	}
	stored, err := s.publishState(ctx, p.Restaurant)
	if err != nil {
		return Version{}, fmt.Errorf("%w: %w", redisdb.ErrUnavailable, err)
	}
	if stored.form != catalogueForm && p.Base == 0 {
		p.Base = stored.version // no version of this form: the numbers go on
	}
	// Refused early, to save the work; the script asks again.
	switch {
	case stored.fence > p.Fence:
		return Version{}, fmt.Errorf("fence %d, the stored one is %d: %w", p.Fence, stored.fence, ErrFenced)
	case stored.version != p.Base:
		return Version{}, fmt.Errorf("version %d is current: %w", stored.version, ErrStale)
	}
	content := p.Content
	if content == "" {
		content = menu.ContentHash(p.Published.Content, p.Catalogue.Settings())
	}
	version := Version{
		Restaurant: p.Restaurant, Name: strings.Clone(p.Name), Version: max(p.Base, p.Floor, stored.floor) + 1, Floor: stored.floor,
		Content: content, Stops: p.Catalogue.Stops(),
		SyncedAt: truncateMillis(p.SyncedAt), CheckedAt: truncateMillis(cmp.Or(p.CheckedAt, p.SyncedAt)),
		Counts: p.Catalogue.Counts(), LastOutcome: cmp.Or(p.Outcome, outcomeUpdated), Hold: stored.hold, Bytes: len(p.Published.Content),
	}
	if p.Hold != nil {
		version.Hold = *p.Hold
	}
	version.Held = version.Hold != Hold{}
	version.ModifiedAt = afterLast(version.SyncedAt, stored.modifiedAt)
	version.Published = PublishedSum(version.Content, p.Published.Stops)
	version.PublishedAt = afterLast(version.SyncedAt, stored.publishedAt)
	own := s.keys.Version(p.Restaurant, version.Version)
	index, err := s.storeContent(ctx, p, version.Content, own)
	if err != nil {
		return Version{}, fmt.Errorf("content %s: %w: %w", version.Content, redisdb.ErrUnavailable, err)
	}
	step, err := s.stage(ctx, p, version, index)
	if err != nil {
		return Version{}, fmt.Errorf("stage version %d: %w: %w", version.Version, redisdb.ErrUnavailable, err)
	}
	step.planRetirement(s, stored)
	if err := s.commit(ctx, step); err != nil {
		return Version{}, err
	}
	return version, nil
}

// outcomeUpdated is the outcome of a run that published (docs/http-operators.md).
const outcomeUpdated = "updated"

// publishState is what a restaurant has when a publish begins.
type publishState struct {
	fence   int64
	floor   int64
	version int64
	content string
	hold    Hold
	form    string // in which the version is kept; empty in the first one
	// when the version, and the view as published, were modified; zero: unknown
	modifiedAt, publishedAt time.Time
	history                 []historyEntry
}

// historyEntry is one element of Keys.History.
type historyEntry struct {
	version int64
	content string
}

func (e historyEntry) String() string { return strconv.FormatInt(e.version, 10) + " " + e.content }

// readHistory skips what larder did not write.
func readHistory(list []string) []historyEntry {
	entries := make([]historyEntry, 0, len(list))
	for _, element := range list {
		number, content, _ := strings.Cut(element, " ")
		if version, err := strconv.ParseInt(number, 10, 64); err == nil && content != "" {
			entries = append(entries, historyEntry{version, content})
		}
	}
	return entries
}

func (s *Store) publishState(ctx context.Context, restaurant menu.RestaurantID) (publishState, error) {
	pipe := s.redis.Client().Pipeline()
	current := pipe.HMGet(ctx, s.keys.Current(restaurant),
		"version", "content", "held", "form", "hold", "holdOf", "modifiedAt", "publishedAt")
	fence := pipe.HMGet(ctx, s.keys.Fence(restaurant), "fence", "floor")
	history := pipe.LRange(ctx, s.keys.History(restaurant), 0, -1)
	if _, err := pipe.Exec(ctx); err != nil {
		return publishState{}, err
	}
	of, fences := fieldValues(current.Val()), fieldValues(fence.Val())
	return publishState{
		fence: fences.number(0), floor: fences.number(1),
		version: of.number(0), content: of.text(1), hold: readHold(of.text(2), of.text(4), of.text(5)), form: of.text(3),
		modifiedAt: of.time(6), publishedAt: of.time(7), history: readHistory(history.Val()),
	}, nil
}

// stage writes the version's own keys under names that nobody else knows.
func (s *Store) stage(ctx context.Context, p Publication, v Version, index string) (*publishTx, error) {
	step := &publishTx{token: rand.Text(), publication: p, version: v}
	b := newBatch(ctx, s.redis.Client())
	if index == s.keys.Version(v.Restaurant, v.Version) { // and not the content's, which are written
		for _, hash := range documentedHashes(s.keys, index, p.Catalogue, false) {
			staged := step.stageKey(hash.key, "HLEN", len(hash.fields)/2) //nolint:mnd // field and value
			b.hash(staged, hash.fields, stagedLife)
		}
	}
	stopped := stoppedIndex(v.Stops)
	b.set(step.stageKey(s.keys.Stopped(v.Restaurant, v.Version), "SCARD", len(stopped)), stopped, stagedLife)
	packed := s.packer.pack(p.Published.Stops)
	b.value(step.stageKey(s.keys.StopValues(v.Restaurant, v.Version), "STRLEN", len(packed)), packed, stagedLife)
	recordBytes, err := encodeRecord(v)
	if err != nil {
		return nil, err
	}
	b.value(step.stageKey(s.keys.Record(v.Restaurant, v.Version), "STRLEN", len(recordBytes)), recordBytes, stagedLife)
	step.current = []any{
		"version", v.Version, "content", v.Content, "syncedAt", menu.FormatTime(v.SyncedAt), "index", index,
		"checkedAt", menu.FormatTime(v.CheckedAt), "modifiedAt", menu.FormatTime(v.ModifiedAt), "lastOutcome", v.LastOutcome,
		"form", catalogueForm, "published", v.Published, "publishedAt", menu.FormatTime(v.PublishedAt),
		"record", recordBytes, "publication", step.token,
	}
	if p.Hold != nil {
		step.current = append(step.current, p.Hold.fields()...)
	}
	return step, b.flush()
}
