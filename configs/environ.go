package configs

import (
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"
)

// envPrefix begins the name of every variable that larder reads.
const envPrefix = "LARDER_"

// variablesOf returns the LARDER_… variables. The last entry of env (see os.Environ) wins.
func variablesOf(env []string) map[string]string {
	variables := map[string]string{}
	for _, given := range env {
		if name, text, ok := strings.Cut(given, "="); ok && strings.HasPrefix(name, envPrefix) {
			variables[name] = text
		}
	}
	return variables
}

// variable takes the variable with this name.
func (l *loader) variable(name string) value {
	text, ok := l.variables[name]
	if !ok {
		return value{}
	}
	delete(l.variables, name)
	return ofVariable(name, text)
}

func ofVariable(name, text string) value {
	return value{Node: &yaml.Node{Kind: yaml.ScalarNode, Value: text}, variable: name}
}

// below returns the name of the variable for a key or an index, or "" if there is neither it nor one for what is inside.
func (l *loader) below(name, key string) string {
	if name == "" {
		return ""
	}
	name = variableName(name, key)
	for given := range l.variables {
		if rest, ok := strings.CutPrefix(given, name); ok && (rest == "" || rest[0] == '_') {
			return name
		}
	}
	return ""
}

func variableName(name, key string) string { return name + "_" + strings.ToUpper(key) }

// rejectIndexes reports variables for elements after the next one of a list.
func (l *loader) rejectIndexes(path, name string, next int) {
	for given := range l.variables {
		rest, ok := strings.CutPrefix(given, name+"_")
		digits, _, _ := strings.Cut(rest, "_")
		if i, err := strconv.Atoi(digits); ok && err == nil && i > next {
			delete(l.variables, given)
			l.problemAt(Position{Variable: given}, fmt.Sprintf("%s[%d]", path, i),
				"there is no such element: the list has %d, the next index is %d", next, next)
		}
	}
}

// warnOfVariables warns of variables that begin with the name of a section and are not settings.
func (l *loader) warnOfVariables(t reflect.Type) {
	for _, name := range slices.Sorted(maps.Keys(l.variables)) {
		isSection := func(f field) bool { return strings.HasPrefix(name, envPrefix+strings.ToUpper(f.name)+"_") }
		if injected.MatchString(name) || !slices.ContainsFunc(fieldsOf(t), isSection) {
			continue
		}
		meant := ""
		if i := slices.IndexFunc(l.names, func(known string) bool { return isTypo(name, known) }); i >= 0 {
			meant = "; did you mean " + l.names[i] + "?"
		}
		l.warnings = append(l.warnings, fmt.Sprintf("environment %s is not a setting and is ignored%s", name, meant))
	}
}

// Variable returns the value of an environment variable; the last entry of env (see os.Environ) wins.
func Variable(env []string, name string) (value string, ok bool) {
	for _, given := range slices.Backward(env) {
		if key, value, ok := strings.Cut(given, "="); ok && key == name {
			return value, true
		}
	}
	return "", false
}

// injected matches variables that Kubernetes sets for a Service with a name such as larder-redis.
var injected = regexp.MustCompile(`(^|_)(SERVICE_HOST|SERVICE_PORT(_[A-Z0-9_]+)?|PORT(_[0-9]+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)?)$`)
