package configs

import (
	"fmt"
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
	if betweenQuotes.MatchString(v.String()) {
		l.problem(path, `has typographic quotes around it, which would be part of the secret: use " or ', or remove them`)
	}
	return true
}

// betweenQuotes matches what a word processor makes of a text in quotes.
var betweenQuotes = regexp.MustCompile(`^[“”„‟‘’‚‛«»‹›].*[“”„‟‘’‚‛«»‹›]$`)

// minClientSecret is the length in bytes below which a secret of an ordering service is probably incomplete.
const minClientSecret = 8

// warnOfWeakSecrets warns of secrets that are accepted because only this machine can reach larder (policy H8), and of short
// secrets of ordering services.
func (c *Config) warnOfWeakSecrets(l *loader) {
	warn := func(key, format string, args ...any) {
		l.warnings = append(l.warnings, fmt.Sprintf("%v: %s: ", l.places.find(key), key)+fmt.Sprintf(format, args...))
	}
	for i, connection := range c.Connections {
		if n := len(connection.ClientSecret); n > 0 && n < minClientSecret {
			warn(fmt.Sprintf("connections[%d].client_secret", i), "has fewer than %d bytes: check that it is complete", minClientSecret)
		}
	}
	if c.HTTP.Exposed() != "" { // checkSecrets rejects them
		return
	}
	for _, weak := range c.Auth.WeakSecrets() {
		if !slices.Contains(demoSecrets, weak.Secret) && weak.Secret != "" && weak.Secret != redacted {
			warn(weak.Key, "%s; larder rejects it as soon as other machines can reach it: create a random one with "+
				"`openssl rand -base64 32`", weak.Msg)
		}
	}
}

// warnOfMode warns of a file with secrets that others can read or change (policy H12).
func (l *loader) warnOfMode(key, name string) {
	if l.thorough && smallfile.OpenToOthers(name) {
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
