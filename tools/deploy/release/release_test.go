package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/CycloneDX/cyclonedx-go"
)

const version = "1.2.3-test"

// copied copies the tree to another folder, without ignored files.
func copied(t *testing.T, root string) string {
	t.Helper()
	dir := t.TempDir()
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		name, inside := strings.CutPrefix(path, root+"/")
		if err != nil || !inside {
			return err
		}
		if entry.IsDir() && (slices.Contains([]string{".git", ".cache", "bin", "dist", "data"}, name) || entry.Name() == "node_modules") {
			return fs.SkipDir
		}
		if !entry.Type().IsRegular() {
			return nil
		}
		content, err := os.ReadFile(path)
		if err == nil {
			err = os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o755)
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), content, 0o644)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// made creates a release for this machine only, and returns the content of its files.
func made(t *testing.T, root string) (dir string, files map[string][]byte) {
	t.Helper()
	dir, files = t.TempDir(), map[string][]byte{}
	if err := run(t.Context(), []string{"-targets", runtime.GOOS + "/" + runtime.GOARCH, root, "v" + version, dir}); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		if files[entry.Name()], err = os.ReadFile(filepath.Join(dir, entry.Name())); err != nil {
			t.Fatal(err)
		}
	}
	return dir, files
}

// TestRelease creates a release twice, from two folders, and compares the bytes. Then it
// checks the content.
func TestRelease(t *testing.T) {
	t.Setenv("SOURCE_DATE_EPOCH", "1800000000")
	root, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	dir, first := made(t, root)
	_, second := made(t, copied(t, root))
	name := fmt.Sprintf("larder_%s_%s_%s", version, runtime.GOOS, runtime.GOARCH)
	if len(first) != 3 || len(second) != 3 {
		t.Errorf("%d and %d files were made, want 3", len(first), len(second))
	}
	for file, content := range first {
		if !bytes.Equal(content, second[file]) {
			t.Errorf("%s differs from folder to folder: %d and %d bytes", file, len(content), len(second[file]))
		}
	}
	packed := unpacked(t, first[name+".tar.gz"], name)
	program := packed["larder"]
	for _, file := range []string{
		"LICENSE", "THIRD_PARTY_LICENSES", "README.md", "CHANGELOG.md", "larder.yaml", "systemd/larder.service",
		"completions/larder.bash", "completions/_larder", "completions/larder.fish",
	} {
		if len(packed[file]) < 100 {
			t.Errorf("%s has %d bytes in the archive", file, len(packed[file]))
		}
	}
	checkManual(t, packed)
	for _, module := range []string{"github.com/gin-gonic/gin ", "github.com/redis/go-redis/v9 ", "Go go1."} {
		if !strings.Contains(string(packed["THIRD_PARTY_LICENSES"]), "\n==== "+module) {
			t.Errorf("no licence of %s", module)
		}
	}
	checkInventory(t, first[name+".cdx.json"], program)
	checkSums(t, first)
	runs := filepath.Join(dir, "larder")
	if err := os.WriteFile(runs, program, 0o755); err != nil {
		t.Fatal(err)
	}
	if output, err := exec.CommandContext(t.Context(), runs, "version").CombinedOutput(); err != nil || !strings.HasPrefix(string(output), "larder "+version+"\n") {
		t.Errorf("larder version: %v\n%s", err, output)
	}
}

// checkManual: every command has a page that mandoc can read.
func checkManual(t *testing.T, packed map[string][]byte) {
	t.Helper()
	pages := 0
	for name, page := range packed {
		if !strings.HasPrefix(name, "man/man1/") {
			continue
		}
		pages++
		lint := exec.CommandContext(t.Context(), "mandoc", "-T", "lint", "-W", "error")
		lint.Stdin = bytes.NewReader(page)
		if out, err := lint.CombinedOutput(); err != nil {
			t.Errorf("mandoc -T lint %s: %v (make test-needs installs mandoc)\n%s", name, err, out)
		}
	}
	if pages < 20 {
		t.Errorf("%d manual pages in the archive", pages)
	}
	page := string(packed["man/man1/larder-sync.1"])
	for _, part := range []string{"larder-sync - Sync menus", "--config", "(LARDER_CONFIG)", "larder(1)", "Jan 2027"} {
		if !strings.Contains(strings.ReplaceAll(page, `\-`, "-"), part) {
			t.Errorf("no %q in\n%s", part, page)
		}
	}
}

// unpacked returns the files of an archive, which must be in its folder and have the
// release's time and no owner.
func unpacked(t *testing.T, archive []byte, folder string) map[string][]byte {
	t.Helper()
	zipped, err := gzip.NewReader(bytes.NewReader(archive))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{}
	for reader := tar.NewReader(zipped); ; {
		header, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		name, inside := strings.CutPrefix(header.Name, folder+"/")
		mode := int64(0o644)
		if name == "larder" {
			mode = 0o755
		}
		if !inside || header.ModTime.Unix() != 1800000000 || header.Uname+header.Gname != "" || header.Uid+header.Gid != 0 || header.Mode != mode {
			t.Errorf("the archive has %+v", header)
		}
		if files[name], err = io.ReadAll(reader); err != nil {
			t.Fatal(err)
		}
	}
}

// checkInventory: the program with its hash, and the modules of go.mod.
func checkInventory(t *testing.T, text, program []byte) {
	t.Helper()
	var bom cyclonedx.BOM
	if err := cyclonedx.NewBOMDecoder(bytes.NewReader(text), cyclonedx.BOMFileFormatJSON).Decode(&bom); err != nil {
		t.Fatal(err)
	}
	hashes := *bom.Metadata.Component.Hashes
	if want := fmt.Sprintf("%x", sha256.Sum256(program)); hashes[0].Value != want {
		t.Errorf("the inventory is of a program with the hash %s, it has %s", hashes[0].Value, want)
	}
	list := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "pkg:golang/{{.Path}}@{{.Version}}", "github.com/gin-gonic/gin")
	list.Dir = "../../.."
	gin, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, url := range []string{strings.TrimSpace(string(gin)), "pkg:golang/stdlib@" + strings.TrimPrefix(runtime.Version(), "go")} {
		if !slices.ContainsFunc(*bom.Components, func(c cyclonedx.Component) bool { return c.PackageURL == url }) {
			t.Errorf("the inventory does not know %s", url)
		}
	}
}

// checkSums: SHA256SUMS contains every other file with its hash.
func checkSums(t *testing.T, files map[string][]byte) {
	t.Helper()
	var want []string
	for name, content := range files {
		if name != "SHA256SUMS" {
			want = append(want, fmt.Sprintf("%x  %s", sha256.Sum256(content), name))
		}
	}
	got := strings.Split(strings.TrimSpace(string(files["SHA256SUMS"])), "\n")
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("SHA256SUMS says %q, want %q", got, want)
	}
}

func TestReleaseRefuses(t *testing.T) {
	for name, test := range map[string]struct {
		date string
		args []string
		says string
	}{
		"a version with a path": {"1", []string{"../../..", "../evil", t.TempDir()}, "is no version"},
		"no version":            {"1", []string{"../../.."}, "usage:"},
		"a date in words":       {"soon", []string{"../../..", version, t.TempDir()}, "is no time in seconds"},
	} {
		t.Setenv("SOURCE_DATE_EPOCH", test.date)
		if err := run(t.Context(), test.args); err == nil || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s: %v, want %q", name, err, test.says)
		}
	}
}
