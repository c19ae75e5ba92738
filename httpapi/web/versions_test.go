package web_test

import (
	"crypto/sha512"
	"encoding/base64"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"larder.local/httpapi/web"
)

const storefrontDoc = "../../docs/storefront.md"

// versionRows matches the rows of the table of files.
var versionRows = regexp.MustCompile("(?m)(^\\| `(larder|dish|checkout|diagnose|texts\\.ru)\\.js(on)?` \\|.*\n)+")

// TestDocumentedVersions checks the versions and hashes that developers of storefronts copy; with -update it writes them.
// It comes after TestBundle, which writes the files.
func TestDocumentedVersions(t *testing.T) { //nolint:paralleltest // TestBundle writes the files
	assets := web.NewAssets()
	var rows strings.Builder
	for _, name := range []string{"larder.js", "dish.js", "checkout.js", "diagnose.js", "texts.ru.json"} {
		asset, err := assets.Page(name)
		if err != nil {
			t.Fatal(err)
		}
		sum := sha512.Sum384(asset.Body())
		fmt.Fprintf(&rows, "| `%s` | `%s` | `sha384-%s` |\n", name, asset.Version(), base64.StdEncoding.EncodeToString(sum[:]))
	}
	text, err := os.ReadFile(storefrontDoc)
	if err != nil {
		t.Fatal(err)
	}
	found := versionRows.Find(text)
	if *update {
		if err := os.WriteFile(storefrontDoc, versionRows.ReplaceAllLiteral(text, []byte(rows.String())), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if string(found) != rows.String() {
		t.Errorf("%s has\n%s\nthe files are\n%s\nrun go generate ./httpapi/web", storefrontDoc, found, rows.String())
	}
}
