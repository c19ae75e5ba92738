package sync

import "cmp"

// sameness is how a fetched menu was found equal to the served one; empty if it was not.
type sameness string

// The ways to find that a menu is unchanged, the cheapest first.
const (
	sameValidator sameness = "validator" // the service answered 304 Not Modified
	sameBody      sameness = "hash"      // the body equals that of the last fetch
	sameContent   sameness = "content"   // it compiles to the served content
)

// isComparable reports whether an equal body means an equal menu: the current version came from the
// last fetch, with the same settings and name and under the same hold; the run is not forced; and Redis has its content and is
// not behind the served version (policy S2).
func (st *state) isComparable() bool {
	return !st.force && !st.contentLost && st.current.Version > 0 && st.last.Version == st.current.Version &&
		st.floor <= st.current.Version && st.last.Settings == st.settings && st.current.Name == cmp.Or(st.name, st.current.Name) &&
		(st.last.HoldEffect != "") == st.current.Held
}

// unchanged reports how the fetched menu was found equal to the served one (policies S2, S3). A run
// calls it after the fetch with a nil m, and again with the compiled menu.
func (st *state) unchanged(f fetched, m *built) sameness {
	switch {
	case f.answer.NotModified:
		return sameValidator
	case st.comparable && f.now.BodyHash == st.last.BodyHash:
		return sameBody
	case m != nil && st.serves(*m, f.now):
		return sameContent
	default:
		return ""
	}
}

// serves reports whether the compiled menu is the served one and needs no publication (policy S3).
func (st *state) serves(m built, now lastFetch) bool {
	return !st.force && !st.lifts(now) && st.current.Content == m.hash && st.current.Stops.Equal(m.catalogue.Stops()) &&
		st.current.Name == cmp.Or(st.name, m.view.Name) && st.floor <= st.current.Version
}

// lifts reports whether publishing the fetched menu ends the hold.
func (st *state) lifts(now lastFetch) bool { return st.current.Held && now.HoldEffect == "" }
