package configs

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/hbollon/go-edlib"

	"larder.local/internal/setting"
)

// unknown reports an unknown key of the section n.
func (l *loader) unknown(path string, at Position, name string, keys []string, n value) {
	section := cmp.Or(path, "the configuration")
	guess := setting.Nearest(name, keys)
	other := idOrName[name]
	swapped := slices.Contains(keys, other) && !n.has(other)
	if swapped {
		guess = other
	}
	// A section auth inside another one is indented by mistake.
	underAuth := strings.HasPrefix(path+".", "auth.") || name == "auth"
	ignorable := !underAuth && !swapped && !isTypo(name, guess)
	if l.allowUnknown && ignorable {
		l.warnings = append(l.warnings, fmt.Sprintf("%v: unknown key %q in %s is ignored", at, name, section))
		return
	}
	hint := "the keys are " + strings.Join(keys, ", ")
	if guess != "" {
		l.unread[join(path, strings.TrimSuffix(guess, fileSuffix))] = true // report no other error of guess, such as that it is missing
		hint = fmt.Sprintf("did you mean %q?", guess)
	}
	if underAuth {
		hint += "; under auth this is an error even with --allow-unknown-keys: correct or remove the key"
	}
	l.problemAt(at, "", "unknown key %q in %s: %s", name, section, hint)
	l.problems[len(l.problems)-1].Ignorable = ignorable
}

// idOrName has the key that is meant if a section has only one of both: connections have names, clients have ids.
var idOrName = map[string]string{"id": "name", "name": "id"} //nolint:gochecknoglobals // constant

// isTypo reports whether name differs from known in at most two letters, and in at most a third of its
// letters. It is stricter than Nearest, because a new key often resembles an old key.
func isTypo(name, known string) bool {
	return known != "" && edlib.OSADamerauLevenshteinDistance(strings.ToLower(name), strings.ToLower(known)) <= min(len(name)/3, 2)
}
