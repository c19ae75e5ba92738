package configs

import (
	"reflect"
	"regexp"
	"slices"
	"strings"

	"larder.local/internal/smallfile"
)

// fileSuffix is the end of a key that names the file of a secret.
const fileSuffix = "_file"

// fillSecret sets a secret from its value, or from the file that the key with fileSuffix names. A variable overrides both.
func (l *loader) fillSecret(path, name string, inner, file value, v reflect.Value) bool {
	own, ownFile := l.variable(name), l.variable(variableName(name, "file"))
	if own.Node != nil || ownFile.Node != nil {
		inner, file = own, ownFile
	}
	source, key := "", path+fileSuffix
	l.fill(key, "", file, reflect.ValueOf(&source).Elem())
	switch {
	case source == "":
		if !l.fill(path, "", inner, v) {
			return false
		}
		if inner.variable == "" {
			text, name := v.String(), lastName(path)
			published := variableReference.MatchString(text) || redact(name, text) == text || slices.Contains(demoSecrets, text)
			l.secretInside = l.secretInside || !published
			l.expand(path, l.at(inner), v)
			if text == redacted {
				l.warnings = append(l.warnings, path+" is not a secret, but what larder config print writes in place of one: write the secret")
			}
		}
	case inner.Node != nil:
		l.problemAt(l.at(file), path, "set both by value (%v) and by %s: remove one of them", l.at(inner), lastName(key))
	default:
		if file.variable == "" {
			source = l.relative(source)
		}
		secret, err := smallfile.Secret(source)
		if err != nil {
			l.problemAt(l.at(file), key, "cannot read the secret: %v", err)
			l.unread[path] = true
			return true
		}
		l.warnOfMode(key, source)
		l.places[path] = l.at(file)
		v.SetString(secret)
	}
	return true
}

// warnOfMode warns of a file with secrets that others can read or change (policy H12).
func (l *loader) warnOfMode(key, name string) {
	if l.checkFiles && smallfile.OpenToOthers(name) {
		l.warnings = append(l.warnings, strings.TrimPrefix(key+": ", ": ")+
			name+" contains secrets, and every user who can enter its folder may read or change it: run chmod o-rw, or keep the folder private")
	}
}

// variableReference matches ${NAME} in a secret, $${ (an escaped ${), and a ${ without }.
var variableReference = regexp.MustCompile(`\$\$\{|\$\{([^}]*)(\}?)`)

// expand replaces each reference in a secret by the value of the variable.
func (l *loader) expand(path string, at Position, target reflect.Value) {
	target.SetString(variableReference.ReplaceAllStringFunc(target.String(), func(found string) string {
		if found == "$${" {
			return "${"
		}
		name, closed := strings.CutSuffix(found[len("${"):], "}")
		value, ok := Variable(l.env, name)
		switch {
		case !closed:
			l.problemAt(at, path, "${ without }: write ${NAME}, or $${ for a literal ${")
		case !ok:
			l.problemAt(at, path, "the environment variable %s is not set: set it, or use a file with %s%s",
				name, lastName(path), fileSuffix)
		}
		return value
	}))
}
