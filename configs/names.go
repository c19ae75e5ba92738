package configs

import (
	"fmt"
	"regexp"
	"strings"

	"larder/internal/setting"
)

// unknown reports a key that the section does not have.
func (l *loader) unknown(path string, e entry, keys []field) {
	section := "the configuration"
	if path != "" {
		section = path
	}
	if former := formerKeys[join(inGeneral(path), e.name)]; former.instead != "" {
		l.problemAt(e.at, "", "%s was removed: %s", join(path, e.name), former.instead)
		return
	} else if former.now != "" {
		l.unread[join(path, former.now)] = true
		l.problemAt(e.at, "", "the key %q in %s is called %q now: rename it", e.name, section, former.now)
		return
	}
	names := make([]string, 0, len(keys))
	for _, f := range keys {
		names = append(names, f.name)
	}
	guess := setting.Nearest(e.name, names)
	// A section auth elsewhere is one that is indented by mistake.
	underAuth := path == "auth" || strings.HasPrefix(path, "auth.") || strings.HasPrefix(path, "auth[") || e.name == "auth"
	ignorable := !underAuth && !isTypo(e.name, guess)
	if l.allowUnknown && ignorable {
		l.warnings = append(l.warnings, fmt.Sprintf("%v: unknown key %q in %s is ignored", e.at, e.name, section))
		return
	}
	hint := "the keys are " + strings.Join(names, ", ")
	if guess != "" {
		l.unread[join(path, strings.TrimSuffix(guess, fileSuffix))] = true // most likely it was meant
		hint = fmt.Sprintf("did you mean %q?", guess)
	}
	if underAuth {
		hint += "; an unknown key under auth is always an error, also with --allow-unknown-keys: correct or remove it"
	}
	l.problemAt(e.at, "", "unknown key %q in %s: %s", e.name, section, hint)
	l.problems[len(l.problems)-1].Ignorable = ignorable
}

// formerKeys has the keys of earlier versions, without indexes, each with its
// present name or with what replaces it. One of these is always an error: what
// it asked for would silently not happen.
var formerKeys = map[string]struct{ now, instead string }{ //nolint:gochecknoglobals // constant
	"http.express_lane":         {now: "fast_path"},
	"http.drop_in":              {now: "compat"},
	"ordering.guest_ttl":        {now: "customer_data_ttl"},
	"ordering.allow_volatile":   {now: "allow_non_durable"},
	"ordering.time_ahead":       {now: "max_lead"},
	"ordering.time_grace":       {now: "past_tolerance"},
	"connections.wire_case":     {now: "field_case"},
	"connections.stop_list_any": {now: "stop_list_any_value"},
	"redis.data_dir": {
		instead: "larder starts no redis-server any more, and " +
			"a Redis service keeps its data where its own configuration says; remove the key",
	},
}

var indexForm = regexp.MustCompile(`\[\d+\]`)

// inGeneral returns the path without indexes; a restaurant's own section counts
// as the general one.
func inGeneral(path string) string {
	return strings.TrimPrefix(indexForm.ReplaceAllString(path, ""), "restaurants.")
}

// formerVariable reports a variable whose end, rest, names a former key of the
// section at path, and returns false for any other.
func (l *loader) formerVariable(from variable, rest, path string) bool {
	for key, former := range formerKeys {
		section, name, _ := strings.Cut(key, ".")
		inner, ok := strings.CutPrefix(rest+"_", strings.ToUpper(name)+"_")
		if !ok || section != inGeneral(path) {
			continue
		}
		if former.now == "" {
			l.problemAt(from.place(), "", "%s was removed: %s", key, former.instead)
		} else {
			inner = strings.TrimSuffix("_"+inner, "_")
			present := envPrefix + strings.TrimSuffix(from.key, rest) + strings.ToUpper(former.now) + inner
			l.problemAt(from.place(), "", "this variable is called %s now: rename it", present)
		}
		return true
	}
	return false
}

// isTypo reports whether name is so close to known that it must be a misspelling
// of it: the same but for case, or at most one letter in three and two in all
// wrong. It is stricter than Nearest, since a new key often resembles an old one.
func isTypo(name, known string) bool {
	return known != "" && setting.Distance(strings.ToLower(name), strings.ToLower(known)) <= min(len(name)/3, 2)
}
