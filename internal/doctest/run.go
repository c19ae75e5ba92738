package doctest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// stepLimit bounds one step.
const stepLimit = 30 * time.Second

// Run does the page's steps one after the other, and fails the test for each
// that does not come as the page says. Steps that cannot be run are passed over
// where known has their reason.
//
// With rewrite the page gets the `text` that its commands print now; then Run
// gives its whole new text, "" where nothing differs.
func (p *Page) Run(tb testing.TB, w *World, known map[string]string, rewrite bool) string {
	tb.Helper()
	steps, err := p.Steps()
	if err != nil {
		tb.Fatal(err)
	}
	if err := w.open(tb.TempDir()); err != nil {
		tb.Fatal(err)
	}
	printed := map[*block]string{}
	for _, step := range steps {
		if step.NotRun != "" {
			if known[step.NotRun] == "" {
				tb.Errorf("%s:%d: not run for %q, which is no reason that the test knows", p.Path, step.Line, step.NotRun)
			}
			continue
		}
		differs, now := step.do(tb.Context(), w)
		switch {
		case differs == "":
		case rewrite && now != "":
			printed[step.answer] = now
		default:
			tb.Errorf("%s:%d: %s\n%s%s", p.Path, step.Line, differs, step.script, step.request)
		}
	}
	if len(printed) == 0 {
		return ""
	}
	return p.write(printed)
}

// do does the step and tells how it differs from the page; now is what the
// page's text should be instead, where that can be told.
func (s *Step) do(ctx context.Context, w *World) (differs, now string) {
	ctx, cancel := context.WithTimeout(ctx, stepLimit)
	defer cancel()
	if s.request != "" {
		return s.exchange(ctx, w), ""
	}
	return s.command(ctx, w)
}

func (s *Step) command(ctx context.Context, w *World) (differs, now string) {
	shell := exec.CommandContext(ctx, "sh", "-e", "-c", w.here.Replace(s.script)) //nolint:gosec // the project's own pages
	shell.Dir, shell.Env, shell.WaitDelay = w.folder, w.Env, time.Second
	var stdout, stderr bytes.Buffer
	shell.Stdout, shell.Stderr = &stdout, &stderr
	err := shell.Run()
	if ended, ok := errors.AsType[*exec.ExitError](err); err != nil && (!ok || ended.ExitCode() != s.status) || err == nil && s.status != 0 {
		return fmt.Sprintf("ends with %v, the page has status %d\n%s%s", err, s.status, stdout.String(), stderr.String()), ""
	}
	if s.answer == nil {
		return "", ""
	}
	came := w.back.Replace(stdout.String())
	if s.answer.language == "json" {
		if differs := matchJSON([]byte(s.answer.text), []byte(came)); differs != "" {
			return differs + "\n" + came, ""
		}
		return "", ""
	}
	came = strings.TrimRight(came, "\n") + "\n"
	return matchText(s.answer.text, came), came
}
