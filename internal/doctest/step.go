package doctest

import (
	"fmt"
	"regexp"
	"strconv"
)

// Step is something that a page shows being done.
type Step struct {
	// Line of the page, counted from 1.
	Line int
	// NotRun is the reason why it cannot be run, in the page's own word; empty
	// where it can.
	NotRun string

	script  string // of a command
	status  int    // that the command ends with
	request string // of an exchange
	answer  *block // what comes; nil where the page does not say
}

var requestForm = regexp.MustCompile(`^[A-Z]+ \S+`)

// Steps are what the page shows being done, in its order. The error names a
// block that would be passed over: a command in a language other than sh, an
// answer without its request.
func (p *Page) Steps() ([]Step, error) {
	var steps []Step
	for i := range p.blocks {
		b := &p.blocks[i]
		switch {
		case b.language == "sh":
			step := Step{Line: b.line(), script: b.text}
			if next := p.following(i); next != nil && (next.language == "text" || next.language == "json") {
				step.answer = next
			}
			if err := step.marked(b); err != nil {
				return nil, fmt.Errorf("%s:%d: %w", p.Path, b.line(), err)
			}
			steps = append(steps, step)
		case b.language == "http" && isAnswer(b):
			last := len(steps) - 1
			if last < 0 || steps[last].request == "" || steps[last].answer != nil {
				return nil, fmt.Errorf("%s:%d: an answer without its request before it", p.Path, b.line())
			}
			steps[last].answer = b
		case b.language == "http" && requestForm.MatchString(b.text):
			step := Step{Line: b.line(), request: b.text}
			if err := step.marked(b); err != nil {
				return nil, fmt.Errorf("%s:%d: %w", p.Path, b.line(), err)
			}
			steps = append(steps, step)
		case b.language == "http":
			return nil, fmt.Errorf("%s:%d: neither a request (GET /path) nor an answer (HTTP/1.1 200 OK)", p.Path, b.line())
		case b.language == "bash" || b.language == "shell" || b.language == "console":
			return nil, fmt.Errorf("%s:%d: write commands in ```sh, without prompts: those are run", p.Path, b.line())
		case b.mark != "":
			return nil, fmt.Errorf("%s:%d: only blocks of sh and http are run; leave out %q", p.Path, b.line(), b.mark)
		}
	}
	return steps, nil
}

// following is the block behind the i-th one where nothing but empty lines
// stands between them.
func (p *Page) following(i int) *block {
	if i+1 == len(p.blocks) {
		return nil
	}
	next := &p.blocks[i+1]
	for _, line := range p.lines[p.blocks[i].to+1 : next.from-1] {
		if line != "" {
			return nil
		}
	}
	return next
}

func (s *Step) marked(b *block) error {
	switch b.mark {
	case "not run":
		s.NotRun = b.value
	case "status":
		status, err := strconv.Atoi(b.value)
		if err != nil || s.script == "" {
			return fmt.Errorf("%q is no status of a command", b.value)
		}
		s.status = status
	}
	return nil
}

func isAnswer(b *block) bool { return len(b.text) > 5 && b.text[:5] == "HTTP/" }
