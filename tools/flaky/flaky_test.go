package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// sample has one test of each kind. The number of its runs is the size of a file.
const sample = `package sample

import (
	"os"
	"os/exec"
	"strconv"
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
		t.Log("this is no error")
		if info, err := file.Stat(); err != nil || info.Size()%2 == 0 {
			t.Errorf("an even run, %v", err)
		}
	})
}

// TestMain checks something after the tests.
func TestMain(m *testing.M) {
	status := m.Run()
	if os.Getenv("LEAK") != "" {
		println("a goroutine is left")
		status = 1
	}
	os.Exit(status)
}

func TestWaits(t *testing.T) { t.Parallel() }

func TestSkipped(t *testing.T) { t.Skip("not here") }

func TestStartsAProcess(t *testing.T) {
	if os.Getenv("CHILD") == "" {
		return
	}
	child := exec.Command("sleep", "600")
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(os.Getenv("CHILD"), []byte(strconv.Itoa(child.Process.Pid)), 0o600); err != nil {
		t.Fatal(err)
	}
	select {}
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
	return flakyUntil(t.Context(), t, args...)
}

func flakyUntil(ctx context.Context, t *testing.T, args ...string) (string, error) {
	t.Helper()
	root := t.TempDir()
	for name, text := range map[string]string{"go.mod": "module sample\n\ngo 1.26.0\n", "sample_test.go": sample} {
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var out strings.Builder
	err := run(ctx, &out, append(args, root))
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
	if err != nil || !strings.Contains(out, "no test failed; runs of test programs: 50") {
		t.Errorf("the error is %v", err)
	}
}

func TestAHangingTestIsNamed(t *testing.T) {
	t.Setenv("HANG", "1")
	out, err := flaky(t, "-pkg", ".", "-run", "TestGood|TestHangs|TestWaits", "-count", "1", "-limit", "5s")
	if !errors.Is(err, errFailed) || !strings.Contains(out, "sample TestHangs\n          it HANGS") || strings.Contains(out, "TestWaits\n") {
		t.Errorf("the error is %v", err)
	}
}

// All tests pass, and TestMain exits with 1.
func TestAFailureAfterTheTestsIsReported(t *testing.T) {
	t.Setenv("LEAK", "1")
	out, err := flaky(t, "-pkg", ".", "-run", "TestGood", "-count", "1")
	if !errors.Is(err, errFailed) || !strings.Contains(out, "the test program failed, no test did (exit status 1)") {
		t.Errorf("the error is %v", err)
	}
}

// When the time of the whole run is over, a test that is running has not failed.
func TestATestAtTheEndOfTheTimeHasNotFailed(t *testing.T) {
	pids := filepath.Join(t.TempDir(), "pids")
	out, err := flakyUntil(endsWith(t, errTimeIsOver, pids), t, "-pkg", ".", "-run", "TestStartsAProcess", "-count", "1")
	if err == nil || errors.Is(err, errFailed) || !strings.Contains(out, "nothing is known about these runs:\n  sample TestStartsAProcess (its test program ran for") {
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
	for says, args := range map[string][]string{
		"usage:":                      {},
		"FOLDER is one package":       {"a", "b"},
		`"-1": use a number`:          {"-count", "-1", "."},
		`"0": use a number`:           {"-count", "0", "."},
		`"abc": use a number`:         {"-count", "abc", "."},
		"needs a package":             {"-run", "TestX", "."},
		"at most":                     {"-count", "1000", "."},
		"missing closing )":           {"-pkg", ".", "-run", "Test(", "."},
		"there is no folder ./nope":   {"-pkg", "./nope", "."},
		"there is no folder ./sync/…": {"-pkg", "./sync/…", "."},
	} {
		if err := run(t.Context(), &strings.Builder{}, args); err == nil || errors.Is(err, errFailed) || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: the error is %v", args, err)
		}
	}
}

func TestTestsThatDoNotRunAreNotGood(t *testing.T) {
	t.Parallel()
	for pattern, says := range map[string]string{"TestNope": "no test of . matches", "TestSkipped": "was skipped"} {
		if _, err := flaky(t, "-pkg", ".", "-run", pattern, "-count", "1"); err == nil || errors.Is(err, errFailed) || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: the error is %v", pattern, err)
		}
	}
}

// A message of a program that the test has run says more than the line of the test.
func TestTheMessageOfABrowserIsShown(t *testing.T) {
	t.Parallel()
	lines := []string{"=== RUN   TestX\n", "    x_test.go:7: exit status 1; pictures are in /x\n", "  step 1 ok\n", "  Error: no dialog\n", "  Error: closed\n"}
	if got, want := message(t.TempDir(), lines), "x_test.go:7: exit status 1; pictures are in /x … Error: no dialog"; got != want {
		t.Errorf("the message is %q, not %q", got, want)
	}
}

// endsWith returns a context that ends with a cause when TestStartsAProcess has started a process and
// has written its number to a file.
func endsWith(t *testing.T, cause error, pids string) context.Context {
	t.Helper()
	t.Setenv("CHILD", pids)
	ctx, end := context.WithCancelCause(t.Context())
	go func() {
		defer end(cause)
		for text, _ := os.ReadFile(pids); len(text) == 0 && t.Context().Err() == nil; text, _ = os.ReadFile(pids) {
			time.Sleep(10 * time.Millisecond) //testwaits:allow a poll, until the test has started a process
		}
	}()
	return ctx
}

// After an interrupt, nothing that a test has started is left.
func TestAnInterruptLeavesNothing(t *testing.T) {
	pids := filepath.Join(t.TempDir(), "pids")
	_, err := flakyUntil(endsWith(t, context.Canceled, pids), t, "-pkg", ".", "-run", "TestStartsAProcess", "-count", "1")
	if err == nil || !strings.Contains(err.Error(), "interrupted after 0 of 1 runs; 0 tests failed") {
		t.Errorf("the error is %v", err)
	}
	text, err := os.ReadFile(pids)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(string(text))
	if err != nil {
		t.Fatal(err)
	}
	running := func() bool { // a killed process needs some time to end
		state, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		return syscall.Kill(pid, 0) == nil && !strings.Contains(string(state), ") Z ")
	}
	for begun := time.Now(); running() && time.Since(begun) < time.Minute; {
		time.Sleep(10 * time.Millisecond) //testwaits:allow a poll
	}
	if running() {
		t.Errorf("the process %d is running", pid)
	}
}
