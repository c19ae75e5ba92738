package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write what the README's commands print into the README")

const readmeFile = "../../README.md"

// example is a command of the README and what the README says it prints.
type example struct{ before, script, between, output string }

var exampleForm = regexp.MustCompile("(?s)(.*?<!-- tested -->\n```sh\n)(.*?)(```\n\n```text\n)(.*?)```\n")

// examples cuts the README into its tested commands and the rest.
func examples(readme string) (found []example, rest string) {
	end := 0
	for _, m := range exampleForm.FindAllStringSubmatchIndex(readme, -1) {
		found = append(found, example{readme[m[2]:m[3]], readme[m[4]:m[5]], readme[m[6]:m[7]], readme[m[8]:m[9]]})
		end = m[1]
	}
	return found, readme[end:]
}

// masked hides what differs from run to run.
func masked(text string) string {
	for pattern, mask := range map[string]string{
		`"(ref)":"[0-9A-Z]{26}"`:                                `"$1":"…"`,
		`"(\w+At)":"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[.\d]*[^"]*"`: `"$1":"…"`,
		`(?m)^[0-9A-Z]{26}  `:                                   `…  `,
		`  \d{4}-\d\d-\d\dT[\d:.]+Z  `:                          `  …  `,
		`[\d.]+ ms`:                                             `… ms`,
	} {
		text = regexp.MustCompile(pattern).ReplaceAllString(text, mask)
	}
	return text
}

// TestREADME runs the README's commands as they stand (only addresses and the
// way to start larder are replaced) and compares what they print.
// With -update it writes what they print into the README.
func TestREADME(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile(readmeFile)
	if err != nil {
		t.Fatal(err)
	}
	found, rest := examples(string(readme))
	if len(found) < 5 || strings.Count(string(readme), "<!-- tested -->") != len(found) {
		t.Fatalf("%d tested commands found", len(found))
	}
	base, kitchen, _ := runningDemo(t)
	config, err := filepath.Abs("../../configs/demo.yaml")
	if err != nil {
		t.Fatal(err)
	}
	here := strings.NewReplacer(
		"go run ./cmd/larder", binary(t), "configs/demo.yaml", config,
		"http://127.0.0.1:8080", base, "http://127.0.0.1:9090", kitchen,
	)
	dir := t.TempDir()
	var written strings.Builder
	for _, e := range found {
		shell := exec.CommandContext(t.Context(), "sh", "-c", here.Replace(e.script))
		shell.Dir, shell.Env = dir, append(os.Environ(), "LARDER_URL="+base)
		stdout, err := shell.Output()
		if err != nil && len(stdout) == 0 {
			t.Fatalf("%v\n%s", err, e.script)
		}
		got := strings.TrimRight(strings.NewReplacer(base, "http://127.0.0.1:8080", kitchen, "http://127.0.0.1:9090").Replace(string(stdout)), "\n") + "\n"
		if diff := cmp.Diff(masked(e.output), masked(got)); diff != "" && !*update {
			t.Errorf("the README's\n%s prints (-README +now; go test -run README -update writes it):\n%s", e.script, diff)
		}
		written.WriteString(e.before + e.script + e.between + got + "```\n")
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("the README's commands leave %v behind, %v", left, err)
	}
	if strings.Contains(string(readme), "sed -i") {
		t.Error("the README uses sed -i, which macOS reads in another way")
	}
	if *update {
		if err := os.WriteFile(readmeFile, []byte(written.String()+rest), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// TestREADMESettings holds the table of settings equal to the defaults.
func TestREADMESettings(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile(readmeFile)
	if err != nil {
		t.Fatal(err)
	}
	defaults := fromJSON[map[string]any](t, must(t, "config", "print", "--json"))
	rows := regexp.MustCompile("(?m)^\\| `([a-z_.]+)` \\| (?:`(.*?)`)? ?\\|").FindAllStringSubmatch(string(readme), -1)
	if len(rows) < 15 {
		t.Fatalf("%d settings found", len(rows))
	}
	for _, row := range rows {
		var value any = defaults
		for key := range strings.SplitSeq(row[1], ".") {
			section, _ := value.(map[string]any)
			value = section[key]
		}
		text := fmt.Sprint(value)
		if list, ok := value.([]any); ok {
			encoded, _ := json.Marshal(list)
			text = string(encoded)
		}
		if text != row[2] {
			t.Errorf("the README says that %s is %q by default, it is %q", row[1], row[2], text)
		}
	}
}
