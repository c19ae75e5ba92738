package web_test

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
	"testing"

	"larder.local/httpapi/openapi"
)

// The types of the pages' sources are generated from the API document and unchanged. Their first
// lines have the hashes of both.
func TestTypesAreTheDocuments(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("src/api/openapi.d.ts")
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitN(text, []byte("\n"), 4)
	if len(lines) != 4 {
		t.Fatalf("got %d lines", len(lines))
	}
	for i, want := range []string{
		fmt.Sprintf("// openapi.yaml: %x", sha256.Sum256(openapi.YAML())),
		fmt.Sprintf("// what follows: %x", sha256.Sum256(lines[3])),
	} {
		if got := string(lines[i+1]); got != want {
			t.Errorf("src/api/openapi.d.ts: line %d is\n%s, want\n%s\nrun: make api-types", i+2, got, want)
		}
	}
}
