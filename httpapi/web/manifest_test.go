package web_test

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// named is an entry of custom-elements.json.
type named struct {
	Name, Kind string
}

// names returns the sorted names of several lists, each once.
func names(lists ...[]named) []string {
	all := map[string]bool{}
	for _, entry := range slices.Concat(lists...) {
		all[entry.Name] = true
	}
	return slices.Sorted(maps.Keys(all))
}

// found returns the sorted words of the first group of a pattern, each once.
func found(text, pattern string) []string {
	all := map[string]bool{}
	for _, match := range regexp.MustCompile(pattern).FindAllStringSubmatch(text, -1) {
		for word := range strings.FieldsSeq(match[1]) {
			all[strings.Trim(word, `",`)] = true
		}
	}
	return slices.Sorted(maps.Keys(all))
}

// readAll returns the text of all files that match the patterns.
func readAll(t *testing.T, patterns ...string) string {
	t.Helper()
	var text strings.Builder
	for _, pattern := range patterns {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: no file, %v", pattern, err)
		}
		for _, file := range files {
			body, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			text.Write(body)
		}
	}
	return text.String()
}

// local returns the names of events without their prefix.
func local(events []string) []string {
	short := make([]string, len(events))
	for i := range events {
		short[i] = strings.TrimPrefix(events[i], "larder:")
	}
	return short
}

// TestElementsAreDescribed compares custom-elements.json and larder.d.ts with the sources of
// the elements, and custom-elements.json with docs/storefront.md.
func TestElementsAreDescribed(t *testing.T) {
	t.Parallel()
	source := readAll(t, "src/larder/*.ts", "src/larder/*.css")
	types, docs := readAll(t, "src/larder.d.ts"), readAll(t, "../../docs/storefront.md")
	var manifest struct {
		Modules []struct {
			Declarations []struct {
				TagName                                                     string
				Attributes, Members, Events, Slots, CSSParts, CSSProperties []named
			}
		}
	}
	if err := json.Unmarshal([]byte(readAll(t, "src/custom-elements.json")), &manifest); err != nil || len(manifest.Modules) != 1 {
		t.Fatalf("%d modules, %v", len(manifest.Modules), err)
	}
	menu, form := manifest.Modules[0].Declarations[0], manifest.Modules[0].Declarations[1]
	attributes, events := names(menu.Attributes, form.Attributes), names(menu.Events, form.Events)
	parts := names(menu.CSSParts, form.CSSParts)
	attributeTypes, _, _ := strings.Cut(types, "\nexport interface LarderElement ")
	_, attributeTable, _ := strings.Cut(docs, "\n## Attributes\n")
	attributeTable, _, _ = strings.Cut(attributeTable, "\n## ")
	_, partTable, _ := strings.Cut(docs, "Style these parts with `::part()`:")
	partTable, _, _ = strings.Cut(partTable, "\n\nBoth elements have the slots")
	for what, pair := range map[string][2][]string{
		"attributes: source":      {attributes, found(source, `(?:observedAttributes = \[|this\.toggleAttribute\()([^\]]*?)(?:\]|, intent)`)},
		"attributes: larder.d.ts": {attributes, found(attributeTypes, `(?m)^  "?([a-z-]+)"?\??: (?:string|boolean|"light" \| "dark");$`)},
		"attributes: docs":        {append(slices.Clone(attributes), "dir"), found(attributeTable, "(?m)^\\| `([a-z-]+)` \\|")},
		"events: source":          {local(events), found(source, `this\.emit\(\s*"([a-z-]+)"`)},
		"events: larder.d.ts":     {events, found(types, `"(larder:[a-z-]+)": CustomEvent`)},
		"events: docs":            {events, found(docs, "(?m)^\\| `(larder:[a-z-]+)` \\|")},
		"parts: source":           {parts, found(source, `part(?:: |=)"([a-z -]+)"`)},
		"parts: docs":             {parts, found(partTable, "`([a-z-]+)`")},
		"variables: source":       {names(menu.CSSProperties), found(source, `var\((--larder-[a-z-]+)`)},
		"variables: docs":         {names(form.CSSProperties), found(docs, "`(--larder-[a-z-]+)`")},
		"slots: source":           {names(menu.Slots, form.Slots), append([]string{"card-ID"}, found(source, `h\(\s*"slot",\s*\{ name: "([a-z-]+)"`)...)},
	} {
		slices.Sort(pair[0])
		if diff := cmp.Diff(pair[0], pair[1]); diff != "" {
			t.Errorf("%s (+) differs from custom-elements.json (-):\n%s", what, diff)
		}
	}
	for _, slot := range names(menu.Slots, form.Slots) {
		if !strings.Contains(docs, "`"+slot+"`") {
			t.Errorf("docs/storefront.md has no slot %s", slot)
		}
	}
	for _, member := range names(menu.Members, form.Members) {
		if !regexp.MustCompile(`(?m)^  (readonly )?` + member + `[:(]`).MatchString(types) {
			t.Errorf("larder.d.ts has no member %s", member)
		}
		if !regexp.MustCompile(`(?m)^  (get )?` + member + `\(`).MatchString(source) {
			t.Errorf("the elements have no member %s", member)
		}
	}
}
