package httpapi

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"strconv"
	"strings"
	"testing"

	"larder.local/httpapi/respond"
)

// docs/http.md lists every error code of httpapi in the row of its status.
func TestCodesAreDocumented(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../docs/http.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]string{} // status by code
	for line := range strings.Lines(string(page)) {
		cells := strings.SplitN(line, "|", 4)
		if len(cells) < 4 {
			continue
		}
		if statuses := strings.TrimSpace(cells[1]); len(statuses) >= 3 && strings.Trim(statuses, "0123456789, ") == "" {
			for i, part := range strings.Split(cells[2], "`") {
				if i%2 == 1 {
					rows[part] += statuses + ", "
				}
			}
		}
	}
	codes := declaredCodes(t, "respond/codes.go")
	if len(codes) < 30 {
		t.Fatalf("only %d codes found", len(codes))
	}
	for _, code := range codes {
		status, title := respond.Code(code).Status()
		if status == statusClientGone { // the client has disconnected and gets no response
			continue
		}
		if !strings.Contains(rows[code], strconv.Itoa(status)) || title == "" {
			t.Errorf("docs/http.md has %s under %q, want %d", code, rows[code], status)
		}
	}
}

// statusClientGone is the status in the log of a request whose client has disconnected. nginx uses the same number.
const statusClientGone = 499

// declaredCodes returns the string values of the constants in a source file, or of those that newCode makes.
func declaredCodes(t *testing.T, path string) (codes []string) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(file, func(node ast.Node) bool {
		spec, ok := node.(*ast.ValueSpec)
		if !ok || len(spec.Values) != 1 {
			return true
		}
		value := spec.Values[0]
		if call, ok := value.(*ast.CallExpr); ok && len(call.Args) > 0 {
			value = call.Args[0]
		}
		if literal, ok := value.(*ast.BasicLit); ok && literal.Kind == token.STRING {
			code, err := strconv.Unquote(literal.Value)
			if err != nil {
				t.Fatal(err)
			}
			codes = append(codes, code)
		}
		return true
	})
	return codes
}
