package compare

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// becomes is the line between what the old build and what the new one did.
const becomes = "\n=>\n"

// Without removes what the patterns match from all differences, and returns the report of
// those that are left. A pattern may match a whole difference, with both sides.
func (r Report) Without(decided []*regexp.Regexp) Report {
	var open []Difference
	for _, d := range r.Differences {
		text := d.Old + becomes + d.New
		for _, pattern := range decided {
			text = pattern.ReplaceAllString(text, "")
		}
		if d.Old, d.New, _ = strings.Cut(text, becomes); !same(d.Old, d.New) {
			open = append(open, d)
		}
	}
	r.Differences = open
	return r
}

// shown is how many differences the text of a report has.
const shown = 20

// Text returns the report for a terminal.
func (r Report) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d orders and changes (%d calls to the ordering service), %d menus, %d configurations\nstatuses:", r.Orders, r.Calls, r.Menus, r.Configs)
	for _, status := range slices.Sorted(maps.Keys(r.Statuses)) {
		fmt.Fprintf(&b, " %d × %d", r.Statuses[status], status)
	}
	fmt.Fprintf(&b, "\ndifferences: %d\n", len(r.Differences))
	for _, d := range r.Differences[:min(shown, len(r.Differences))] {
		before, after := around(d.Old, d.New)
		fmt.Fprintf(&b, "\n%s\n  old: %s\n  new: %s\n", d.Where, before, after)
	}
	return b.String()
}

// part is how much text is shown before and after the first difference.
const part = 300

// around returns the parts of two texts where they differ first. Times count only if
// nothing else differs.
func around(a, b string) (string, string) {
	if x, y := times.ReplaceAllString(a, "TIME"), times.ReplaceAllString(b, "TIME"); x != y {
		a, b = x, y
	}
	i := 0
	for i < min(len(a), len(b)) && a[i] == b[i] {
		i++
	}
	cut := func(s string) string {
		return fmt.Sprintf("%q", s[max(0, i-part):min(len(s), i+part)])
	}
	return cut(a), cut(b)
}
