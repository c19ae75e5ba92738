package deploy

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/moby/buildkit/frontend/dockerfile/instructions"
	"github.com/moby/buildkit/frontend/dockerfile/parser"
	"github.com/moby/patternmatcher"
	"github.com/moby/patternmatcher/ignorefile"
)

const root = "../.."

// stages parses the Dockerfile with BuildKit's parser.
func stages(t *testing.T) []instructions.Stage {
	t.Helper()
	file, err := os.Open(filepath.Join(root, "Dockerfile"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	parsed, err := parser.Parse(file)
	if err != nil {
		t.Fatal(err)
	}
	if len(parsed.Warnings) > 0 {
		t.Errorf("the Dockerfile: %v", parsed.Warnings)
	}
	stages, _, err := instructions.Parse(parsed.AST, nil)
	if err != nil {
		t.Fatal(err)
	}
	return stages
}

func TestDockerfile(t *testing.T) {
	t.Parallel()
	all := stages(t)
	if len(all) != 2 || all[1].BaseName != "scratch" {
		t.Fatalf("%d stages, the last from %s", len(all), all[len(all)-1].BaseName)
	}
	var said []string
	for _, command := range all[1].Commands {
		said = append(said, command.Name())
		switch c := command.(type) {
		case *instructions.UserCommand:
			if c.User != "65532:65532" {
				t.Errorf("USER %s is not a number, or root's", c.User)
			}
		case *instructions.HealthCheckCommand:
			if c.Health == nil || !slices.Equal(c.Health.Test, []string{"CMD", "/larder", "status"}) {
				t.Errorf("HEALTHCHECK %+v, and there is no shell", c.Health)
			}
		case *instructions.EntrypointCommand:
			if c.PrependShell {
				t.Error("ENTRYPOINT wants a shell, and there is none")
			}
		case *instructions.CmdCommand:
			if c.PrependShell {
				t.Error("CMD wants a shell, and there is none")
			}
		case *instructions.CopyCommand:
			for _, source := range c.SourcePaths {
				if c.From == "" && ignored(t, source) {
					t.Errorf("COPY %s: .dockerignore leaves it out", source)
				}
			}
		}
	}
	for _, needed := range []string{"USER", "HEALTHCHECK", "ENTRYPOINT", "CMD", "COPY"} {
		if !slices.ContainsFunc(said, func(name string) bool { return strings.EqualFold(name, needed) }) {
			t.Errorf("the image has no %s", needed)
		}
	}
}

// matcher returns the patterns of .dockerignore.
func matcher(t *testing.T) *patternmatcher.PatternMatcher {
	t.Helper()
	file, err := os.Open(filepath.Join(root, ".dockerignore"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	patterns, err := ignorefile.ReadAll(file)
	if err != nil {
		t.Fatal(err)
	}
	matcher, err := patternmatcher.New(patterns)
	if err != nil {
		t.Fatal(err)
	}
	return matcher
}

func ignored(t *testing.T, path string) bool {
	t.Helper()
	out, err := matcher(t).MatchesOrParentMatches(path)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestContext: the files that .dockerignore sends to the builder are all of larder,
// including embedded files, without tests and secrets.
func TestContext(t *testing.T) {
	t.Parallel()
	dir, leaves := t.TempDir(), matcher(t)
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		if err != nil || name == "." {
			return err
		}
		if entry.IsDir() && (name == ".git" || name == ".cache" || entry.Name() == "node_modules") {
			return fs.SkipDir
		}
		out, err := leaves.MatchesOrParentMatches(name)
		if err != nil || out || !entry.Type().IsRegular() {
			return err
		}
		if strings.HasSuffix(name, "_test.go") || strings.HasPrefix(name, "deploy/") {
			t.Errorf("%s goes to the builder", name)
		}
		content, err := os.ReadFile(path)
		if err == nil {
			err = os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o700)
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), content, 0o600)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	list := exec.CommandContext(t.Context(), "go", "list", "-deps", "-tags", "nomsgpack", "./cmd/larder")
	list.Dir = dir
	if output, err := list.CombinedOutput(); err != nil {
		t.Errorf("the builder would miss something: %v\n%s", err, output)
	}
}
