package deploy

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestVuln runs tools/vuln with govulncheck on a program that calls errors.New, and
// with small databases.
func TestVuln(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	govulncheck := filepath.Join(dir, "govulncheck")
	// With the flags of the Makefile, so that compiled packages are shared.
	build := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-ldflags=-w", "-o", govulncheck, "golang.org/x/vuln/cmd/govulncheck")
	build.Dir = filepath.Join(root, "tools")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if output, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	program := filepath.Join(dir, "program")
	writeFiles(t, program, map[string]string{
		"go.mod":  "module program\n\ngo 1.26.0\n",
		"main.go": "package main\n\nimport \"errors\"\n\nfunc main() { panic(errors.New(\"x\")) }\n",
	})
	// An address that answers 404, and as a proxy of https:// connects nobody.
	nobody := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(nobody.Close)
	for name, test := range map[string]struct {
		env   []string
		fixed string // the release without the vulnerability, for a database
		fails bool
		says  string
	}{
		"a call of a vulnerable function fails":                    {nil, "1.99.0", true, "failed with status 3"},
		"a fixed vulnerability passes":                             {nil, "1.20.0", false, "No vulnerabilities found"},
		"without the database of VULN_DB it fails":                 {[]string{"VULN_DB=" + nobody.URL}, "", true, "make vuln checked nothing"},
		"without the public database nothing is checked, status 0": {[]string{"VULN_DB=", "HTTPS_PROXY=" + nobody.URL}, "", false, "make vuln checked nothing"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if test.fixed != "" {
				database := t.TempDir()
				writeFiles(t, database, vulnerabilities(test.fixed))
				test.env = []string{"VULN_DB=file://" + database}
			}
			check := exec.CommandContext(t.Context(), filepath.Join(root, "tools/vuln"), govulncheck, program)
			check.Env = append(os.Environ(), test.env...)
			output, err := check.CombinedOutput()
			if (err != nil) != test.fails || !strings.Contains(string(output), test.says) {
				t.Errorf("ended with %v, want %q in:\n%s", err, test.says, output)
			}
		})
	}
}

// vulnerabilities returns the files of a database (https://go.dev/doc/security/vuln/database)
// in which errors.New is vulnerable in every Go before the release fixed.
func vulnerabilities(fixed string) map[string]string {
	const at = `"modified":"2026-01-01T00:00:00Z"`
	return map[string]string{
		"index/db.json":      `{` + at + `}`,
		"index/modules.json": fmt.Sprintf(`[{"path":"stdlib","vulns":[{"id":"GO-2026-0001",%s,"fixed":%q}]}]`, at, fixed),
		"index/vulns.json":   `[{"id":"GO-2026-0001",` + at + `}]`,
		"ID/GO-2026-0001.json": fmt.Sprintf(`{"schema_version":"1.3.1","id":"GO-2026-0001",%s,"details":"For a test.",
			"database_specific":{"url":"https://example.com/GO-2026-0001"},
			"affected":[{"package":{"name":"stdlib","ecosystem":"Go"},
				"ranges":[{"type":"SEMVER","events":[{"introduced":"0"},{"fixed":%q}]}],
				"ecosystem_specific":{"imports":[{"path":"errors","symbols":["New"]}]}}]}`, at, fixed),
	}
}

func writeFiles(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, content := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
