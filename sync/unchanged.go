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
// last fetch, with the same settings and name and under the same hold; the run is not forced and not the first one of
// its source; and Redis has its content and is not behind the served version (policy S2).
func (p *pipelineRun) isComparable() bool {
	return !p.run.Force && !p.target.fetchAll.Load() && !p.contentLost && p.current.Version > 0 && p.lastFetch.Version == p.current.Version &&
		p.floor <= p.current.Version && p.lastFetch.Settings == p.settings && p.current.Name == cmp.Or(p.name, p.current.Name) &&
		(p.lastFetch.HoldEffect != "") == p.current.Held
}

// unchanged reports how the fetched menu was found equal to the served one (policies S2, S3). A run
// calls it after the fetch with a nil m, and again with the compiled menu.
func (p *pipelineRun) unchanged(f fetched, m *built) sameness {
	switch {
	case f.answer.NotModified:
		return sameValidator
	case p.comparable && f.now.BodyHash == p.lastFetch.BodyHash:
		return sameBody
	case m != nil && p.serves(*m, f.now):
		return sameContent
	default:
		return ""
	}
}

// serves reports whether the compiled menu is the served one and needs no publication (policy S3).
func (p *pipelineRun) serves(m built, now lastFetch) bool {
	return !p.run.Force && !p.lifts(now) && p.current.Content == m.hash && p.current.Stops.Equal(m.catalogue.Stops()) &&
		p.current.Name == cmp.Or(p.name, m.view.Name) && p.floor <= p.current.Version
}

// lifts reports whether publishing the fetched menu ends the hold.
func (p *pipelineRun) lifts(now lastFetch) bool { return p.current.Held && now.HoldEffect == "" }
