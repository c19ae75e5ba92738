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

// variable is one of the environment, without envPrefix in its key.
type variable struct{ key, value string }

func (v variable) place() Place { return Place{Variable: envPrefix + v.key} }

// readEnvironment lays the LARDER_… variables over the tree of the struct v:
// LARDER_HTTP_LISTEN is http.listen, LARDER_CONNECTIONS_0_BASE_URL is
// connections[0].base_url. A list may be extended by its next index; a list of
// single values may also be given whole, separated by commas.
func (l *loader) readEnvironment(tree *node, v reflect.Value) {
	var variables []variable
	for _, given := range l.env {
		name, value, _ := strings.Cut(given, "=")
		if key, ok := strings.CutPrefix(name, envPrefix); ok {
			variables = append(variables, variable{key, value})
		}
	}
	slices.SortStableFunc(variables, func(a, b variable) int { // an index before its next
		return slices.CompareFunc(strings.Split(a.key, "_"), strings.Split(b.key, "_"), naturalOrder)
	})
	for _, from := range variables {
		if !l.overlay(from, from.key, "", tree, v) && hasSectionPrefix(from.key, v.Type()) && !injected.MatchString(from.key) {
			l.warnings = append(l.warnings, fmt.Sprintf("%v names no setting and is ignored", from.place()))
		}
	}
}

// lookup returns the value of a variable of any name.
func (l *loader) lookup(name string) (string, bool) {
	for _, given := range slices.Backward(l.env) {
		if key, value, ok := strings.Cut(given, "="); ok && key == name {
			return value, true
		}
	}
	return "", false
}

// injected matches what Kubernetes puts into a container's environment for a
// Service that happens to be called larder or larder-redis.
var injected = regexp.MustCompile(`(^|_)(SERVICE_HOST|SERVICE_PORT(_[A-Z0-9_]+)?|PORT(_[0-9]+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)?)$`)

// naturalOrder puts 2 before 10.
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

// overlay sets what rest, the end of the variable's key, names in n. v is of the
// type that n is for, with its defaults. It returns false if rest names nothing.
func (l *loader) overlay(from variable, rest, path string, n *node, v reflect.Value) bool {
	if v.Kind() == reflect.Pointer {
		v = newDefault(v.Type().Elem())
	}
	isList := v.Kind() == reflect.Slice && !isText(v.Type())
	switch {
	case rest != "" && (n.kind == single || n.kind == list && !isList || n.kind == section && isList):
		l.problemAt(from.place(), path, "this is inside %v, which stands at %v", n, n.at)
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
		l.problemAt(from.place(), path, "this is a section of several keys, not one value")
	default:
		*n = node{kind: single, at: from.place(), text: from.value}
	}
	return true
}

func (l *loader) overlayKey(from variable, rest, path string, n *node, v reflect.Value) bool {
	for _, f := range sectionKeys(v.Type()) {
		inner, ok := strings.CutPrefix(rest+"_", strings.ToUpper(f.name)+"_")
		if !ok || f.secret && inner != "" { // nothing is inside a secret; its file is the next key
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
		n.keys = slices.DeleteFunc(n.keys, func(e entry) bool { // a secret of a variable wins, by value or by a file
			return e.name == f.name || (f.secret || f.isFile) && e.at.Variable == "" &&
				strings.TrimSuffix(e.name, fileSuffix) == strings.TrimSuffix(f.name, fileSuffix)
		})
		n.keys = append(n.keys, entry{f.name, from.place(), value})
		return true
	}
	return l.formerVariable(from, rest, path)
}

// overlayElement sets an element of a list, or the one after its last.
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
		l.unread[path] = known // its other elements are known
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
