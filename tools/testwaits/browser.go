package main

import (
	"regexp"
	"strconv"
	"strings"
	"time"
)

// A pause of a browser scenario: Playwright's waitForTimeout, a promise that setTimeout
// resolves, or setTimeout of node:timers/promises.
var pause = regexp.MustCompile(`waitForTimeout\(|new Promise\(\s*\(?\s*\w+\s*\)?\s*=>\s*\{?\s*setTimeout\(|await\s+setTimeout\(|promisify\(setTimeout\)|scheduler\.wait\(|\bsetTimeout as `)

// A time limit of a module in milliseconds: an option of Playwright, or a function's argument.
var moduleLimits = []*regexp.Regexp{
	regexp.MustCompile(`\btimeout\s*:\s*([\w *]+)`),
	regexp.MustCompile(`[{,]\s*(timeout)\s*[,}]`),
	regexp.MustCompile(`(?:AbortSignal\.timeout|setDefaultTimeout|setDefaultNavigationTimeout)\(\s*([\w *]+)\)`),
	regexp.MustCompile(`\bsetTimeout\([^;]*?\breject\b[^;]*?,\s*([\w *]+)\)`),
}

// A port on which a module listens, or to which it connects.
var modulePort = regexp.MustCompile(`\.listen\(\s*(?:\{[^}]*?\bport\s*:\s*)?(\w+)|(?:fetch|goto|connect)\(\s*['"` + "`" + `]\w+://(?:localhost|127\.[\d.]+|\[::1\]):(\d+)`)

// A name for a number.
var moduleConstant = regexp.MustCompile(`\b(?:const|let)\s+(\w+)\s*=\s*([\d_ *]+);`)

// checkModule returns the findings of a JavaScript module.
func checkModule(path, text string) []finding {
	var findings []finding
	report := func(at int, what string) {
		findings = append(findings, finding{path, 1 + strings.Count(text[:at], "\n"), what})
	}
	for _, at := range pause.FindAllStringIndex(text, -1) {
		report(at[0], "a sleep: wait for its effect with a locator, waitForFunction or eventually")
	}
	constants := map[string]string{}
	for _, constant := range moduleConstant.FindAllStringSubmatch(text, -1) {
		constants[constant[1]] = constant[2]
	}
	limit := func(at int, value string) {
		if d := time.Duration(product(value, constants) * 1e6); d > 0 && d < least {
			report(at, "a limit of "+d.String()+": use a minute, which a passing scenario does not wait for")
		}
	}
	for _, limits := range moduleLimits {
		for _, at := range limits.FindAllStringSubmatchIndex(text, -1) {
			limit(at[2], text[at[2]:at[3]])
		}
	}
	for _, at := range regexp.MustCompile(`\beventually\(`).FindAllStringIndex(text, -1) {
		if args := arguments(text[at[1]:]); len(args) > 2 {
			limit(at[0], args[2])
		}
	}
	for _, at := range modulePort.FindAllStringSubmatchIndex(text, -1) {
		number := text[max(at[2], at[4]):max(at[3], at[5])]
		if product(number, constants) > 0 {
			report(at[0], "port "+number+" may be in use: listen on port 0 and read the address")
		}
	}
	return without(path, findings, moduleExceptions(text))
}

// product returns the value of 5 * 1000, of 5_000, or of a name for it, or 0.
func product(text string, constants map[string]string) float64 {
	result := 1.0
	for factor := range strings.SplitSeq(text, "*") {
		factor = strings.TrimSpace(factor)
		if value, ok := constants[factor]; ok {
			result *= product(value, nil)
			continue
		}
		n, err := strconv.ParseFloat(strings.ReplaceAll(factor, "_", ""), 64)
		if err != nil {
			return 0
		}
		result *= n
	}
	return result
}

// arguments returns the arguments of a call, from the text behind its parenthesis. A comma
// or a parenthesis in a text or in brackets separates nothing.
func arguments(text string) (args []string) {
	depth, from, quote := 0, 0, rune(0)
	for i, c := range text {
		switch {
		case quote != 0:
			if c == quote && text[i-1] != '\\' {
				quote = 0
			}
		case strings.ContainsRune("'\"`", c):
			quote = c
		case strings.ContainsRune("([{", c):
			depth++
		case depth > 0 && strings.ContainsRune(")]}", c):
			depth--
		case depth == 0 && (c == ',' || c == ')'):
			args, from = append(args, text[from:i]), i+1
			if c == ')' {
				return args
			}
		}
	}
	return nil
}

// moduleExceptions returns the comments of a module that allow a finding.
func moduleExceptions(text string) (exceptions []exception) {
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
	return exceptions
}
