package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9/logging"

	"larder.local/internal/testkit/doctest"
)

// built is the path of the measured larder, which TestMain builds.
var built string

func TestMain(m *testing.M) {
	logging.Disable()
	dir, err := buildLarder()
	if err != nil {
		_, _ = os.Stderr.WriteString(err.Error() + "\n")
		os.Exit(1)
	}
	built = filepath.Join(dir, "larder")
	status := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(status)
}

// buildLarder builds the release binary in a new folder.
func buildLarder() (dir string, err error) {
	if dir, err = os.MkdirTemp("", "larder-bench-test-"); err != nil {
		return "", err
	}
	build := exec.Command("go", "build", "-buildvcs=false", "-trimpath", "-tags", "nomsgpack", "-ldflags", "-s -w", "-o", filepath.Join(dir, "larder"), "./cmd/larder") //nolint:noctx // the go command ends by itself
	build.Dir = filepath.Join("..", "..")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if output, err := build.CombinedOutput(); err != nil {
		return "", errors.Join(fmt.Errorf("build larder: %w\n%s", err, output), os.RemoveAll(dir))
	}
	return dir, nil
}

// outcome is the result of a command line.
type outcome struct {
	status   int
	out, err string
}

// bench runs a command line with the built larder.
func bench(t *testing.T, args ...string) outcome {
	t.Helper()
	var out, errOut bytes.Buffer
	status := run(t.Context(), append(args, "--larder", built), &out, &errOut)
	return outcome{status, out.String(), errOut.String()}
}

// write writes a file in a temporary folder of the test.
func write(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestRunSaysWhatIsWrongWithTheCommandLine(t *testing.T) {
	t.Parallel()
	for line, says := range map[string]string{
		"":               "missing subcommand: scale, restaurants, soak, peers, orders, instances or compare",
		"scael":          `unknown command "scael"`,
		"soak now":       `unknown command "now"`,
		"soak --long":    "unknown flag: --long",
		"scale --out":    "flag needs an argument",
		"soak --for=abc": "invalid argument",
	} {
		var out, errOut bytes.Buffer
		status := run(t.Context(), strings.Fields(line), &out, &errOut)
		if status != statusUsage || !strings.Contains(errOut.String(), says) || out.Len() > 0 {
			t.Errorf("larder-bench %s: %d, %q, %q; want 2 and %q", line, status, out.String(), errOut.String(), says)
		}
	}
}

func TestALarderThatIsNotThereIsNamed(t *testing.T) {
	t.Parallel()
	for _, command := range []string{"scale", "restaurants", "soak", "peers", "orders", "instances"} {
		var out, errOut bytes.Buffer
		status := run(t.Context(), []string{command, "--larder", "nowhere/larder"}, &out, &errOut)
		if status != statusFailed || !strings.Contains(errOut.String(), "--larder: stat nowhere/larder") || !strings.Contains(errOut.String(), "make build") {
			t.Errorf("%s: %d, %q", command, status, errOut.String())
		}
	}
}

// TestCommandsInPages: the commands in pages (`larder-bench soak --for 10m`) exist.
func TestCommandsInPages(t *testing.T) {
	t.Parallel()
	pages, err := doctest.Find(filepath.Join("..", ".."), "README.md", "CHANGELOG.md", "docs")
	if err != nil {
		t.Fatal(err)
	}
	flagForm := regexp.MustCompile(`^--([a-z-]+)`)
	seen := 0
	for _, page := range pages {
		for _, span := range page.Spans() {
			words := strings.Fields(span)
			if len(words) < 2 || filepath.Base(words[0]) != "larder-bench" {
				continue
			}
			seen++
			cmd, rest, err := newRoot().Find(words[1:])
			if err != nil {
				t.Fatal(err)
			}
			cmd.InitDefaultHelpFlag()
			for i, word := range rest {
				name := flagForm.FindStringSubmatch(word)
				switch {
				case name != nil && cmd.Flags().Lookup(name[1]) == nil:
					t.Errorf("%s: `%s`: %s has no --%s", page.Path, span, cmd.CommandPath(), name[1])
				case name == nil && i == 0:
					t.Errorf("%s: `%s`: %s has no %s", page.Path, span, cmd.CommandPath(), word)
				}
			}
		}
	}
	if least := 8; seen < least {
		t.Errorf("%d commands found, want %d at least", seen, least)
	}
}
