package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Each kind of finding is reported with its place. Code is not prose, and an exception
// excludes a file.
func TestFindings(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	long := strings.Repeat("word ", 36)
	for name, text := range map[string]string{
		"good.go":   "package a\n\nconst text = \"tried in vain\"\n\n// Get returns it.\nfunc Get() {}\n",
		"bad.go":    "package a\n\n// Get tells whether it is\n// tried in vain.\nfunc Get() {}\n",
		"page.md":   "# In vain\n\nIt is `in vain`.\n\n```\nin vain\n```\n\n" + long + ".\n\nA [page](anew.md) written anew.\n",
		"mean.md":   strings.Repeat(strings.Repeat("word ", 16)+". ", 20) + "\n",
		"except.md": "in vain\n",
		"a.ts":      "const a = 'in vain'; // tried\n/** Get tells\n * in vain. */\nconst b = 'https://in vain';\n",
		"a.css":     "/* in vain */\n",
		"a.lua":     "local a = 'in vain'\nreturn a -- in vain\n",
		"a.yaml":    "a: in vain\n# in vain\n",
		"run":       "#!/bin/sh\necho in vain # in vain\n",
		"LICENSE":   "# in vain\n",
	} {
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{{"init", "-q"}, {"add", "."}} {
		if out, err := exec.Command("git", append([]string{"-C", root}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v %s", args, err, out)
		}
	}
	var out strings.Builder
	found, err := run(root, `\bin vain\b => "x"`+"\n"+`\banew\b => "again"`+"\n"+`^\s*(//|/\*\*)\s*\w+ tells => "returns"`+"\nexcept ^except: a reason\n", &out)
	if err != nil {
		t.Fatal(err)
	}
	want := `a.css:1: "in vain": write "x"
a.lua:2: "in vain": write "x"
a.ts:2: "/** Get tells": write "returns"
a.ts:3: "in vain": write "x"
a.yaml:2: "in vain": write "x"
bad.go:3: "// Get tells": write "returns"
bad.go:4: "in vain": write "x"
mean.md: 16.0 words in a sentence on average: at most 15
page.md:9: a sentence of 36 words ends here: at most 35
page.md:11: "anew": write "again"
run:2: "in vain": write "x"
`
	if out.String() != want || found != strings.Count(want, "\n") {
		t.Errorf("%d findings:\n%s\nwant:\n%s", found, out.String(), want)
	}
}

func TestRulesAreValid(t *testing.T) {
	t.Parallel()
	r, err := parse(ruleText)
	if err != nil || len(r.phrases) == 0 {
		t.Errorf("got %d rules, %v", len(r.phrases), err)
	}
	for _, bad := range []string{"no arrow", "( => x", "except (: reason", "except ^a"} {
		if _, err := parse(bad); err == nil {
			t.Errorf("%q is accepted", bad)
		}
	}
}
