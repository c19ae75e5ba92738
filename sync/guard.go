package sync

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/shopspring/decimal"

	"larder/cache"
	"larder/internal/menu"
)

// Guard has the checks of fetched menus (policy S4). An empty menu is always quarantined.
type Guard struct {
	IDs    *bool `yaml:"ids"`    // most served dishes are still in the menu
	Prices *bool `yaml:"prices"` // most of them can still be ordered, at a similar price
	Growth *bool `yaml:"growth"` // the menu has at most ten times as many dishes
}

// GuardLimits are the checks of one restaurant. The zero value has all checks and the limit of the section sync.
type GuardLimits struct {
	SkipIDs, SkipPrices, SkipGrowth bool
	ShrinkLimit                     float64
}

// GuardOf returns the checks of a restaurant with its own values; missing ones are those of the section sync.
func (c *Config) GuardOf(own Guard, shrinkLimit *float64) GuardLimits {
	off := func(own, general *bool) bool { return !*cmp.Or(own, general, new(true)) }
	return GuardLimits{
		SkipIDs:     off(own.IDs, c.Guard.IDs),
		SkipPrices:  off(own.Prices, c.Guard.Prices),
		SkipGrowth:  off(own.Growth, c.Guard.Growth),
		ShrinkLimit: *cmp.Or(shrinkLimit, &c.ShrinkLimit),
	}
}

// The thresholds of policy S4.
const (
	growthFactor = 10
	growthFloor  = 5_000 // dishes that a menu may always have
	priceFactor  = 10
	examples     = 3
	growthRule   = "sync.guard.growth"
)

// refusal is why a menu is quarantined: what is wrong, the setting of the check, and at most three examples. It is
// empty if the menu may be published.
type refusal struct {
	what, rule string
	examples   []string
}

// reason returns the text for people, of at most 25 words.
func (r refusal) reason(restaurant menu.RestaurantID, kept bool) string {
	text := r.what
	if r.rule != "" {
		text += " (" + r.rule + ")"
	}
	if len(r.examples) > 0 {
		text += ": " + strings.Join(r.examples, ", ")
	}
	if !kept {
		text += ". Not kept"
	}
	return text + ". To publish anyway: larder sync --force " + string(restaurant)
}

// checkEmpty needs no compiled menu, because an empty one can have a million elements without an id.
func checkEmpty(fetched *menu.View) refusal {
	if slices.ContainsFunc(fetched.Products, func(p menu.Product) bool { return p.ID != "" }) {
		return refusal{}
	}
	return refusal{what: "Menu is empty, so it was not published"}
}

// checkFirst checks a first menu. Stop lists do not count.
func (g GuardLimits) checkFirst(fetched *menu.Catalogue) refusal {
	now := unstopped(fetched)
	for i := range now.Products().All() {
		if g.SkipPrices || sells(now, i) {
			return refusal{}
		}
	}
	return refusal{"No dish is both priced and orderable", "sync.guard.prices", namesOf(now, []menu.Index{0, 1, 2})}
}

// comparison has the dishes of the served menu that a fetched one lacks or changes.
type comparison struct {
	gone   []menu.Index // neither their id nor their externalId is left
	lost   []menu.Index // could be ordered at a price above 0, and cannot any more
	jumped []menu.Index // their price above 0 changed tenfold

	selling, priced int // how many could be ordered at a price above 0; how many had such a price
}

// compareDishes compares the dishes of two menus. If ids may change, new dishes that can be ordered at a price above 0 take
// the place of those that are gone.
func compareDishes(before, now *menu.Catalogue, idsMayChange bool) (c comparison) {
	var replaced []menu.Index
	kept := 0
	for i, was := range before.Products().All() {
		left := sameDishes(now, was)
		if len(left) == 0 {
			c.gone = append(c.gone, i)
		}
		if was.PriceInvalid() || !was.Price().IsPositive() {
			continue
		}
		c.priced++
		if len(left) > 0 && !slices.ContainsFunc(left, func(k menu.Index) bool { return isSimilar(was.Price(), now.Products().At(k)) }) {
			c.jumped = append(c.jumped, i)
		}
		if !before.Orderable(i) {
			continue
		}
		c.selling++
		switch {
		case slices.ContainsFunc(left, func(k menu.Index) bool { return sells(now, k) }):
			kept++
		case len(left) == 0 && idsMayChange:
			replaced = append(replaced, i)
		default:
			c.lost = append(c.lost, i)
		}
	}
	if len(replaced) > 0 {
		c.lost = append(c.lost, replaced[min(len(replaced), max(0, sellingDishes(now)-kept)):]...)
	}
	return c
}

// checkDishes compares two menus with the same settings. Stop lists do not count.
func (g GuardLimits) checkDishes(served, fetched *menu.Catalogue) refusal {
	before, now := unstopped(served), unstopped(fetched)
	c := compareDishes(before, now, g.SkipIDs)
	tooMany := func(some []menu.Index, of int) bool { return float64(len(some)) > g.ShrinkLimit*float64(of) }
	dishes, count := before.Products().Len(), now.Products().Len()
	switch {
	case !g.SkipGrowth && count > growthFloor && count > growthFactor*dishes:
		what := fmt.Sprintf("Menu grew from %d to %d dishes", dishes, count)
		return refusal{what, growthRule, namesOf(now, []menu.Index{0, 1, 2})}
	case !g.SkipIDs && tooMany(c.gone, dishes):
		return refusal{fmt.Sprintf("%d of %d dishes are gone", len(c.gone), dishes), "sync.guard.ids", namesOf(before, c.gone)}
	case !g.SkipPrices && tooMany(c.lost, c.selling):
		what := fmt.Sprintf("%d of %d dishes became free or unorderable", len(c.lost), c.selling)
		return refusal{what, "sync.guard.prices", namesOf(before, c.lost)}
	case !g.SkipPrices && tooMany(c.jumped, c.priced):
		what := fmt.Sprintf("%d of %d prices changed tenfold", len(c.jumped), c.priced)
		return refusal{what, "sync.guard.prices", namesOf(before, c.jumped)}
	default:
		return refusal{}
	}
}

// sameDishes returns the dishes of a menu that may be a dish of another one: that with its id, and the first with its externalId.
func sameDishes(in *menu.Catalogue, was menu.Entry) []menu.Index {
	var same []menu.Index
	if at, ok := in.Products().ByID(was.ID()); ok {
		same = append(same, at)
	}
	if external := was.ExternalID(); external != "" {
		owners := in.Products().ByExternalID(external)
		same = append(same, owners[:min(1, len(owners))]...)
	}
	return same
}

// sells reports whether a dish can be ordered at a price above 0.
func sells(c *menu.Catalogue, i menu.Index) bool {
	return c.Orderable(i) && c.Products().At(i).Price().IsPositive()
}

func sellingDishes(c *menu.Catalogue) (n int) {
	for i := range c.Products().All() {
		if sells(c, i) {
			n++
		}
	}
	return n
}

// isSimilar reports whether a price is less than ten times as high or as low as before. A missing price counts as similar:
// it is no change of the price, and checkDishes counts the dish as unorderable.
func isSimilar(before decimal.Decimal, now menu.Entry) bool {
	factor, price := decimal.NewFromInt(priceFactor), now.Price()
	return now.PriceInvalid() || (price.LessThan(before.Mul(factor)) && price.Mul(factor).GreaterThan(before))
}

// unstopped returns the menu without stop lists.
func unstopped(c *menu.Catalogue) *menu.Catalogue {
	if c.Stops().Equal(menu.Stops{}) {
		return c
	}
	return c.Content.Catalogue(menu.Stops{})
}

// namesOf returns the first names as examples, each of at most two words; ids of dishes without a name.
func namesOf(c *menu.Catalogue, dishes []menu.Index) (names []string) {
	const longest = 40 // bytes
	for _, i := range dishes[:min(examples, len(dishes), c.Products().Len())] {
		dish := c.Products().At(i)
		words := strings.Fields(dish.Name())
		if len(words) == 0 {
			words = strings.Fields(dish.ID())
		}
		short := strings.Join(words[:min(2, len(words))], " ")
		if len(short) > longest {
			short = strings.ToValidUTF8(short[:longest], "") + "…"
		} else if len(words) > 2 {
			short += "…"
		}
		names = append(names, fmt.Sprintf("%q", short))
	}
	return names
}

// guard returns why the built menu is quarantined. A content of the history passes.
func (p *pipelineRun) guard(ctx context.Context, m *built) (refusal, error) {
	if m.hash == p.current.Content {
		return refusal{}, nil
	}
	served, err := p.served(ctx)
	switch {
	case errors.Is(err, cache.ErrNoCatalogue), errors.Is(err, cache.ErrCorrupt): // none, or lost: nothing can be compared
		return p.limits().checkFirst(m.catalogue), nil
	case err != nil:
		return refusal{}, err
	}
	if m.before == nil && p.floor <= p.current.Version && p.current.Settings != nil && *p.current.Settings == served.Settings() {
		m.before = served
	}
	why := p.limits().checkDishes(served, m.catalogue)
	if why.what == "" || why.rule == growthRule {
		return why, nil
	}
	stored, err := p.target.store.Versions(ctx, p.target.ID)
	if err != nil && !errors.Is(err, cache.ErrNoCatalogue) {
		return refusal{}, err
	}
	for _, v := range stored {
		use := p.use
		if v.Settings != nil {
			use = *v.Settings
		}
		if v.Bytes == len(m.published.Content) && v.Content == menu.ContentHash(m.published.Content, use) {
			return refusal{}, nil
		}
	}
	return why, nil
}

func (p *pipelineRun) limits() GuardLimits {
	limits := p.target.Guard
	limits.ShrinkLimit = cmp.Or(limits.ShrinkLimit, p.runner.cfg.ShrinkLimit)
	return limits
}

// served returns the served menu with the settings of the run. Errors: cache.ErrNoCatalogue, cache.ErrCorrupt,
// redisdb.ErrUnavailable.
func (p *pipelineRun) served(ctx context.Context) (*menu.Catalogue, error) {
	hash, stops := p.current.Content, p.current.Stops
	if snapshot, ok := p.cached(); ok && snapshot.Version.Version >= p.current.Version {
		if menu.ContentHash(nil, snapshot.Catalogue.Settings()) == p.settings {
			return snapshot.Catalogue, nil
		}
		hash, stops = snapshot.Content, snapshot.Stops
	}
	content, err := p.target.store.ContentAs(ctx, hash, &p.use)
	if err != nil {
		return nil, err
	}
	return content.Catalogue(stops), nil
}

// The effects of a hold on a fetched content, as Redis stores them.
const (
	holdConfirms = "unchanged" // the service still publishes the content of the time of the rollback
	holdDelays   = "held"      // it publishes another content, which must wait
)

// holdEffect returns the effect of the hold on a fetched content. It returns "" if the content may
// be published, because there is no hold or because the content ends it (policy S7a).
func (p *pipelineRun) holdEffect(content string) string {
	hold := p.current.Hold
	switch {
	case !p.current.Held:
		return ""
	case hold.Of == content:
		return holdConfirms
	case hold.Until == cache.HoldReleased:
		return holdDelays
	default:
		return ""
	}
}
