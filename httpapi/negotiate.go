package httpapi

import "strings"

// coding is one content coding as a request values it, in thousandths.
type coding struct {
	weight int
	listed bool
}

// codings is what a request says about the two codings of this package.
type codings struct {
	gzip, identity coding
}

// readCodings reads Accept-Encoding; "*" stands for whatever is not listed.
func readCodings(header []string) codings {
	var read codings
	var anything coding
	for _, line := range header {
		for element := range strings.SplitSeq(line, ",") {
			name, parameters, _ := strings.Cut(element, ";")
			value := coding{weight: weight(parameters), listed: true}
			switch strings.ToLower(strings.TrimSpace(name)) {
			case "gzip", "x-gzip":
				read.gzip = value
			case "identity":
				read.identity = value
			case "*":
				anything = value
			}
		}
	}
	if !read.gzip.listed {
		read.gzip = anything
	}
	if !read.identity.listed && anything.listed && anything.weight == 0 {
		read.identity = anything
	}
	return read
}

// acceptsGzip chooses between gzip and identity by RFC 9110, section 12.5.3.
// ok is false when the request takes neither. Where both are worth the same,
// gzip wins; identity that is not listed is worth least.
func acceptsGzip(header []string) (gzip, ok bool) {
	read := readCodings(header)
	if read.gzip.weight > 0 && read.gzip.weight >= read.identity.weight {
		return true, true
	}
	return false, !read.identity.listed || read.identity.weight > 0
}

// acceptsIdentity tells whether a request takes an answer without coding.
func acceptsIdentity(header []string) bool {
	read := readCodings(header)
	return !read.identity.listed || read.identity.weight > 0
}

// weight reads the q parameter, in thousandths: 1000 when there is none, 0
// when it is malformed (the element is then not acceptable).
func weight(parameters string) int {
	for parameter := range strings.SplitSeq(parameters, ";") {
		name, value, _ := strings.Cut(strings.TrimSpace(parameter), "=")
		if strings.EqualFold(strings.TrimSpace(name), "q") {
			return thousandths(strings.TrimSpace(value))
		}
	}
	return 1000
}

// thousandths reads a qvalue: 0 to 1 with at most three decimals.
func thousandths(text string) int {
	whole, fraction, _ := strings.Cut(text, ".")
	if (whole != "0" && whole != "1") || len(fraction) > 3 {
		return 0
	}
	value := 0
	for i := range 3 {
		digit := 0
		if i < len(fraction) {
			if fraction[i] < '0' || fraction[i] > '9' {
				return 0
			}
			digit = int(fraction[i] - '0')
		}
		value = value*10 + digit
	}
	if whole == "1" {
		if value > 0 {
			return 0
		}
		return 1000
	}
	return value
}
