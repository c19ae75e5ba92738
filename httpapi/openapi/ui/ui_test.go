package ui_test

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
	"strings"
	"testing"

	"larder.local/httpapi/openapi/ui"
)

// The packed files have the pinned content.
func TestPackedFilesAreThePinnedOnes(t *testing.T) {
	t.Parallel()
	pinned, err := os.ReadFile("files.sha256")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(pinned)), "\n")
	if len(lines) != 2 {
		t.Fatalf("%d files are pinned, want 2", len(lines))
	}
	for _, line := range lines {
		hash, name, _ := strings.Cut(line, "  ")
		file, known := ui.File(name)
		if !known || !file.Gzipped {
			t.Fatalf("%s is not served packed", name)
		}
		reader, err := gzip.NewReader(bytes.NewReader(file.Body))
		if err != nil {
			t.Fatal(err)
		}
		inside, err := io.ReadAll(reader)
		if err != nil {
			t.Fatal(err)
		}
		if sum := sha256.Sum256(inside); hex.EncodeToString(sum[:]) != hash {
			t.Errorf("%s is not the file that is pinned", name)
		}
	}
}

// The page has no inline script or style, because its Content-Security-Policy forbids them.
func TestPageHasNothingInline(t *testing.T) {
	t.Parallel()
	page, known := ui.File("")
	if !known {
		t.Fatal("there is no page")
	}
	text := string(page.Body)
	for _, inline := range []string{"<style", "style=", "onload=", "://"} {
		if strings.Contains(text, inline) {
			t.Errorf("the page has %s", inline)
		}
	}
	if strings.Count(text, "<script") != strings.Count(text, "<script src=") {
		t.Error("the page has a script in its text")
	}
}
