package sync

import (
	"time"

	"larder.local/internal/menu"
)

type built struct {
	view      *menu.View
	published menu.Published
	hash      string // of the content, without stop lists
	catalogue *menu.Catalogue
	findings  []menu.Finding  // not nil
	before    *menu.Catalogue // the current version's catalogue if it is in memory, else nil
}

// build compiles and lints a menu. If only the stop lists changed, it applies them to the compiled content in memory.
func (p *pipelineRun) build(st state, view *menu.View, published menu.Published) built {
	began := time.Now()
	m := built{view: view, published: published, hash: menu.ContentHash(published.Content, st.use)}
	snapshot, ok := p.cached()
	if ok && snapshot.Content == m.hash && menu.ContentHash(nil, snapshot.Catalogue.Settings()) == st.settings {
		m.catalogue = snapshot.Catalogue.Content.WithStops(view.Stops(p.target.ID, st.use))
	} else {
		m.catalogue = menu.Compile(view, p.target.ID, st.use)
	}
	p.run.Steps.Compile = since(began)
	if ok && st.current.Version != 0 && snapshot.Version.Version == st.current.Version &&
		snapshot.Content == st.current.Content && menu.PublishedStops(snapshot.Catalogue).Equal(st.current.Stops) {
		m.before = menu.Unsnoozed(snapshot.Catalogue)
	}
	began = time.Now()
	m.findings = append([]menu.Finding{}, menu.LintCompiled(view, m.catalogue)...)
	p.run.Steps.Lint = since(began)
	p.run.Findings, p.run.Products = len(m.findings), m.catalogue.Products().Len()
	return m
}
