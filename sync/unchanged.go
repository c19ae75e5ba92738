package sync

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
	case f.comparable && f.now.BodyHash == p.lastFetch.BodyHash:
		return sameBody
	case m != nil && p.serves(*m, f.now):
		return sameContent
	default:
		return ""
	}
}

// mayAssumeUnchanged reports whether an equal body means an equal menu: the current
// version came from the last pull, with the same settings and name and under the
// same hold, nobody forces, and Redis has its content and is not behind what was
// served (policy S2).
func (p *pipelineRun) mayAssumeUnchanged() bool {
	return !p.run.Force && !p.contentLost && p.current.Version > 0 && p.lastFetch.Version == p.current.Version &&
		p.floor <= p.current.Version && p.lastFetch.Settings == p.fingerprint() && p.current.Name == p.name(p.current.Name) &&
		(p.lastFetch.HoldOutcome != "") == p.current.Held
}

// serves reports whether the compiled menu is the one that is served, and may
// stay so (policy S3).
func (p *pipelineRun) serves(m built, now lastFetch) bool {
	return !p.run.Force && !p.lifts(now) && p.current.Content == m.hash && p.current.Stops.Equal(m.catalogue.Stops()) &&
		p.current.Name == p.name(m.view.Name) && p.floor <= p.current.Version
}
