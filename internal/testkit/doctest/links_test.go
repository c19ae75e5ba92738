package doctest

import (
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const root = "../../.."

func allPages(t *testing.T) []*Page {
	t.Helper()
	pages, err := Find(root, ".")
	if err != nil {
		t.Fatal(err)
	}
	if len(pages) < 30 {
		t.Fatalf("%d pages found", len(pages))
	}
	return pages
}

// TestLinks checks every link of every page.
func TestLinks(t *testing.T) {
	t.Parallel()
	broken, _ := Broken(root, allPages(t))
	for _, link := range broken {
		t.Error(link)
	}
}

// TestEveryPageIsReached: every page has a link to it.
func TestEveryPageIsReached(t *testing.T) {
	t.Parallel()
	pages := allPages(t)
	_, reached := Broken(root, pages)
	for _, p := range pages {
		if p.Path == "docs/README.md" || !strings.HasPrefix(p.Path, "docs/") && !strings.HasPrefix(p.Path, "deploy/") {
			continue
		}
		if !reached[p.Path] && !reached[path.Dir(p.Path)] {
			t.Errorf("nothing leads to %s: docs/README.md is the list of all pages", p.Path)
		}
	}
}

func TestBrokenLinksAreTold(t *testing.T) {
	t.Parallel()
	page := parse("links/page.md", "# A `b` [C](other.md), d!\n## Twice\n## Twice\n"+
		"[own](#a-b-c-d) [second](#twice-1) ![picture](picture.svg) [gone](gone.md) [third](#twice-2)\n"+
		"[page](other.md#there) [heading](other.md#missing \"title\") `[code](code.md)` [out](https://shop.example/x)\n"+
		"[above](../../etc/passwd) [rooted](/etc/passwd)\n"+
		"```text\n[block](block.md)\n# No heading\n```\n[after](#no-heading)\n")
	other := parse("links/other.md", "Text\n\n### There ###\n")
	broken, reached := Broken("testdata", []*Page{page, other})
	want := []string{
		"links/page.md: gone.md: there is no such file",
		"links/page.md: #twice-2: there is no such heading",
		"links/page.md: other.md#missing: there is no such heading",
		"links/page.md: ../../etc/passwd: there is no such file",
		"links/page.md: /etc/passwd: there is no such file",
		"links/page.md: #no-heading: there is no such heading",
	}
	if diff := cmp.Diff(want, broken); diff != "" {
		t.Errorf("broken links (-want +got):\n%s", diff)
	}
	if !reached["links/other.md"] || !reached["links/picture.svg"] || len(reached) != 2 {
		t.Errorf("reached %v", reached)
	}
	if got := page.links(); !slices.Contains(got, "https://shop.example/x") || slices.Contains(got, "code.md") ||
		slices.Contains(got, "block.md") {
		t.Errorf("links %v", got)
	}
}
