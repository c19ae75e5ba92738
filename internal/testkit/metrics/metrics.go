// Package metrics reads a process's /metrics, for tests and measurements.
//
// It is test support: only tests, benchmarks and tools import it.
package metrics

import (
	"bufio"
	"strconv"
	"strings"
)

// Sample maps the series of /metrics, in their text form, to their values.
type Sample map[string]float64

// Parse reads the text format of Prometheus. It skips lines that are not series.
func Parse(text string) Sample {
	sample := Sample{}
	lines := bufio.NewScanner(strings.NewReader(text))
	for lines.Scan() {
		line := lines.Text()
		cut := strings.LastIndexByte(line, ' ')
		if cut < 0 || strings.HasPrefix(line, "#") {
			continue
		}
		if value, err := strconv.ParseFloat(line[cut+1:], 64); err == nil {
			sample[line[:cut]] = value
		}
	}
	return sample
}

// Sum adds the series of a name whose labels contain every given text, such as
// `status="2xx"`.
func (s Sample) Sum(name string, labels ...string) float64 {
	sum := 0.0
series:
	for series, value := range s {
		if series != name && !strings.HasPrefix(series, name+"{") {
			continue
		}
		for _, label := range labels {
			if !strings.Contains(series, label) {
				continue series
			}
		}
		sum += value
	}
	return sum
}
