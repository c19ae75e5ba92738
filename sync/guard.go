package sync

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"larder.local/cache"
	"larder.local/internal/jsontext"
	"larder.local/internal/menu"
)

// Guard has the checks of fetched menus (policy S4). An empty menu is always quarantined.
type Guard struct {
	IDs    *bool `yaml:"ids"`    // most served dishes are still in the menu
	Prices *bool `yaml:"prices"` // most of them can still be ordered, at a similar price
	Growth *bool `yaml:"growth"` // the menu has at most ten times as many dishes
}

// GuardLimits are the checks of one restaurant. The zero value means those of the section sync.
type GuardLimits struct {
	IDs, Prices, Growth bool
	ShrinkLimit         float64 // above 0
}

// GuardOf returns the checks of a restaurant with its own values; missing ones are those of the section sync.
func (c *Config) GuardOf(own Guard, shrinkLimit *float64) GuardLimits {
	return GuardLimits{
		IDs:         *cmp.Or(own.IDs, c.Guard.IDs, new(true)),
		Prices:      *cmp.Or(own.Prices, c.Guard.Prices, new(true)),
		Growth:      *cmp.Or(own.Growth, c.Guard.Growth, new(true)),
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

// comparison has the dishes of the served menu that a fetched one lacks or changes.
type comparison struct {
	gone   []menu.Index // neither their id nor their externalId is left
	lost   []menu.Index // could be ordered at a price above 0, and cannot any more
	jumped []menu.Index // their price above 0 changed tenfold

	selling, priced int // how many could be ordered at a price above 0; how many had such a price
	sellingNow      int // how many dishes of the fetched menu can be ordered at a price above 0
	tooDeep         int // how many could be, but for larder's own limit of levels (policy M12)
}

// compareDishes compares the dishes of two menus. If ids may change, new dishes that can be ordered at a price above 0 take
// the place of those that are gone. A price is the lowest one with the options that must be chosen.
func compareDishes(before, now *menu.Catalogue, idsMayChange bool) (c comparison) {
	priceBefore, priceNow, factor := before.LeastPrice(), now.LeastPrice(), jsontext.Whole(priceFactor)
	type offer struct {
		price  jsontext.Number
		priced bool
		sells  bool // can be ordered at a price above 0
	}
	offers := make([]offer, now.Products().Len())
	sells := func(k menu.Index) bool { return offers[k].sells }
	for k, dish := range now.Products().All() {
		price, ok := priceNow(k)
		if offers[k] = (offer{price, ok, ok && price.Sign() > 0 && now.Orderable(k)}); sells(k) {
			c.sellingNow++
		} else if reasons := now.Reasons(k); len(reasons) == 1 && reasons[0].Code == menu.ReasonTooDeep && dish.Price().IsPositive() {
			c.tooDeep++
		}
	}
	var replaced []menu.Index
	kept := 0
	for i := range before.Products().All() {
		left := sameDishes(before, now, i)
		if len(left) == 0 {
			c.gone = append(c.gone, i)
		}
		was, ok := priceBefore(i)
		if !ok || was.Sign() <= 0 {
			continue
		}
		c.priced++
		similar := func(k menu.Index) bool { // a missing price is no change of it: the dish counts as unorderable
			price := offers[k].price
			return !offers[k].priced || price.Cmp(was.Mul(factor)) < 0 && price.Mul(factor).Cmp(was) > 0
		}
		if len(left) > 0 && !slices.ContainsFunc(left, similar) {
			c.jumped = append(c.jumped, i)
		}
		if !before.Orderable(i) {
			continue
		}
		c.selling++
		switch {
		case slices.ContainsFunc(left, sells):
			kept++
		case len(left) == 0 && idsMayChange:
			replaced = append(replaced, i)
		default:
			c.lost = append(c.lost, i)
		}
	}
	c.lost = append(c.lost, replaced[min(len(replaced), max(0, c.sellingNow-kept)):]...)
	return c
}

// checkDishes compares two menus with the same settings. Stop lists do not count. Without served dishes, one must sell, or
// would sell if ordering.max_depth were higher: that is no fault of the menu.
func (g GuardLimits) checkDishes(served, fetched *menu.Catalogue) refusal {
	const prices, none = "sync.guard.prices", "No dish is both priced and orderable"
	before, now := unstopped(served), unstopped(fetched)
	c := compareDishes(before, now, !g.IDs)
	tooMany := func(some []menu.Index, of int) bool { return float64(len(some)) > g.ShrinkLimit*float64(of) }
	dishes, count, first := before.Products().Len(), now.Products().Len(), []menu.Index{0, 1, 2}
	switch {
	case dishes == 0 && g.Prices && c.sellingNow+c.tooDeep == 0:
		return refusal{none, prices, namesOf(now, first)}
	case dishes > 0 && g.Growth && count > growthFloor && count > growthFactor*dishes:
		return refusal{fmt.Sprintf("Menu grew from %d to %d dishes", dishes, count), growthRule, namesOf(now, first)}
	case g.IDs && tooMany(c.gone, dishes):
		return refusal{fmt.Sprintf("%d of %d dishes are gone", len(c.gone), dishes), "sync.guard.ids", namesOf(before, c.gone)}
	case g.Prices && tooMany(c.lost, c.selling):
		return refusal{fmt.Sprintf("%d of %d dishes became free or unorderable", len(c.lost), c.selling), prices, namesOf(before, c.lost)}
	case g.Prices && tooMany(c.jumped, c.priced):
		return refusal{fmt.Sprintf("%d of %d prices changed tenfold", len(c.jumped), c.priced), prices, namesOf(before, c.jumped)}
	default:
		return refusal{}
	}
}

// unstopped returns the menu without stop lists.
func unstopped(c *menu.Catalogue) *menu.Catalogue {
	if c.Stops().Equal(menu.Stops{}) {
		return c
	}
	return c.Content.WithStops(menu.Stops{})
}

// sameDishes returns the dishes of a menu that may be a dish of the one before: that with its id, and that with its
// externalId. A code that several dishes of a menu share names none of them (policy O3).
func sameDishes(before, now *menu.Catalogue, i menu.Index) (same []menu.Index) {
	was := before.Products().At(i)
	if at, ok := now.Products().ByID(was.ID()); ok {
		same = append(same, at)
	}
	if owners := now.Products().ByExternalID(was.ExternalID()); len(owners) == 1 && len(before.Products().SharingExternalID(i)) == 1 {
		same = append(same, owners[0])
	}
	return same
}

// namesOf returns the first names as examples, each of at most two words; ids of dishes without a name.
func namesOf(c *menu.Catalogue, dishes []menu.Index) (names []string) {
	const longest = 40 // bytes
	for _, i := range dishes[:min(examples, len(dishes), c.Products().Len())] {
		dish := c.Products().At(i)
		words := strings.Fields(cmp.Or(strings.TrimSpace(dish.Name()), dish.ID()))
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
func (p *pipelineRun) guard(ctx context.Context, st state, m built) (refusal, error) {
	if m.hash == st.current.Content {
		return refusal{}, nil
	}
	served, err := p.served(ctx, st)
	switch {
	case errors.Is(err, cache.ErrNoCatalogue), errors.Is(err, cache.ErrCorrupt): // none, or lost: nothing can be compared
		served = menu.Compile(&menu.View{}, p.target.ID, st.use)
	case err != nil:
		return refusal{}, err
	}
	why := cmp.Or(p.target.Guard, p.runner.deps.Config.GuardOf(Guard{}, nil)).checkDishes(served, m.catalogue)
	if why.what == "" || why.rule == growthRule {
		return why, nil
	}
	stored, err := p.target.store.Versions(ctx, p.target.ID)
	if err != nil && !errors.Is(err, cache.ErrNoCatalogue) {
		return refusal{}, err
	}
	content := m.published.Content
	for _, v := range stored {
		if v.Bytes == len(content) && v.Content == menu.ContentHash(content, *cmp.Or(v.Settings, &st.use)) {
			return refusal{}, nil
		}
	}
	return why, nil
}

// served returns the served menu with the settings of the run. Errors: cache.ErrNoCatalogue, cache.ErrCorrupt,
// redisdb.ErrUnavailable.
func (p *pipelineRun) served(ctx context.Context, st state) (*menu.Catalogue, error) {
	hash, stops := st.current.Content, st.current.Stops
	if snapshot, ok := p.cached(); ok && snapshot.Version.Version >= st.current.Version {
		if menu.ContentHash(nil, snapshot.Catalogue.Settings()) == st.settings {
			return snapshot.Catalogue, nil
		}
		hash, stops = snapshot.Content, snapshot.Stops
	}
	content, err := p.target.store.Content(ctx, hash, &st.use)
	if err != nil {
		return nil, err
	}
	return content.WithStops(stops), nil
}

// The effects of a hold on a fetched content, as Redis stores them.
const (
	holdConfirms = "unchanged" // the service still publishes the content of the time of the rollback
	holdDelays   = "held"      // it publishes another content, which must wait
)

// holdEffect returns the effect of the hold on a fetched content. It returns "" if the content may
// be published, because there is no hold or because the content ends it (policy S7a).
func (st *state) holdEffect(content string) string {
	switch {
	case st.current.Held && st.current.Hold.Of == content:
		return holdConfirms
	case st.current.Held && st.current.Hold.Until == cache.HoldReleased:
		return holdDelays
	default:
		return ""
	}
}
