// Package menu is the restaurant menu as larder understands it: the menu view
// published by the ordering service, and the Catalogue compiled from it.
//
// Decode is tolerant, so that one odd value never costs a menu. Compile runs
// once per sync; a Catalogue never changes afterwards, so any number of
// goroutines may read it. The package does no I/O, reads no clock, logs nothing,
// starts no goroutine and imports nothing of the project but jsontext.
package menu

// RestaurantID names one restaurant, as the configuration and the ordering
// service's restaurantId parameter spell it.
type RestaurantID string

// Index is a dense position in one of a Content's tables: products,
// ingredients, groups or schemes. It has a meaning only within that Content.
type Index = int32

// None is the Index that points nowhere: a dish without scheme, a search
// without a next page.
const None Index = -1

// Settings are the policies' switches that lint and compile read.
type Settings struct {
	// MaxZeroNone reads maxCount 0 as "none allowed"; otherwise 0 means no
	// upper limit (policy M2, max_zero).
	MaxZeroNone bool
	// StopListAnyValue reads any non-empty stop list as stopped (policy W7).
	StopListAnyValue bool
	// RefuseMissingExternalID makes a dish without externalId not orderable
	// (policy O2, missing_external_id: refuse).
	RefuseMissingExternalID bool
	// MaxDepth is how many levels of modifiers a dish may have: 1 is its own
	// scheme alone (policy W15). Zero or less means DefaultMaxDepth.
	MaxDepth int
}

// DefaultMaxDepth is the nesting depth of policy W15.
const DefaultMaxDepth = 6

// DefaultSettings returns the documented defaults of the policies.
func DefaultSettings() Settings { return Settings{MaxDepth: DefaultMaxDepth} }

// depth is MaxDepth with its default filled in.
func (s Settings) depth() int {
	if s.MaxDepth <= 0 {
		return DefaultMaxDepth
	}
	return s.MaxDepth
}
