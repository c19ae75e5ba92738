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

	"larder.local/internal/menu"
	"larder.local/internal/redisdb"
)

const (
	// stagedLife is how long staged keys wait for the script.
	stagedLife = 2 * time.Minute
	// oldLife is how long the keys of the previous version stay readable (docs/redis.md).
	oldLife = 10 * time.Minute
	// verifyWithin limits the check whether a publish without a response took effect.
	verifyWithin = 2 * time.Second
)

// Publication is one version to publish.
type Publication struct {
	Restaurant menu.RestaurantID
	Name       string // the restaurant's name as bodies show it
	// Fence is the publisher's fence (policy S2). Run is the holder of that lease;
	// if it is empty, only the fence counts.
	Fence int64
	Run   string
	// Base is the version that was current when the publisher started, 0 for none.
	// If another one is current, Publish returns ErrStale.
	Base int64
	// Catalogue is compiled from Published, with its stop lists. The caller must not change either.
	Catalogue *menu.Catalogue
	Published menu.Published
	SyncedAt  time.Time // kept in whole milliseconds
	// CheckedAt is when the ordering service was last asked; zero means SyncedAt.
	CheckedAt time.Time
	// Floor is the highest version that the publisher has served. The new one is
	// higher, even if Redis has lost its data (policies S2, S2a).
	Floor int64
	// Hold is set with the version; the zero Hold ends the hold (policy S7a). nil changes nothing.
	Hold *Hold
	// Outcome is the outcome of the publishing run; empty means "updated".
	Outcome string
	// ReadAt is when the configuration with the settings was read, by Redis's clock (policy S9); zero: not known.
	ReadAt time.Time
}

var errIncomplete = errors.New("restaurant, catalogue or published view is missing")

// Publish makes a version current, with the number max(Base, Floor, the stored floor, the last version of any source)+1.
// It first writes everything that the version refers to, under staged names and in limited pipelines. Then one small
// script switches the restaurant to it. If the publisher dies before that, the previous version stays current and complete (policy S6).
//
// A stored content is not written again. If only stop lists differ, the version replaces the previous
// one in the history (policy S7). Errors: ErrFenced, ErrStale, redisdb.ErrUnavailable.
func (s *Store) Publish(ctx context.Context, p Publication) (Version, error) {
	version, err := s.publishVersion(ctx, p)
	if err != nil {
		return Version{}, fmt.Errorf("cache: publish %s over version %d: %w", p.Restaurant, p.Base, err)
	}
	return version, nil
}

func (s *Store) publishVersion(ctx context.Context, p Publication) (Version, error) {
	if p.Restaurant == "" || p.Catalogue == nil || len(p.Published.Content) == 0 {
		return Version{}, errIncomplete
	}
	stored, err := s.publishState(ctx, p.Restaurant)
	if err != nil {
		return Version{}, fmt.Errorf("%w: %w", redisdb.ErrUnavailable, err)
	}
	if stored.form != catalogueForm && p.Base == 0 {
		p.Base = stored.version // a version of another format: continue its numbers
	}
	version := Version{
		Restaurant:  p.Restaurant,
		Name:        strings.Clone(p.Name),
		Version:     max(p.Base, p.Floor, stored.floor, stored.last) + 1,
		Floor:       stored.floor,
		Content:     menu.ContentHash(p.Published.Content, p.Catalogue.Settings()),
		Stops:       p.Catalogue.Stops(),
		SyncedAt:    truncateMillis(p.SyncedAt),
		CheckedAt:   truncateMillis(cmp.Or(p.CheckedAt, p.SyncedAt)),
		Counts:      p.Catalogue.Counts(),
		LastOutcome: cmp.Or(p.Outcome, outcomeUpdated),
		Hold:        stored.hold,
		Bytes:       len(p.Published.Content),
		Source:      s.sources.current(p.Restaurant),
		Settings:    new(p.Catalogue.Settings()),
		ReadAt:      truncateMillis(p.ReadAt),
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

type publishState struct {
	floor   int64
	last    int64 // the version that any source published last
	version int64
	content string
	hold    Hold
	form    string // the version's format; empty in the first format
	// when the version, and the published view, were modified; zero: unknown
	modifiedAt, publishedAt time.Time
	history                 []historyEntry
}

type historyEntry struct {
	version int64
	content string
}

func (e historyEntry) String() string { return strconv.FormatInt(e.version, 10) + " " + e.content }

// readHistory parses the history. It skips elements that larder did not write.
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
	floor := pipe.HMGet(ctx, s.keys.Fence(restaurant), "floor")
	history := pipe.LRange(ctx, s.keys.History(restaurant), 0, -1)
	last := pipe.HMGet(ctx, s.keys.Published(restaurant), "version")
	if _, err := pipe.Exec(ctx); err != nil {
		return publishState{}, err
	}
	of := fieldValues(current.Val())
	return publishState{
		floor:       fieldValues(floor.Val()).number(0),
		last:        fieldValues(last.Val()).number(0),
		version:     of.number(0),
		content:     of.text(1),
		hold:        readHold(of.text(2), of.text(4), of.text(5)),
		form:        of.text(3),
		modifiedAt:  of.time(6),
		publishedAt: of.time(7),
		history:     readHistory(history.Val()),
	}, nil
}

// stage writes the version's own keys under unique names.
func (s *Store) stage(ctx context.Context, p Publication, v Version, index string) (*publishTx, error) {
	step := &publishTx{token: rand.Text(), publication: p, version: v}
	b := newBatch(ctx, s.redis.Client())
	if index == s.keys.Version(v.Restaurant, v.Version) { // else the content's hashes are already written
		for _, hash := range documentedHashes(s.keys, index, p.Catalogue, false) {
			staged := step.stageKey(hash.key, "HLEN", len(hash.fields)/2)
			b.add("hset", staged, hash.fields, 2, stagedLife)
		}
	}
	stopped := stoppedIndex(v.Stops)
	b.add("sadd", step.stageKey(s.keys.Stopped(v.Restaurant, v.Version), "SCARD", len(stopped)), stopped, 1, stagedLife)
	packed := string(s.packer.pack(p.Published.Stops))
	b.add("set", step.stageKey(s.keys.StopValues(v.Restaurant, v.Version), "STRLEN", len(packed)), []string{packed}, 1, stagedLife)
	record, err := encodeRecord(v)
	if err != nil {
		return nil, err
	}
	b.add("set", step.stageKey(s.keys.Record(v.Restaurant, v.Version), "STRLEN", len(record)), []string{string(record)}, 1, stagedLife)
	step.current = []any{
		"version", v.Version, "content", v.Content, "syncedAt", menu.FormatTime(v.SyncedAt), "index", index,
		"checkedAt", menu.FormatTime(v.CheckedAt), "modifiedAt", menu.FormatTime(v.ModifiedAt), "lastOutcome", v.LastOutcome,
		"form", catalogueForm, "published", v.Published, "publishedAt", menu.FormatTime(v.PublishedAt),
		"record", record, "publication", step.token,
	}
	if v.Source != "" {
		step.current = append(step.current, "source", v.Source)
	}
	if p.Hold != nil {
		step.current = append(step.current, p.Hold.fields()...)
	}
	return step, b.flush()
}
