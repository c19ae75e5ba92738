package cli

import (
	"testing"

	"larder.local/configs"
)

func TestSafe(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"Crème brûlée · 北京烤鸭 👩‍🍳": "Crème brûlée · 北京烤鸭 👩‍🍳",
		"می\u200cخواهم":           "می\u200cخواهم",
		"a\x1b[0mb":               `a\x1b[0mb`,
		"a\nb\tc\rd":              `a\nb\tc\rd`,
		"\u009b\u202e\u2066\x7f":  `\u009b\u202e\u2066\x7f`,
		"bad \x9b byte \xff":      `bad \x9b byte \xff`,
		"\U000e0041":              `\U000e0041`,
		"it's \"quoted\"":         "it's \"quoted\"",
	} {
		if got := Safe(text); got != want {
			t.Errorf("safe(%q) = %q, want %q", text, got, want)
		}
	}
}

// An error of a configuration file is one line, whatever its values contain.
func TestErrorLines(t *testing.T) {
	t.Parallel()
	_, err := configs.Load("", []string{"LARDER_SYNC_HISTORY=x\ny", "LARDER_CACHE_MEMORY=z"})
	if lines := errorLines(&hintError{err, ""}); len(lines) != 2 {
		t.Errorf("two faults are the lines %q", lines)
	}
}
