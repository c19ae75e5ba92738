package menu

import "fmt"

// The limits of a menu view, besides its size (policy W15). Each is far above the needs of a menu
// of 64 MiB; without them a body of a few MiB could require gigabytes.
const (
	// maxElements limits the elements of all lists of a view together: its five lists, the groups
	// of schemes, and the ingredients of groups.
	maxElements = 1_000_000
	// maxOffers limits the work and the responses that schemes multiply: each group of each scheme
	// with its ingredients, and each dish with its groups.
	maxOffers = 5_000_000
	// maxIssues is the maximum number of issues that Decode keeps; further ones are only counted.
	maxIssues = 50_000
)

// LimitError reports that a menu view exceeds a limit (policy W15).
type LimitError struct {
	what  string // what there is too much of, for example "elements"
	limit int
}

func (e *LimitError) Error() string {
	return fmt.Sprintf("the menu view is too large: more than %d %s", e.limit, e.what)
}

func (d *decoder) checkLimits() error {
	if d.elementCount > maxElements {
		return &LimitError{what: "elements in its lists", limit: maxElements}
	}
	if d.view.offers() > maxOffers {
		return &LimitError{what: "ingredients offered by its schemes' groups", limit: maxOffers}
	}
	return nil
}

// offers counts what the schemes multiply, including duplicates.
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
