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

// overlay lays the LARDER_… variables over the struct that v addresses:
// LARDER_HTTP_LISTEN is http.listen, LARDER_CONNECTIONS_0_BASE_URL is
// connections[0].base_url. A list may be extended by its next index; a list of
// plain values may also be given whole, separated by commas.
func (l *loader) overlay(env []string, v reflect.Value) {
	for _, variable := range variables(env) {
		rest := strings.TrimPrefix(variable.name, envPrefix)
		if l.overlayStruct(variable, "", rest, v) {
			continue
		}
		if now := renamedVariable(variable.name); now != "" {
			l.problem(origin{variable: variable.name}, "", "this variable is called %s now: rename it", now)
			continue
		}
		if !l.isOurs(rest, v.Type()) || injected.MatchString(rest) {
			continue
		}
		if key, instead := removedVariable(rest); key != "" {
			l.problem(origin{variable: variable.name}, "", "%s was removed: %s", key, instead)
			continue
		}
		l.warnings = append(l.warnings, fmt.Sprintf("environment %s names no setting and is ignored", variable.name))
	}
}

// removedVariable returns the removed key that a variable names, and what replaces it.
func removedVariable(rest string) (key, instead string) {
	for key, instead := range removedKeys {
		if rest == strings.ToUpper(strings.ReplaceAll(key, ".", "_")) {
			return key, instead
		}
	}
	return "", ""
}

// injected matches what Kubernetes puts into a container's environment for a
// Service that happens to be called larder or larder-redis.
var injected = regexp.MustCompile(`(^|_)(SERVICE_HOST|SERVICE_PORT(_[A-Z0-9_]+)?|PORT(_[0-9]+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)?)$`)

type variable struct{ name, value string }

// variables are the LARDER_… ones, an index before its next.
func variables(env []string) []variable {
	var found []variable
	for _, entry := range env {
		name, value, ok := strings.Cut(entry, "=")
		if ok && strings.HasPrefix(name, envPrefix) {
			found = append(found, variable{name, value})
		}
	}
	slices.SortStableFunc(found, func(a, b variable) int {
		return slices.CompareFunc(strings.Split(a.name, "_"), strings.Split(b.name, "_"), natural)
	})
	return found
}

// natural orders 2 before 10.
func natural(a, b string) int {
	m, errA := strconv.Atoi(a)
	n, errB := strconv.Atoi(b)
	if errA == nil && errB == nil {
		return cmp.Compare(m, n)
	}
	return strings.Compare(a, b)
}

// isOurs says whether the variable begins with the name of a section.
func (l *loader) isOurs(rest string, t reflect.Type) bool {
	return slices.ContainsFunc(fieldsOf(t), func(f field) bool {
		return strings.HasPrefix(rest, strings.ToUpper(f.name)+"_")
	})
}

// overlayValue sets what rest names inside v; false when it names nothing.
func (l *loader) overlayValue(from variable, path, rest string, v reflect.Value) bool {
	switch {
	case v.Kind() == reflect.Pointer:
		return l.overlayPointer(from, path, rest, v)
	case rest == "" && v.Kind() == reflect.Slice && !isText(v.Type()):
		return l.overlayList(from, path, v)
	case rest == "":
		l.origins[path] = origin{variable: from.name}
		if err := setText(v, from.value); err != nil {
			l.problem(l.origins[path], path, "%v", err)
		}
		return true
	case v.Kind() == reflect.Struct:
		return l.overlayStruct(from, path, rest, v)
	case v.Kind() == reflect.Slice:
		return l.overlayElement(from, path, rest, v)
	default:
		return false
	}
}

func (l *loader) overlayPointer(from variable, path, rest string, v reflect.Value) bool {
	fresh := reflect.New(v.Type().Elem())
	if v.IsNil() {
		setDefaults(fresh.Elem())
	} else {
		fresh.Elem().Set(v.Elem())
	}
	if !l.overlayValue(from, path, rest, fresh.Elem()) {
		return false
	}
	v.Set(fresh)
	return true
}

func (l *loader) overlayStruct(from variable, path, rest string, v reflect.Value) bool {
	for _, f := range fieldsOf(v.Type()) {
		where, name := join(path, f.name), strings.ToUpper(f.name)
		target := v.FieldByIndex(f.index)
		if f.secret && rest == name+strings.ToUpper(fileSuffix) {
			l.replaceSecret(where)
			l.secretFiles[where] = secretFile{from.value, origin{variable: from.name}}
			return true
		}
		if rest == name {
			if f.secret {
				l.replaceSecret(where)
			}
			l.overlayValue(from, where, "", target)
			return true
		}
		if inner, ok := strings.CutPrefix(rest, name+"_"); ok && l.overlayValue(from, where, inner, target) {
			return true
		}
	}
	return false
}

// replaceSecret forgets what the file gives of a secret, by value or by file.
func (l *loader) replaceSecret(path string) {
	if l.origins[path].variable == "" {
		delete(l.origins, path)
	}
	if l.secretFiles[path].at.variable == "" {
		delete(l.secretFiles, path)
	}
}

// overlayElement sets one element of a list, or the one after its last.
func (l *loader) overlayElement(from variable, path, rest string, v reflect.Value) bool {
	digits, inner, _ := strings.Cut(rest, "_")
	i, err := strconv.Atoi(digits)
	if err != nil || i < 0 {
		return false
	}
	if i > v.Len() {
		known := l.unread[path]
		l.problem(origin{variable: from.name}, path, "there is no element %d: the list has %d, the next index is %d", i, v.Len(), v.Len())
		l.unread[path] = known // its other elements are known
		return true
	}
	where := fmt.Sprintf("%s[%d]", path, i)
	if i < v.Len() {
		return l.overlayValue(from, where, inner, v.Index(i))
	}
	fresh := reflect.New(v.Type().Elem()).Elem()
	setDefaults(fresh)
	grown := reflect.Append(v, fresh)
	if !l.overlayValue(from, where, inner, grown.Index(i)) {
		return false
	}
	if _, known := l.origins[where]; !known {
		l.origins[where] = origin{variable: from.name}
	}
	v.Set(grown)
	return true
}

func (l *loader) overlayList(from variable, path string, v reflect.Value) bool {
	l.origins[path] = origin{variable: from.name}
	var texts []string
	for text := range strings.SplitSeq(from.value, ",") {
		if text = strings.TrimSpace(text); text != "" {
			texts = append(texts, text)
		}
	}
	list := reflect.MakeSlice(v.Type(), len(texts), len(texts))
	for i, text := range texts {
		if err := setText(list.Index(i), text); err != nil {
			l.problem(l.origins[path], path, "element %d: %v", i, err)
			return true
		}
	}
	v.Set(list)
	return true
}
