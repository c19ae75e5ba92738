package configs

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/hbollon/go-edlib"

	"larder/internal/setting"
)

// unknown reports an unknown key of the section.
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
		l.problemAt(e.at, "", "the key %q in %s was renamed: use %q", e.name, section, former.now)
		return
	}
	names := make([]string, 0, len(keys))
	for _, f := range keys {
		names = append(names, f.name)
	}
	guess := setting.Nearest(e.name, names)
	// A section auth inside another one is indented by mistake.
	underAuth := path == "auth" || strings.HasPrefix(path, "auth.") || strings.HasPrefix(path, "auth[") || e.name == "auth"
	ignorable := !underAuth && !isTypo(e.name, guess)
	if l.allowUnknown && ignorable {
		l.warnings = append(l.warnings, fmt.Sprintf("%v: unknown key %q in %s is ignored", e.at, e.name, section))
		return
	}
	hint := "the keys are " + strings.Join(names, ", ")
	if guess != "" {
		l.unread[join(path, strings.TrimSuffix(guess, fileSuffix))] = true // report no other error of guess, such as that it is missing
		hint = fmt.Sprintf("did you mean %q?", guess)
	}
	if underAuth {
		hint += "; under auth this is an error even with --allow-unknown-keys: correct or remove the key"
	}
	l.problemAt(e.at, "", "unknown key %q in %s: %s", e.name, section, hint)
	l.problems[len(l.problems)-1].Ignorable = ignorable
}

// formerKeys has the keys of earlier versions, without indexes. A former key is an error, because larder
// would otherwise ignore it and silently behave differently.
var formerKeys = map[string]struct{ now, instead string }{ //nolint:gochecknoglobals // constant
	"http.express_lane":         {now: "fast_path"},
	"http.drop_in":              {now: "compat"},
	"ordering.guest_ttl":        {now: "customer_data_ttl"},
	"ordering.allow_volatile":   {now: "allow_non_durable"},
	"ordering.time_ahead":       {now: "max_lead"},
	"ordering.time_grace":       {now: "past_tolerance"},
	"connections.wire_case":     {now: "field_case"},
	"connections.stop_list_any": {now: "stop_list_any_value"},
	"redis.data_dir":            {instead: "larder starts no redis-server; set the folder in the configuration of Redis and remove this key"},
}

var indexForm = regexp.MustCompile(`\[\d+\]`)

// inGeneral returns the path of the general section, without indexes: "ordering" for "restaurants[0].ordering".
func inGeneral(path string) string {
	return strings.TrimPrefix(indexForm.ReplaceAllString(path, ""), "restaurants.")
}

// formerVariable adds an error, and returns true, if rest is a former key of the section. rest is the variable's name after path.
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
			l.problemAt(from.place(), "", "this variable was renamed: use %s", present)
		}
		return true
	}
	return false
}

// isTypo reports whether name differs from known in at most two letters, and in at most a third of its
// letters. It is stricter than Nearest, because a new key often resembles an old key.
func isTypo(name, known string) bool {
	return known != "" && edlib.OSADamerauLevenshteinDistance(strings.ToLower(name), strings.ToLower(known)) <= min(len(name)/3, 2)
}
