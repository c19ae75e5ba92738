package tools_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// tools/fuzz runs every target for the whole time: to minimise inputs would take most of it.
func TestFuzzDoesNotMinimise(t *testing.T) {
	t.Parallel()
	script, err := filepath.Abs("fuzz")
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	for name, text := range map[string]string{
		"go":             "#!/bin/sh\necho \"$@\" >>" + folder + "/calls\n",
		"one/a_test.go":  "package one\n\nfunc FuzzA(f *testing.F) {\n",
		"two/bc_test.go": "package two\n\nfunc FuzzB(f *testing.F) {\n\nfunc FuzzC(f *testing.F) {\n",
	} {
		name = filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o700); err != nil { //nolint:gosec // one of them is a program
			t.Fatal(err)
		}
	}
	for _, command := range [][]string{{"git", "init", "-q"}, {script, "7s"}} {
		run := exec.CommandContext(t.Context(), command[0], command[1:]...)
		run.Dir, run.Env = folder, append(os.Environ(), "PATH="+folder+":"+os.Getenv("PATH"))
		if printed, err := run.CombinedOutput(); err != nil {
			t.Fatalf("%q: %v\n%s", command, err, printed)
		}
	}
	calls, err := os.ReadFile(filepath.Join(folder, "calls"))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(calls)), "\n")
	if len(lines) != 3 {
		t.Errorf("%d calls of go test, want one for each target:\n%s", len(lines), calls)
	}
	for _, line := range lines {
		if !strings.Contains(line, " -fuzztime 7s -fuzzminimizetime 1x ") {
			t.Errorf("go %s", line)
		}
	}
}
