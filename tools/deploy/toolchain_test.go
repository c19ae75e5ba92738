package deploy

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	goLine        = regexp.MustCompile(`(?m)^go (\S+)$`)
	toolchainLine = regexp.MustCompile(`(?m)^toolchain (\S+)$`)
	goRelease     = regexp.MustCompile(`1\.\d+\.\d+`)
)

func readRoot(t *testing.T, name string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// line returns what the pattern captures in the go.mod of a folder.
func line(t *testing.T, pattern *regexp.Regexp, folder string) string {
	t.Helper()
	found := pattern.FindStringSubmatch(readRoot(t, filepath.Join(folder, "go.mod")))
	if found == nil {
		t.Fatalf("%s/go.mod has no line %s", folder, pattern)
	}
	return found[1]
}

// TestOneGoRelease checks that the Dockerfile and all modules name the Go release of
// go.mod, and that make and .ci/run read it there (decision 0065).
func TestOneGoRelease(t *testing.T) {
	t.Parallel()
	release := line(t, toolchainLine, ".")
	for _, folder := range []string{".", "tools", "tools/bench", "tools/deploy"} {
		if got := line(t, toolchainLine, folder); got != release {
			t.Errorf("%s/go.mod: toolchain %s, go.mod has %s", folder, got, release)
		}
		if got := line(t, goLine, folder); got != "1.26.0" {
			t.Errorf("%s/go.mod: go %s instead of 1.26.0: make test must run with every Go 1.26", folder, got)
		}
	}
	if got, want := stages(t)[0].BaseName, "golang:"+strings.TrimPrefix(release, "go")+"-bookworm"; got != want {
		t.Errorf("the Dockerfile builds from %s, go.mod needs %s", got, want)
	}
	for _, name := range []string{"Makefile", ".ci/run"} {
		if found := goRelease.FindString(readRoot(t, name)); found != "" {
			t.Errorf("%s names the release %s: use tools/go-toolchain", name, found)
		}
	}
	const reads = "GOTOOLCHAIN=$(tools/go-toolchain)"
	if !strings.Contains(readRoot(t, ".ci/run"), "\n"+reads+"\nexport GOTOOLCHAIN\n") {
		t.Errorf(".ci/run does not export %s", reads)
	}
	for _, target := range []string{"build", "release", "release-check"} {
		dry := exec.CommandContext(t.Context(), "make", "--no-print-directory", "--dry-run", "-C", root, target)
		recipe, err := dry.Output()
		if err != nil || !bytes.Contains(recipe, []byte(reads+"; export GOTOOLCHAIN ")) {
			t.Errorf("make %s does not export %s: %v\n%s", target, reads, err, recipe)
		}
	}
}

// TestGoToolchain runs tools/go-toolchain with testdata/go in place of go.
func TestGoToolchain(t *testing.T) {
	t.Parallel()
	release := line(t, toolchainLine, ".")
	bin, err := filepath.Abs("testdata")
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct{ present, offered, env, want, says string }{
		"an older Go downloads the release":         {"go1.26.0", release, "", release, ""},
		"without a download the present Go is used": {"go1.26.0", "none", "", "local", "The build uses go1.26.0 "},
		"a download that failed is not tried again": {"go1.26.0", release, "GO_RELEASE_CHOSEN=1", "local", ""},
		"the release itself stays":                  {release, "none", "", "auto", ""},
		"a newer Go stays":                          {"go1.99.1", "none", "", "auto", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			command := exec.CommandContext(t.Context(), filepath.Join(root, "tools/go-toolchain"))
			command.Env = []string{"PATH=" + bin + ":" + os.Getenv("PATH"), "PRESENT=" + test.present, "OFFERED=" + test.offered, "GOTOOLCHAIN=local", test.env}
			var stderr strings.Builder
			command.Stderr = &stderr
			stdout, err := command.Output()
			if got := strings.TrimSpace(string(stdout)); err != nil || got != test.want {
				t.Errorf("printed %q instead of %q: %v\n%s", got, test.want, err, &stderr)
			}
			if (test.says == "") != (stderr.Len() == 0) || !strings.Contains(stderr.String(), test.says) {
				t.Errorf("said %q, want %q", &stderr, test.says)
			}
		})
	}
}
