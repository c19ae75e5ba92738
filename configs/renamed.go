package configs

import (
	"regexp"
	"strings"
)

// renamedKeys has the present name of each key that had another one.
var renamedKeys = map[string]string{ //nolint:gochecknoglobals // constant
	"http.express_lane":         "fast_path",
	"http.drop_in":              "compat",
	"ordering.guest_ttl":        "customer_data_ttl",
	"ordering.allow_volatile":   "allow_non_durable",
	"ordering.time_ahead":       "max_lead",
	"ordering.time_grace":       "past_tolerance",
	"connections.wire_case":     "field_case",
	"connections.stop_list_any": "stop_list_any_value",
}

var (
	indexOfPath     = regexp.MustCompile(`\[\d+\]`)
	indexOfVariable = regexp.MustCompile(`_\d+_`)
)

// renamedKey returns the present name of a key of a section, or "".
func renamedKey(section, key string) string {
	section = strings.TrimPrefix(indexOfPath.ReplaceAllString(section, ""), "restaurants.")
	return renamedKeys[join(section, key)]
}

// renamedVariable returns the present name of a variable whose key had another
// name, or "".
func renamedVariable(name string) string {
	plain := strings.TrimPrefix(indexOfVariable.ReplaceAllString(name, "_"), envPrefix)
	plain = strings.TrimPrefix(plain, "RESTAURANTS_")
	for was, is := range renamedKeys {
		section, key, _ := strings.Cut(strings.ToUpper(was), ".")
		if rest, ok := strings.CutPrefix(plain, section+"_"+key); ok && (rest == "" || rest[0] == '_') {
			i := strings.LastIndex(name, key+rest)
			return name[:i] + strings.ToUpper(is) + rest
		}
	}
	return ""
}
