package doctest

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/textproto"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// stepLimit limits the time of one step.
const stepLimit = 30 * time.Second

// World is the environment of a page's steps.
type World struct {
	// Folder is where commands run; their PATH contains Commands.
	Folder string
	// Addresses maps the addresses on pages to the real ones. Requests without a
	// Host go to the first, "127.0.0.1:8080".
	Addresses [][2]string
	// Commands maps the names of programs on pages to a line of sh that ends in the
	// program's arguments: `exec redis-cli -p 4711 "$@"`.
	Commands map[string]string
	// Texts maps words of commands to their replacements.
	Texts [][2]string
	// Env is added to the environment of commands.
	Env []string
	// Token returns a bearer token for a client of the configuration. Requests name
	// the client as `Bearer {client}`.
	Token func(ctx context.Context, client string) (string, error)

	here, back *strings.Replacer // replaces the page's words, and restores them in results
	answered   map[string]string // fields of earlier answers
}

// Run executes the page's steps in order. It fails the test for each result that
// differs from the page. Steps that cannot run are skipped if known contains their
// reason.
func (p *Page) Run(tb testing.TB, w *World, known map[string]string) {
	tb.Helper()
	steps, err := p.Steps()
	if err != nil {
		tb.Fatal(err)
	}
	w.open(tb)
	for _, step := range steps {
		if step.NotRun != "" {
			if known[step.NotRun] == "" {
				tb.Errorf("%s:%d: not run for %q, which is no reason that the test knows", p.Path, step.Line, step.NotRun)
			}
			continue
		}
		do := w.command
		if step.request != "" {
			do = w.exchange
		}
		ctx, cancel := context.WithTimeout(tb.Context(), stepLimit)
		if wrong := do(ctx, &step); wrong != "" {
			tb.Errorf("%s:%d: %s\n%s%s", p.Path, step.Line, wrong, step.script, step.request)
		}
		cancel()
	}
}

// open prepares the replacements and the programs.
func (w *World) open(tb testing.TB) {
	tb.Helper()
	var here, back []string
	for _, pair := range append(append([][2]string{}, w.Texts...), w.Addresses...) {
		here = append(here, pair[0], pair[1])
	}
	for _, pair := range w.Addresses {
		back = append(back, pair[1], pair[0])
	}
	w.here, w.back = strings.NewReplacer(here...), strings.NewReplacer(back...)
	w.answered = map[string]string{}
	programs := tb.TempDir()
	for name, line := range w.Commands {
		script := "#!/bin/sh\n" + line + "\n"
		if err := os.WriteFile(filepath.Join(programs, name), []byte(script), 0o700); err != nil {
			tb.Fatal(err)
		}
	}
	w.Env = append(append(os.Environ(), w.Env...), "PATH="+programs+string(os.PathListSeparator)+os.Getenv("PATH"))
}

// command runs the step's script and returns how the result differs from the page.
func (w *World) command(ctx context.Context, s *Step) string {
	shell := exec.CommandContext(ctx, "sh", "-e", "-c", w.here.Replace(s.script))
	shell.Dir, shell.Env, shell.WaitDelay = w.Folder, w.Env, time.Second
	var stdout, stderr bytes.Buffer
	shell.Stdout, shell.Stderr = &stdout, &stderr
	err := shell.Run()
	_, ended := errors.AsType[*exec.ExitError](err)
	if err != nil && !ended || shell.ProcessState.ExitCode() != s.status {
		return fmt.Sprintf("ends with %v, the page has status %d\n%s%s", err, s.status, stdout.String(), stderr.String())
	}
	if s.answer == nil {
		return ""
	}
	return match(s.answer.text, w.back.Replace(stdout.String()), s.answer.language == "json")
}

// reference is a placeholder in a request, for a field of an earlier answer
// (`{ref}`, `{orderID}`), or for a client's token.
var reference = regexp.MustCompile(`\{[A-Za-z]+\}`)

// exchange sends the step's request and returns how the answer differs from the
// page's.
func (w *World) exchange(ctx context.Context, s *Step) string {
	request, err := w.request(ctx, s.request)
	if err != nil {
		return err.Error()
	}
	response, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(request)
	if err != nil {
		return err.Error()
	}
	raw, err := io.ReadAll(response.Body)
	if closed := response.Body.Close(); err != nil || closed != nil {
		return fmt.Sprint(err, closed)
	}
	body := w.back.Replace(string(raw))
	w.remember(body)
	if s.answer == nil {
		if response.StatusCode/100 != 2 {
			return fmt.Sprintf("answered with %s\n%s", response.Status, body)
		}
		return ""
	}
	head, want, _ := strings.Cut(strings.TrimRight(s.answer.text, "\n"), "\n\n")
	line, fields, _ := strings.Cut(head, "\n")
	var wrong []string
	if got := response.Proto + " " + response.Status; got != strings.TrimSpace(line) {
		wrong = append(wrong, fmt.Sprintf("answered with %s, the page has %s", got, line))
	}
	for field := range strings.Lines(fields) {
		key, value, _ := strings.Cut(strings.TrimSpace(field), ": ")
		if got := strings.Join(response.Header.Values(key), ", "); match(value, got, false) != "" {
			wrong = append(wrong, fmt.Sprintf("%s: %q, the page has %q", key, got, value))
		}
	}
	if want != anything {
		if differs := match(want, body, strings.HasPrefix(want, "{") || strings.HasPrefix(want, "[")); differs != "" {
			wrong = append(wrong, differs)
		}
	}
	return strings.Join(wrong, "\n")
}

// request parses the request of a block: a request line, headers, and a body after
// an empty line.
func (w *World) request(ctx context.Context, block string) (*http.Request, error) {
	var failed error
	text := reference.ReplaceAllStringFunc(block, func(word string) string {
		name := strings.Trim(word, "{}")
		if value, known := w.answered[name]; known {
			return value
		}
		token, err := w.Token(ctx, name)
		if err != nil {
			failed = fmt.Errorf("%s stands for nothing that was answered before, nor for a client: %w", word, err)
		}
		return token
	})
	if failed != nil {
		return nil, failed
	}
	head, body, _ := strings.Cut(strings.TrimRight(text, "\n"), "\n\n")
	line, fields, _ := strings.Cut(head, "\n")
	words := strings.Fields(line)
	header, err := textproto.NewReader(bufio.NewReader(strings.NewReader(fields + "\n\n"))).ReadMIMEHeader()
	if err != nil {
		return nil, fmt.Errorf("the request's headers: %w", err)
	}
	host := w.Addresses[0][0]
	if named := header.Get("Host"); named != "" {
		host = named
	}
	request, err := http.NewRequestWithContext(ctx, words[0], "http://"+w.here.Replace(host)+words[1], strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	header.Del("Host")
	request.Header.Set("Accept-Encoding", "identity")
	maps.Copy(request.Header, header)
	return request, nil
}

// remember keeps the fields of an answer, or of its result, for later requests.
func (w *World) remember(body string) {
	var fields map[string]any
	if json.Unmarshal([]byte(body), &fields) != nil {
		return // not an object: there are no fields
	}
	if result, ok := fields["result"].(map[string]any); ok {
		fields = result
	}
	for field, value := range fields {
		switch value.(type) {
		case string, float64:
			w.answered[field] = fmt.Sprint(value)
		}
	}
}
