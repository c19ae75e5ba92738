package sync

import "cmp"

// sameness is what shows that a fetched menu is the one that is served; empty if
// it is not.
type sameness string

// The ways to find that a menu is unchanged, the cheapest first.
const (
	sameValidator sameness = "validator" // the service answered 304 Not Modified
	sameBody      sameness = "hash"      // the body is that of the last fetch
	sameContent   sameness = "content"   // it compiles to the content that is served
)

// unchanged decides whether a fetched menu is the one that is served, and by what
// (policies S2, S3). A run asks it after the fetch, when m is nil, and again with
// the compiled menu.
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

// serves reports whether the compiled menu is the one that is served, and may
// stay so (policy S3).
func (p *pipelineRun) serves(m built, now lastFetch) bool {
	return !p.run.Force && !p.lifts(now) && p.current.Content == m.hash && p.current.Stops.Equal(m.catalogue.Stops()) &&
		p.current.Name == cmp.Or(p.target.Name, m.view.Name) && p.floor <= p.current.Version
}

// lifts reports whether publishing what was pulled ends the hold.
func (p *pipelineRun) lifts(now lastFetch) bool { return p.current.Held && now.HoldOutcome == "" }
