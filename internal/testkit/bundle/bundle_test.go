package bundle_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"larder.local/internal/testkit/bundle"
)

// sources writes a folder of sources.
func sources(t *testing.T, files map[string]string) string {
	t.Helper()
	folder := t.TempDir()
	for name, text := range files {
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

func small() map[string]string {
	return map[string]string{
		"src/shop.ts":         `import css from "./shop/dish.css"; import {price} from "./shop/price"; import t from "./t.json"; export const text = css + price + t.a;`,
		"src/t.json":          `{"a": "hello"}`,
		"src/shop.d.ts":       "export const text: string;\n",
		"src/shop/price.ts":   `export const price: number = 640;`,
		"src/shop/dish.css":   "/* why */\n:host {\n  color: #ff0000;\n}\n",
		"src/page.html":       "<!doctype html>\n<p>hello</p>\n",
		"src/page.css":        "p {\n  margin: 0px;\n}\n",
		"src/README.md":       "no entry",
		"dist/keep/README.md": "", // a folder of dist
	}
}

func TestBuild(t *testing.T) {
	t.Parallel()
	outputs, err := bundle.Build(sources(t, small()))
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, output := range outputs {
		got[output.Name] = string(output.Body)
	}
	if len(got) != 5 || got["shop.d.ts"] != small()["src/shop.d.ts"] || got["t.json"] != small()["src/t.json"] || got["page.html"] != small()["src/page.html"] || got["page.css"] != "p{margin:0}\n" {
		t.Errorf("built %q", got)
	}
	if module := got["shop.js"]; !strings.Contains(module, ":host{color:red}") || !strings.Contains(module, "640") || !strings.Contains(module, "hello") ||
		strings.Contains(module, "import") {
		t.Errorf("shop.js is %q", module)
	}
}

func TestBuildNamesWhereASourceIsWrong(t *testing.T) {
	t.Parallel()
	_, err := bundle.Build(sources(t, map[string]string{"src/shop.ts": "export const a = 1;\nconst = 2;\n"}))
	if err == nil || !strings.Contains(err.Error(), "src/shop.ts:2:6") {
		t.Errorf("error %v", err)
	}
	if _, err := bundle.Build(sources(t, map[string]string{"src/README.md": ""})); err == nil {
		t.Error("a folder without entries has no error")
	}
}

func TestCheckTellsWhatIsNotOfTheSources(t *testing.T) {
	t.Parallel()
	files := small()
	delete(files, "dist/keep/README.md")
	folder := sources(t, files)
	if err := bundle.Write(folder); err != nil {
		t.Fatal(err)
	}
	if err := bundle.Check(folder); err != nil {
		t.Fatalf("right after Write: %v", err)
	}
	for name, text := range map[string]string{"src/shop/price.ts": "export const price = 641;", "dist/old.js": "", "dist/page.css": "p{margin:1px}"} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	err := bundle.Check(folder)
	for _, name := range []string{"shop.js", "old.js", "page.css"} {
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s is not told of in %v", name, err)
		}
	}
	if err != nil && strings.Contains(err.Error(), "page.html") {
		t.Errorf("page.html is told of in %v", err)
	}
}

func Example() {
	// In the folder of a package that embeds dist:
	//
	//	//go:generate go test -run ^TestBundle$ . -update
	//
	// TestBundle writes with -update and checks without it:
	fmt.Println(bundle.Check("testdata/shop"))
	// Output: <nil>
}
