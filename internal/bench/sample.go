package bench

import (
	"bufio"
	"strconv"
	"strings"
)

// Sample is what a process told of itself on /metrics: series, as written
// there, to their values.
type Sample map[string]float64

// ReadSample reads the text form of Prometheus. Lines that are no series are
// skipped.
func ReadSample(text string) Sample {
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

// Sum adds the series of a name whose labels hold every one of the given
// texts, such as `status="2xx"`.
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

// LiveHeap estimates what was reachable at the last collection, in bytes: the
// collector lets the heap grow to twice of it (GOGC 100) before the next one.
func (s Sample) LiveHeap() float64 { return s.Sum("go_memstats_next_gc_bytes") / 2 }
