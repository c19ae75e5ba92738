package configs

import (
	"cmp"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// envPrefix begins the name of every variable that larder reads.
const envPrefix = "LARDER_"

// variable is an environment variable. Its key is the name without envPrefix.
type variable struct{ key, value string }

func (v variable) place() Position { return Position{Variable: envPrefix + v.key} }

// readEnvironment applies the LARDER_… variables to the tree of the struct v. The next index adds an
// element to a list. A list of single values can also be one variable, separated by commas.
func (l *loader) readEnvironment(tree *node, v reflect.Value) {
	var variables []variable
	for _, given := range l.env {
		name, value, _ := strings.Cut(given, "=")
		if key, ok := strings.CutPrefix(name, envPrefix); ok {
			variables = append(variables, variable{key, value})
		}
	}
	slices.SortStableFunc(variables, func(a, b variable) int { // indexes in order
		return slices.CompareFunc(strings.Split(a.key, "_"), strings.Split(b.key, "_"), naturalOrder)
	})
	for _, from := range variables {
		l.meant = ""
		if !l.overlay(from, from.key, "", tree, v) && hasSectionPrefix(from.key, v.Type()) && !injected.MatchString(from.key) {
			l.warnings = append(l.warnings, fmt.Sprintf("%v is not a setting and is ignored%s", from.place(), l.meant))
		}
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

// naturalOrder sorts 2 before 10.
func naturalOrder(a, b string) int {
	m, errA := strconv.Atoi(a)
	n, errB := strconv.Atoi(b)
	if errA == nil && errB == nil {
		return cmp.Compare(m, n)
	}
	return strings.Compare(a, b)
}

// hasSectionPrefix reports whether the variable begins with the name of a section.
func hasSectionPrefix(key string, t reflect.Type) bool {
	return slices.ContainsFunc(fieldsOf(t), func(f field) bool {
		return strings.HasPrefix(key, strings.ToUpper(f.name)+"_")
	})
}

// overlay sets the value in n that rest, the end of the variable's key, names. v has
// the type of n's value, with defaults. overlay returns false if rest is not a key.
func (l *loader) overlay(from variable, rest, path string, n *node, v reflect.Value) bool {
	if v.Kind() == reflect.Pointer {
		v = newDefault(v.Type().Elem())
	}
	isList := v.Kind() == reflect.Slice && !isText(v.Type())
	switch {
	case rest != "" && (n.kind == single || n.kind == list && !isList || n.kind == section && isList):
		l.problemAt(from.place(), path, "this variable does not match the value, which is %v (%v)", n, n.at)
	case rest != "" && v.Kind() == reflect.Struct:
		return l.overlayKey(from, rest, path, n, v)
	case rest != "" && isList:
		return l.overlayElement(from, rest, path, n, v)
	case rest != "":
		return false
	case isList:
		*n = node{kind: list, at: from.place()}
		for text := range strings.SplitSeq(from.value, ",") {
			if text = strings.TrimSpace(text); text != "" {
				n.items = append(n.items, &node{kind: single, at: n.at, text: text})
			}
		}
	case v.Kind() == reflect.Struct && !isText(v.Type()):
		l.problemAt(from.place(), path, "this is a section: set its keys, one variable each")
	default:
		*n = node{kind: single, at: from.place(), text: from.value}
	}
	return true
}

func (l *loader) overlayKey(from variable, rest, path string, n *node, v reflect.Value) bool {
	for _, f := range sectionKeys(v.Type()) {
		inner, ok := strings.CutPrefix(rest+"_", strings.ToUpper(f.name)+"_")
		if !ok || f.secret && inner != "" { // a secret has no keys; _FILE is the next field
			continue
		}
		value := n.key(f.name)
		if value == nil || f.isFile {
			value = &node{}
		}
		if !l.overlay(from, strings.TrimSuffix(inner, "_"), join(path, f.name), value, v.FieldByIndex(f.index)) {
			continue
		}
		n.kind = section
		n.keys = slices.DeleteFunc(n.keys, func(e entry) bool { // a variable overrides both forms of a secret in the file
			return e.name == f.name || (f.secret || f.isFile) && e.at.Variable == "" &&
				strings.TrimSuffix(e.name, fileSuffix) == strings.TrimSuffix(f.name, fileSuffix)
		})
		n.keys = append(n.keys, entry{f.name, from.place(), value})
		return true
	}
	for _, f := range sectionKeys(v.Type()) {
		if isTypo(rest, f.name) {
			l.meant = "; did you mean " + envPrefix + strings.TrimSuffix(from.key, rest) + strings.ToUpper(f.name) + "?"
		}
	}
	return l.formerVariable(from, rest, path)
}

// overlayElement sets or appends an element of a list.
func (l *loader) overlayElement(from variable, rest, path string, n *node, v reflect.Value) bool {
	digits, inner, _ := strings.Cut(rest, "_")
	i, err := strconv.Atoi(digits)
	if err != nil || i < 0 {
		return false
	}
	items := n.items
	if n.kind == absent {
		for k := range v.Len() {
			items = append(items, &node{kind: single, text: fmt.Sprint(v.Index(k))})
		}
	}
	if i > len(items) {
		known := l.unread[path]
		l.problemAt(from.place(), path, "there is no element %d: the list has %d, the next index is %d", i, len(items), len(items))
		l.unread[path] = known // the other elements were read
		return true
	}
	if i == len(items) {
		items = append(slices.Clip(items), &node{at: from.place()})
	}
	if !l.overlay(from, inner, fmt.Sprintf("%s[%d]", path, i), items[i], newDefault(v.Type().Elem())) {
		return false
	}
	n.kind, n.items = list, items
	return true
}
