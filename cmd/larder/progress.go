package main

import (
	"fmt"
	"sync"

	"github.com/schollz/progressbar/v3"

	menusync "larder/sync"
)

// progress shows how a batch of runs goes: a bar on a terminal, a line for
// each run otherwise. With quiet it shows nothing.
type progress struct {
	w     *world
	quiet bool
	mu    sync.Mutex
	bar   *progressbar.ProgressBar
}

func newProgress(w *world, total int, quiet bool) *progress {
	p := &progress{w: w, quiet: quiet}
	if w.terminal && !quiet {
		p.bar = progressbar.NewOptions(total,
			progressbar.OptionSetWriter(w.err), progressbar.OptionSetDescription("syncing"),
			progressbar.OptionShowCount(), progressbar.OptionSetPredictTime(total > atOnce),
			progressbar.OptionSetRenderBlankState(true), progressbar.OptionClearOnFinish(), progressbar.OptionFullWidth())
	}
	return p
}

// done counts a run; it may be called from several goroutines.
func (p *progress) done(run menusync.Run) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.quiet:
	case p.bar != nil:
		_ = p.bar.Add(1) // a terminal that is gone changes nothing
	default:
		fmt.Fprintln(p.w.out, runLine(run))
	}
}

// end closes the bar; below it every run gets its line, in the order asked for.
func (p *progress) end(runs []menusync.Run) {
	if p.bar == nil {
		return
	}
	_ = p.bar.Finish()
	for _, run := range runs {
		fmt.Fprintln(p.w.out, runLine(run))
	}
}

// runLine is a run on one line.
func runLine(run menusync.Run) string {
	line := fmt.Sprintf("%s  %s", run.Restaurant, run.Outcome)
	if run.Version > 0 {
		line += fmt.Sprintf("  version %d", run.Version)
	}
	if run.Products > 0 {
		line += "  " + plural(run.Products, "product", "products")
	}
	if c := run.Changes; c != (menusync.Changes{}) {
		line += fmt.Sprintf("  +%d −%d ~%d", c.Added, c.Removed, c.Changed)
	}
	if run.Findings > 0 {
		line += "  " + plural(run.Findings, "lint finding", "lint findings")
	}
	if total := run.Steps.Fetch + run.Steps.Decode + run.Steps.Lint + run.Steps.Compile + run.Steps.Publish; total > 0 {
		line += fmt.Sprintf("  %.1f ms", total)
	}
	if run.Error != "" {
		line += "  " + run.Error
	}
	return line
}
