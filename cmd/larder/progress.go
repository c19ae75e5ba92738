package main

import (
	"fmt"
	"time"

	"github.com/schollz/progressbar/v3"

	menusync "larder/sync"
)

// progress shows how far a sync of many restaurants is: a bar on a terminal, else
// a line for each tenth. With quiet it shows nothing.
type progress struct {
	w     *world
	quiet bool
	total int
	begun time.Time
	tenth int // the last one shown
	bar   *progressbar.ProgressBar
}

func newProgress(w *world, total int, quiet bool) *progress {
	p := &progress{w: w, quiet: quiet, total: total, begun: time.Now()}
	if w.terminal && !w.dumb() && !quiet {
		p.bar = progressbar.NewOptions(total,
			progressbar.OptionSetWriter(w.err.raw), progressbar.OptionSetDescription("syncing"),
			progressbar.OptionShowCount(), progressbar.OptionShowIts(), progressbar.OptionSetPredictTime(true),
			progressbar.OptionSetRenderBlankState(true), progressbar.OptionClearOnFinish(), progressbar.OptionFullWidth())
	}
	return p
}

// show shows how many are done, and how many of these failed.
func (p *progress) show(done, failed int) {
	tenth := 10 * done / p.total
	switch {
	case p.quiet:
	case p.bar != nil:
		if failed > 0 {
			p.bar.Describe(fmt.Sprintf("syncing, %d failed", failed))
		}
		_ = p.bar.Set(done) // a terminal that is gone changes nothing
	case tenth > p.tenth:
		p.tenth = tenth
		p.w.err.printf("%d of %d done, %d failed%s\n", done, p.total, failed, remaining(done, p.total, time.Since(p.begun)))
	}
}

// remaining estimates from the mean pace so far how long the rest of a batch
// takes: ", 35/s, 5s left". It leaves a pace below one a second out, and is ""
// while nothing is done and when all is.
func remaining(done, total int, passed time.Duration) string {
	if done <= 0 || done >= total || passed <= 0 {
		return ""
	}
	pace := float64(done) / passed.Seconds()
	rest := time.Duration(float64(total-done) / pace * float64(time.Second))
	if pace < 1 {
		return fmt.Sprintf(", %v left", rest.Round(time.Second))
	}
	return fmt.Sprintf(", %.0f/s, %v left", pace, rest.Round(time.Second))
}

// stop removes the bar.
func (p *progress) stop() {
	if p.bar != nil {
		_ = p.bar.Clear()
	}
}

// runLine is a run on one line, with the restaurant's name where it is given
// and says more than the id.
func runLine(run menusync.Run, name string) string {
	line := string(run.Restaurant)
	if name != "" && name != line {
		line += " " + name
	}
	line += "  " + string(run.Outcome)
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
