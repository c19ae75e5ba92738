// Package menu is the domain model: the menu view that the ordering service publishes,
// and the Catalogue compiled from it, with lint, diff, search and the storefront JSON.
//
// Its invariant: a Catalogue never changes, so any number of goroutines may read it. Decode is tolerant: one wrong
// value never costs a menu. sync compiles a menu once per fetch; cache, ordering and httpapi read it. The package does
// no I/O, reads no clock, logs nothing, starts no goroutine and imports nothing of the project but jsontext.
package menu

// RestaurantID is the id of a restaurant in the configuration and in the ordering service's parameter restaurantId.
type RestaurantID string

// Index is a position in one of a Content's tables: products, ingredients, groups or schemes. It is
// valid only for that Content.
type Index = int32

// None is the Index of nothing, for example for a dish without scheme.
const None Index = -1

// Settings are the settings of the policies that lint and compile use.
type Settings struct {
	// MaxZeroNone means that maxCount 0 allows no items; otherwise it means no maximum (policy M2, max_zero).
	MaxZeroNone bool
	// StopListAnyValue counts any non-empty stop list as stopped (policy W7).
	StopListAnyValue bool
	// RefuseMissingExternalID makes dishes without externalId not orderable (policy O2, missing_external_id: refuse).
	RefuseMissingExternalID bool
	// MaxDepth is the maximum number of modifier levels of a dish; 1 allows only its own scheme
	// (policy W15). Zero or less means DefaultMaxDepth.
	MaxDepth int
}

// DefaultMaxDepth is the nesting depth of policy W15.
const DefaultMaxDepth = 6

// DefaultSettings returns the defaults that policies.md documents.
func DefaultSettings() Settings { return Settings{MaxDepth: DefaultMaxDepth} }

func (s Settings) depth() int {
	if s.MaxDepth <= 0 {
		return DefaultMaxDepth
	}
	return s.MaxDepth
}
