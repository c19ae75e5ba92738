package sync

import (
	"time"

	"larder/internal/menu"
	"larder/sync/runlog"
)

// built is a compiled menu.
type built struct {
	view      *menu.View
	published menu.Published
	hash      string // of its content, without stop lists
	catalogue *menu.Catalogue
}

// build compiles and lints a menu for publishing.
func (p *pipelineRun) build(view *menu.View, published menu.Published) (built, []menu.Finding) {
	began := time.Now()
	m := p.compile(view, published)
	p.run.Steps.Compile = since(began)
	began = time.Now()
	findings := menu.LintCompiled(view, m.catalogue)
	p.run.Steps.Lint = since(began)
	p.run.Findings, p.run.Products = len(findings), m.catalogue.ProductCount()
	if findings == nil {
		findings = []menu.Finding{}
	}
	return m, findings
}

// compile makes the catalogue. Where only the stop lists moved, the compiled
// content that is served now gets a new overlay.
func (p *pipelineRun) compile(view *menu.View, published menu.Published) built {
	m := built{view: view, published: published, hash: menu.ContentHash(published.Content, p.target.Settings)}
	if snapshot, ok := p.runner.replica.Cached(p.target.ID); ok && snapshot.Content == m.hash {
		m.catalogue = snapshot.Catalogue.Content.Catalogue(view.Stops(p.target.ID, p.target.Settings))
		return m
	}
	m.catalogue = menu.Compile(view, p.target.ID, p.target.Settings)
	return m
}

// productCount counts the products that compile keeps: each id once.
func productCount(v *menu.View) int {
	seen := make(map[string]struct{}, len(v.Products))
	for i := range v.Products {
		if id := v.Products[i].ID; id != "" {
			seen[id] = struct{}{}
		}
	}
	return len(seen)
}

// changes counts products, each once.
func changes(before, after *menu.Catalogue) runlog.Changes {
	if before == nil {
		return runlog.Changes{}
	}
	diff := menu.Diff(before, after)
	changed := make(map[string]struct{}, len(diff.Changed)+len(diff.Availability))
	for _, c := range diff.Changed {
		changed[c.ID] = struct{}{}
	}
	for _, a := range diff.Availability {
		changed[a.ID] = struct{}{}
	}
	return runlog.Changes{Added: len(diff.Added), Removed: len(diff.Removed), Changed: len(changed)}
}
