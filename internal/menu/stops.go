package menu

import (
	"slices"
	"time"
)

// Stops are the stopped ids of one restaurant, sorted. They are the difference between restaurants
// that share a Content.
type Stops struct {
	Products    []string `json:"products"`
	Ingredients []string `json:"ingredients"`
}

// Equal reports whether both stop the same dishes and ingredients.
func (s Stops) Equal(other Stops) bool {
	return slices.Equal(s.Products, other.Products) && slices.Equal(s.Ingredients, other.Ingredients)
}

// ChangedIDs returns the dishes and ingredients that are stopped in only one of the two, with their
// availability in after, sorted by id.
func (s Stops) ChangedIDs(after Stops) (products, ingredients []Availability) {
	return changedIDs(s.Products, after.Products), changedIDs(s.Ingredients, after.Ingredients)
}

// changedIDs compares two sorted lists of stopped ids.
func changedIDs(before, after []string) []Availability {
	all := []Availability{}
	for _, id := range slices.Compact(slices.Sorted(slices.Values(slices.Concat(before, after)))) {
		_, was := slices.BinarySearch(before, id)
		if _, is := slices.BinarySearch(after, id); is != was {
			all = append(all, Availability{ID: id, Available: was})
		}
	}
	return all
}

// Stops returns the stop lists of the view for one restaurant (policy W7). If an id has several
// definitions, the first one counts, as in Compile.
func (v *View) Stops(restaurant RestaurantID, s Settings) Stops {
	return Stops{Products: stopped(v.Products, restaurant, s), Ingredients: stopped(v.Ingredients, restaurant, s)}
}

// stopped returns the sorted ids whose first definition is stopped.
func stopped(all []Product, restaurant RestaurantID, s Settings) (ids []string) {
	seen := newIndex(len(all))
	for i := range all {
		id := all[i].ID
		_, again := seen.add(id, Index(i), func(at Index) string { return all[at].ID })
		if id != "" && !again && all[i].Stop.stoppedFor(restaurant, s.StopListAnyValue) {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

// WithStops returns the catalogue of one restaurant: the content with the restaurant's stop lists. Ids that the content
// does not have are ignored. O(products + depth × ingredients offered by the schemes). The catalogue takes a few
// hundred bytes in addition to the content and the stops, whose strings are parts of the content.
func (c *Content) WithStops(stops Stops) *Catalogue {
	cat := &Catalogue{
		Content:           c,
		stopped:           newFlags(c.products.Len()),
		ingredientStopped: newFlags(c.ingredients.Len()),
		orderable:         newFlags(c.products.Len()),
	}
	cat.stops.Products = stopItems(&c.products, stops.Products, cat.stopped)
	cat.stops.Ingredients = stopItems(&c.ingredients, stops.Ingredients, cat.ingredientStopped)
	excluded := slices.Clone(c.ingredientInvalid)
	for i, stopped := range cat.ingredientStopped {
		excluded[i] |= stopped
	}
	cat.unsatisfied, cat.tooDeep = c.unsatisfiable(excluded), c.schemesTooDeep(excluded)
	cat.counts = Counts{Categories: len(c.categories), Products: c.products.Len()}
	for i, p := range c.products.All() {
		if cat.stopped.has(i) {
			continue
		}
		cat.counts.Available++
		s := c.productScheme[i]
		if p.PriceInvalid() || c.products.unknownToPOS(i, c.settings) || len(cat.unsatisfied[s]) > 0 || cat.tooDeep[s] {
			continue
		}
		cat.orderable.set(i)
		cat.counts.Orderable++
	}
	return cat
}

// Snoozes are the dishes and ingredients that operators have taken off a menu.
type Snoozes struct {
	until     map[string]time.Time // their return, by id; zero if it is not known
	published Stops                // without them
}

// WithSnoozed returns the catalogue while operators have taken dishes and ingredients off the menu: by id, with the time of
// their return, zero if it is not known. What is stopped stays stopped. The caller must not change the map.
func WithSnoozed(c *Content, stops Stops, until map[string]time.Time) *Catalogue {
	if len(until) == 0 {
		return c.WithStops(stops)
	}
	cat := c.WithStops(Stops{plus(stops.Products, until, &c.products), plus(stops.Ingredients, until, &c.ingredients)})
	cat.Snoozes = &Snoozes{until, stops}
	return cat
}

// plus returns the stopped ids and those of until that the table has, sorted.
func plus(stopped []string, until map[string]time.Time, items *ItemTable) []string {
	all := slices.Clone(stopped)
	for id := range until {
		if _, ok := items.ByID(id); ok {
			all = append(all, id)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// All returns when the dishes and ingredients return, by id; zero if it is not known. nil has none. The caller must not change
// the result.
func (s *Snoozes) All() map[string]time.Time {
	if s == nil {
		return nil
	}
	return s.until
}

// Returns returns when a dish or ingredient returns. It returns false if that is not known, or if it is also stopped.
func (s *Snoozes) Returns(id string) (at time.Time, known bool) {
	at = s.All()[id]
	if at.IsZero() {
		return at, false
	}
	_, product := slices.BinarySearch(s.published.Products, id)
	_, ingredient := slices.BinarySearch(s.published.Ingredients, id)
	return at, !product && !ingredient
}

// PublishedStops returns the stopped ids of a catalogue without snoozes.
func PublishedStops(c *Catalogue) Stops {
	if c.Snoozes == nil {
		return c.Stops()
	}
	return c.Snoozes.published
}

// Unsnoozed returns a catalogue as the ordering service published it.
func Unsnoozed(c *Catalogue) *Catalogue {
	if c.Snoozes == nil {
		return c
	}
	return c.Content.WithStops(c.Snoozes.published)
}

// stopItems sets the flags of the items with these ids. It returns the ids as strings of the table.
func stopItems(items *ItemTable, ids []string, stopped flags) []string {
	texts := slices.Clone(ids)
	for i, id := range texts {
		if at, ok := items.ByID(id); ok {
			stopped.set(at)
			texts[i] = items.At(at).ID()
		}
	}
	return texts
}

// flags is a bit set with a bit for each index of a table.
type flags []uint64

func newFlags(places int) flags { return make(flags, (places+63)/64) }

func (f flags) set(i Index) { f[i/64] |= 1 << (i % 64) }

func (f flags) has(i Index) bool { return f[i/64]>>(i%64)&1 != 0 }
