package deploy

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestFuzz runs tools/fuzz in a repository with three targets, one of which fails. testdata/gofuzz is in place of go. Every
// target runs, none minimises its inputs, and the failing one is named.
func TestFuzz(t *testing.T) {
	t.Parallel()
	bin, err := filepath.Abs("testdata/gofuzz")
	if err != nil {
		t.Fatal(err)
	}
	script, err := filepath.Abs(filepath.Join(root, "tools", "fuzz"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	writeFiles(t, dir, map[string]string{
		"a/a_test.go":        "package a\n\nfunc FuzzOne(f *testing.F) {}\n\nfunc FuzzBroken(f *testing.F) {}\n",
		"b/b_test.go":        "package b\n\nfunc FuzzTwo(f *testing.F) {}\n",
		"tools/tool_test.go": "package tools\n\nfunc FuzzTool(f *testing.F) {}\n",
	})
	if output, err := exec.CommandContext(t.Context(), "git", "init", "--quiet", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	cmd := exec.CommandContext(t.Context(), script, "7s")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "TAGS=some")
	output, err := cmd.CombinedOutput()
	text := string(output)
	if err == nil || cmd.ProcessState.ExitCode() != 1 || !strings.Contains(text, "failed: ./a.FuzzBroken\n") || strings.Count(text, "\nfailed: ") != 1 {
		t.Errorf("%v: a failing target\n%s", err, text)
	}
	var runs []string
	for line := range strings.Lines(text) {
		if arguments, ran := strings.CutPrefix(line, "go "); ran {
			runs = append(runs, strings.TrimSpace(arguments))
		}
	}
	slices.Sort(runs)
	want := []string{}
	for _, target := range []string{"FuzzBroken$ ./a", "FuzzOne$ ./a", "FuzzTwo$ ./b"} {
		name, folder, _ := strings.Cut(target, " ")
		want = append(want, "test -run ^$ -fuzz ^"+name+" -fuzztime 7s -fuzzminimizetime 1x -parallel 1 -tags some "+folder)
	}
	if !slices.Equal(runs, want) {
		t.Errorf("go was called with\n%s\nwant\n%s", strings.Join(runs, "\n"), strings.Join(want, "\n"))
	}
}
