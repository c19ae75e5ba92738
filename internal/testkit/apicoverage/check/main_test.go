package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"larder.local/internal/testkit/apicoverage"
)

// The check passes only if every package has written a file, and these have every response of the document. It never
// passes because nothing was written.
func TestCheck(t *testing.T) {
	t.Parallel()
	const root, read = "../../../..", "getMenu 200"
	packages, err := covering(root)
	if err != nil || len(packages) < 5 {
		t.Fatalf("packages %q: %v", packages, err)
	}
	document, err := apicoverage.Document()
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, item := range document.Doc.Paths.Map() {
		for _, operation := range item.Operations() {
			for status := range operation.Responses.Map() {
				if status = strings.Replace(status, "XX", "22", 1); status != "500" {
					all = append(all, operation.OperationID+" "+status)
				}
			}
		}
	}
	if len(all) < 100 {
		t.Fatalf("the document has only %d responses", len(all))
	}
	folder := t.TempDir()
	write := func(name string, lines ...string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(folder, apicoverage.File("larder.local/"+name)), []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	wants := func(first string, count int) {
		t.Helper()
		faults, err := check(root, folder)
		if err != nil || len(faults) != count || count > 0 && !strings.Contains(strings.Join(faults, "\n"), first) {
			t.Errorf("got %d faults, want %d with %q: %q, %v", len(faults), count, first, faults, err)
		}
	}
	wants(packages[0]+": its tests did not write what they saw", len(packages)+len(all))
	write("httpapi/gone", all...) // of a package that is no more
	wants(read+": no test sees it", len(packages)+len(all))
	for i, name := range packages {
		var lines []string
		for j, answer := range all {
			if j%len(packages) == i {
				lines = append(lines, answer)
			}
		}
		write(name, lines...)
	}
	wants("", 0)
	write(packages[0], slices.DeleteFunc(slices.Clone(all), func(answer string) bool { return answer == read })...)
	for _, name := range packages[1:] {
		write(name)
	}
	wants(read+": no test sees it", 1)
}
