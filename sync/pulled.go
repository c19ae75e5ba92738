package sync

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/cespare/xxhash/v2"
	"github.com/redis/go-redis/v9"

	"larder/cache"
	"larder/internal/menu"
	"larder/internal/upstream"
)

const (
	// maxFindings and maxFindingProducts bound what is kept of lint.
	maxFindings        = 1000
	maxFindingProducts = 100
)

// pulled is what a restaurant's last good pull looked like, so that the next
// one, on any replica, can tell that nothing has changed (policy S3). It holds
// only while version is the current one.
type pulled struct {
	version   int64
	raw       string // of the body as it came; see rawHash
	settings  string // hash of the settings alone
	validator upstream.Validator
	findings  int
	content   string // of what was published, without its stop lists; see rawHash
	// under is what a hold made of the pull: OutcomeUnchanged or OutcomeHeld;
	// empty where none was in force (policy S7a).
	under Outcome
	// refused is the content of a later pull that the guard refused.
	refused string
}

func pulledFields() []string {
	return []string{"version", "raw", "settings", "etag", "modified", "findings", "content", "under", "refused"}
}

// rawHash tells a body from another. It guards against chance, not against
// the ordering service, and is an eighth of the work of ContentHash.
func rawHash(body []byte) string {
	return strconv.Itoa(len(body)) + "-" + strconv.FormatUint(xxhash.Sum64(body), 16)
}

// size is how many bytes the body had; 0 where that is not known.
func (p pulled) size() int64 {
	text, _, _ := strings.Cut(p.raw, "-")
	size, _ := strconv.ParseInt(text, 10, 64)
	return size
}

// recalled reads the answer to a HMGET of pulledFields.
func recalled(values []any) pulled {
	text := func(i int) string {
		s, _ := values[i].(string)
		return s
	}
	version, _ := strconv.ParseInt(text(0), 10, 64) // absent: 0, which no version is
	findings, _ := strconv.Atoi(text(5))
	return pulled{
		version: version, raw: text(1), settings: text(2), findings: findings,
		validator: upstream.Validator{ETag: text(3), LastModified: text(4)},
		content:   text(6), under: Outcome(text(7)), refused: text(8),
	}
}

// remember writes the last good pull; findings nil leaves those that are kept.
func (r *Runner) remember(ctx context.Context, id menu.RestaurantID, p pulled, findings []menu.Finding) error {
	var list []byte
	if findings != nil {
		var err error
		if list, err = json.Marshal(bounded(findings)); err != nil {
			return fmt.Errorf("sync: findings of %s: %w", id, err)
		}
	}
	_, err := r.redis.TxPipelined(ctx, func(pipe redis.Pipeliner) error {
		pipe.HSet(ctx, r.keys.pulled(id), "version", p.version, "raw", p.raw, "settings", p.settings,
			"etag", p.validator.ETag, "modified", p.validator.LastModified, "findings", p.findings,
			"content", p.content, "under", string(p.under), "refused", p.refused)
		if list != nil {
			pipe.Set(ctx, r.keys.findings(id), list, 0)
		}
		return nil
	})
	if err != nil {
		return unavailable(ctx, "remember the pull of "+string(id), err)
	}
	return nil
}

// noteRefused keeps with the last good pull what the service publishes instead.
func (r *Runner) noteRefused(ctx context.Context, id menu.RestaurantID, content string) error {
	if err := r.redis.HSet(ctx, r.keys.pulled(id), "refused", content).Err(); err != nil {
		return unavailable(ctx, "note what was refused of "+string(id), err)
	}
	return nil
}

// Findings gives what lint found in the menu as it was last pulled and let
// through, under a hold in the one that is served: at most 1,000 findings with at most 100 products each. Errors:
// *UnknownRestaurantError, cache.ErrNoCatalogue before the first good pull,
// cache.ErrUnavailable.
func (r *Runner) Findings(ctx context.Context, restaurant menu.RestaurantID) ([]menu.Finding, error) {
	if _, err := r.target(restaurant); err != nil {
		return nil, err
	}
	list, err := r.redis.Get(ctx, r.keys.findings(restaurant)).Bytes()
	if isNil(err) {
		return nil, fmt.Errorf("sync: findings of %s: %w", restaurant, cache.ErrNoCatalogue)
	}
	if err != nil {
		return nil, unavailable(ctx, "read findings of "+string(restaurant), err)
	}
	findings := []menu.Finding{}
	if err := json.Unmarshal(list, &findings); err != nil {
		return nil, fmt.Errorf("sync: findings of %s: %w", restaurant, err)
	}
	return findings, nil
}

// bounded cuts findings to what is kept, without touching the given ones.
func bounded(findings []menu.Finding) []menu.Finding {
	kept := slices.Clone(findings[:min(len(findings), maxFindings)])
	for i := range kept {
		products := kept[i].Products
		kept[i].Products = products[:min(len(products), maxFindingProducts)]
	}
	return kept
}
