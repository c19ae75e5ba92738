package web_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"larder.local/internal/testkit/bundle"
)

// TestLogic runs testdata/logic: limits, prices, basket, intents and texts. They are bundled like
// the components and run by Node, which the browser tests need too.
func TestLogic(t *testing.T) {
	t.Parallel()
	node, err := exec.LookPath("node")
	if err != nil {
		t.Fatal("node is missing: apt-get install nodejs")
	}
	outputs, err := bundle.Build("testdata/logic")
	if err != nil {
		t.Fatal(err)
	}
	for _, output := range outputs {
		file := filepath.Join(t.TempDir(), "logic.test.mjs")
		if err := os.WriteFile(file, output.Body, 0o600); err != nil {
			t.Fatal(err)
		}
		printed, err := exec.CommandContext(t.Context(), node, "--test", file).CombinedOutput()
		if err != nil {
			t.Errorf("%s: %v\n%s", output.Name, err, printed)
		}
	}
}
