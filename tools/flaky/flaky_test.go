package main

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// sample has one test of each kind. The number of its runs is the size of a file.
const sample = `package sample

import (
	"os"
	"testing"
)

func TestGood(t *testing.T) {}

func TestEverySecondTime(t *testing.T) {
	t.Run("part", func(t *testing.T) {
		file, err := os.OpenFile("runs", os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		if _, err := file.WriteString("x"); err != nil {
			t.Fatal(err)
		}
		if info, err := file.Stat(); err != nil || info.Size()%2 == 0 {
			t.Errorf("an even run, %v", err)
		}
	})
}

func TestHangs(t *testing.T) {
	if os.Getenv("HANG") != "" {
		select {}
	}
}

func TestPanics(t *testing.T) {
	if os.Getenv("PANIC") != "" {
		go func() { panic("a goroutine failed") }()
		select {}
	}
}
`

// flaky runs the command over a module with the sample, and returns what it prints.
func flaky(t *testing.T, args ...string) (string, error) {
	t.Helper()
	root := t.TempDir()
	for name, text := range map[string]string{"go.mod": "module sample\n\ngo 1.26.0\n", "sample_test.go": sample} {
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var out strings.Builder
	err := run(t.Context(), &out, append(args, root))
	t.Log(out.String())
	return out.String(), err
}

func TestFailuresAreCounted(t *testing.T) { //nolint:paralleltest // it keeps all cores busy
	out, err := flaky(t, "-count", "2")
	if !errors.Is(err, errFailed) {
		t.Fatalf("the error is %v", err)
	}
	list := regexp.MustCompile(`(?m)^ +(\d) +sample (\S+)\n +(sample_test.go:\d+: .*)`).FindAllStringSubmatch(out, -1)
	if len(list) != 1 || list[0][1] == "0" || list[0][2] != "TestEverySecondTime/part" || !strings.Contains(list[0][3], "an even run") {
		t.Errorf("the list is %q", list)
	}
}

func TestOneTestOfAPackage(t *testing.T) {
	t.Parallel()
	out, err := flaky(t, "-pkg", ".", "-run", "TestGood")
	if err != nil || !strings.Contains(out, "no test failed in 50 runs") {
		t.Errorf("the error is %v", err)
	}
}

func TestAHangingTestIsNamed(t *testing.T) {
	t.Setenv("HANG", "1")
	out, err := flaky(t, "-pkg", ".", "-run", "TestGood|TestHangs", "-count", "1", "-limit", "5s")
	if !errors.Is(err, errFailed) || !strings.Contains(out, "sample TestHangs\n          it HANGS") {
		t.Errorf("the error is %v", err)
	}
}

func TestACrashNamesTheRunningTest(t *testing.T) {
	t.Setenv("PANIC", "1")
	out, err := flaky(t, "-pkg", ".", "-count", "1", "-run", "TestGood|TestPanics")
	if !errors.Is(err, errFailed) || !strings.Contains(out, "sample TestPanics\n") || !strings.Contains(out, "a goroutine failed") {
		t.Errorf("the error is %v", err)
	}
}

func TestWrongArguments(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{}, {"-count", "-1", "."}, {"-run", "TestX", "."}, {"a", "b"}} {
		if err := run(t.Context(), &strings.Builder{}, args); err == nil || errors.Is(err, errFailed) {
			t.Errorf("%q: the error is %v", args, err)
		}
	}
}
