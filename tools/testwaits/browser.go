package main

import (
	"regexp"
	"strings"
)

// A pause of a browser scenario: Playwright's waitForTimeout, a promise that setTimeout
// resolves, or setTimeout of node:timers/promises.
var pause = regexp.MustCompile(`waitForTimeout\(|new Promise\(\s*\(?\s*\w+\s*\)?\s*=>\s*\{?\s*setTimeout\(|await\s+setTimeout\(`)

// checkModule returns the findings of a JavaScript module.
func checkModule(path, text string) []finding {
	var findings []finding
	for _, at := range pause.FindAllStringIndex(text, -1) {
		line := 1 + strings.Count(text[:at[0]], "\n")
		findings = append(findings, finding{path, line, "a sleep: wait for its effect with a locator, waitForFunction or eventually"})
	}
	var exceptions []exception
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		code, reason, ok := strings.Cut(line, allow)
		if !ok {
			continue
		}
		e := exception{line: i + 1, target: i + 1, reason: strings.TrimSpace(reason)}
		if strings.TrimSpace(code) == "" { // the next line that is no comment
			for e.target++; e.target <= len(lines) && strings.HasPrefix(strings.TrimSpace(lines[e.target-1]), "//"); e.target++ {
			}
		}
		exceptions = append(exceptions, e)
	}
	return without(path, findings, exceptions)
}
