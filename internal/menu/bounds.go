package menu

import "fmt"

// The limits of a menu view beside its bytes (policy W15). Each is far above
// what a menu of 64 MiB with ids and names holds; without them a body of a few
// MiB could ask for gigabytes.
const (
	// maxElements bounds the elements of all lists of a view together: the
	// five of the view, a scheme's groups, a group's ingredients.
	maxElements = 1_000_000
	// maxOffers bounds the work and the answers that schemes multiply: each
	// group of each scheme with its ingredients, and each dish with its groups.
	maxOffers = 5_000_000
	// maxIssues bounds what Decode notes; those beyond are counted.
	maxIssues = 200_000
)

// LimitError says that a menu view holds more than larder takes (policy W15).
type LimitError struct {
	What  string // "elements", or what else there is too much of
	Limit int
}

// Error names the limit.
func (e *LimitError) Error() string {
	return fmt.Sprintf("the menu view is too large: more than %d %s", e.Limit, e.What)
}

// checkLimits refuses a view that holds more than larder takes.
func (d *decoder) checkLimits() error {
	if d.elementCount > maxElements {
		return &LimitError{What: "elements in its lists", Limit: maxElements}
	}
	if d.view.offers() > maxOffers {
		return &LimitError{What: "ingredients offered by its schemes' groups", Limit: maxOffers}
	}
	return nil
}

// offers counts what the schemes multiply, duplicates included.
func (v *View) offers() int {
	members := make(map[string]int, len(v.Groups))
	for i := range v.Groups {
		members[v.Groups[i].ID] += len(v.Groups[i].Ingredients)
	}
	total := 0
	groups := make(map[string]int, len(v.Schemes))
	for i := range v.Schemes {
		groups[v.Schemes[i].ID] += len(v.Schemes[i].Groups)
		for _, limit := range v.Schemes[i].Groups {
			total += 1 + members[limit.GroupID]
		}
	}
	for i := range v.Products {
		total += groups[v.Products[i].SchemeID]
	}
	return total
}
