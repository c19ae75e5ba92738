package main

import (
	"debug/buildinfo"
	"fmt"
	"slices"
	"testing"
)

// Scanners report a linked module with a known vulnerability even if larder does not
// use the vulnerable code.
func TestLinkedModulesAreFixed(t *testing.T) {
	t.Parallel()
	info, err := buildinfo.ReadFile(built)
	if err != nil {
		t.Fatal(err)
	}
	least := map[string][]int{"github.com/quic-go/quic-go": {0, 59, 1}} // CVE-2026-40898
	found := 0
	for _, module := range info.Deps {
		want, known := least[module.Path]
		if !known {
			continue
		}
		found++
		version := make([]int, 3)
		if _, err := fmt.Sscanf(module.Version, "v%d.%d.%d", &version[0], &version[1], &version[2]); err != nil {
			t.Fatalf("version %s of %s: %v", module.Version, module.Path, err)
		}
		if slices.Compare(version, want) < 0 {
			t.Errorf("%s %s is linked; it is fixed in v%d.%d.%d", module.Path, module.Version, want[0], want[1], want[2])
		}
	}
	if len(info.Deps) == 0 || found > len(least) {
		t.Errorf("%d of %d modules are looked at", found, len(info.Deps))
	}
}
