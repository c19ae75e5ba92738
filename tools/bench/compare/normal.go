package compare

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// What differs in every run, and the word that replaces it.
var (
	refs      = regexp.MustCompile(`\b0[0-9A-HJKMNP-TV-Z]{25}\b`)
	uuids     = regexp.MustCompile(`\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b`)
	traces    = regexp.MustCompile(`\b[0-9a-f]{32}\b`)
	keys      = regexp.MustCompile(`(?i)(Idempotency-Key: )"?[^"\r\n]+"?`)
	tokens    = regexp.MustCompile(`\beyJ[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+`)
	ports     = regexp.MustCompile(`127\.0\.0\.1:\d+`)
	times     = regexp.MustCompile(`\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:Z|[+-]\d{2}:\d{2})`)
	durations = regexp.MustCompile(`"((?:[a-zA-Z]*(?:Ms|_ms|[sS]econds|[dD]uration|took|latency|age|uptime|pid))|(?:elapsed|waited))":("[^"]*"|-?[0-9.]+)`)
	steps     = regexp.MustCompile(`"(compile|decode|fetch|lint|publish|wait|token|ms)": ?[0-9.e-]+`)
	cursors   = regexp.MustCompile(`"next": ?"[^"]*"`)
	spans     = regexp.MustCompile(`\b\d+(?:\.\d+)?(?:ns|µs|ms|s)\b`)
)

// normal replaces what differs in every run.
func (s *side) normal(text string) string {
	text = strings.ReplaceAll(text, s.dir, "DIR")
	text = tokens.ReplaceAllString(text, "TOKEN")
	text = ports.ReplaceAllString(text, "ADDRESS")
	text = refs.ReplaceAllString(text, "REF")
	text = uuids.ReplaceAllString(text, "UUID")
	text = traces.ReplaceAllString(text, "TRACE")
	text = keys.ReplaceAllString(text, "${1}KEY")
	text = durations.ReplaceAllString(text, `"$1":0`)
	text = cursors.ReplaceAllString(text, `"next":"CURSOR"`)
	return steps.ReplaceAllString(text, `"$1":0`)
}

// sentCalls returns the calls of this step in their normal form. Whether a call used a kept
// connection depends on the time since the one before, so "Connection: close" is left out.
func (s *side) sentCalls() string {
	return strings.ReplaceAll(s.normal(strings.Join(s.service.sent(), "\n")), "Connection: close\r\n", "")
}

// tolerance is how much later one side may do something than the other.
const tolerance = 20 * time.Second

// same compares two texts. Times may differ by the tolerance.
func same(a, b string) bool {
	if times.ReplaceAllString(a, "TIME") != times.ReplaceAllString(b, "TIME") {
		return false
	}
	left, right := times.FindAllString(a, -1), times.FindAllString(b, -1)
	for i := range left {
		x, errX := time.Parse(time.RFC3339Nano, left[i])
		y, errY := time.Parse(time.RFC3339Nano, right[i])
		if (errX == nil) != (errY == nil) || errX != nil && left[i] != right[i] || x.Sub(y).Abs() > tolerance {
			return false
		}
	}
	return true
}

// describe returns an answer in its normal form: the status, the header fields and the body.
func (s *side) describe(a answer) string {
	if a.Failed != "" {
		return s.normal(a.Failed)
	}
	lines := []string{strconv.Itoa(a.Status)}
	for name, values := range a.Header {
		switch http.CanonicalHeaderKey(name) {
		case "Date", "X-Request-Id", "Etag", "Last-Modified", "Content-Length":
			values = []string{"…"} // that they are there
		}
		lines = append(lines, name+": "+strings.Join(values, ", "))
	}
	slices.Sort(lines[1:])
	return s.normal(strings.Join(append(lines, "", a.Body), "\n"))
}

// logged returns the events of the log with their level, message and fields, and how
// often each occurs. Events that a clock decides are counted once.
func (s *side) logged(log string) map[string]int {
	found := map[string]int{}
	for line := range strings.Lines(log) {
		var entry map[string]any
		if json.Unmarshal([]byte(line), &entry) != nil {
			found["not JSON: "+s.normal(strings.TrimSpace(line))]++
			continue
		}
		fields := make([]string, 0, len(entry))
		for name := range entry {
			fields = append(fields, name)
		}
		slices.Sort(fields)
		event, _ := entry["event"].(string)
		text := fmt.Sprintf("%v %s: %s (%s)", entry["level"], event, s.plain(fmt.Sprint(entry["msg"])), strings.Join(fields, " "))
		if strings.HasPrefix(event, "order.") {
			found[text]++
		} else {
			found[text] = 1
		}
	}
	return found
}

var numbers = regexp.MustCompile(`\d+`)

// plain is normal without times and numbers: two lines of the log with equal texts are of the same kind.
func (s *side) plain(text string) string {
	text = times.ReplaceAllString(s.normal(text), "TIME")
	return numbers.ReplaceAllString(spans.ReplaceAllString(text, "SPAN"), "N")
}

// exported returns the names, types and labels of the metrics.
func (s *side) exported(text string) []string {
	var found []string
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		if !strings.HasPrefix(line, "#") {
			line = line[:strings.LastIndexByte(line, ' ')]
		}
		if strings.HasPrefix(line, "go_") || strings.Contains(line, "larder_build_info") || strings.Contains(line, "go_info") {
			continue
		}
		found = append(found, s.normal(line))
	}
	slices.Sort(found)
	return slices.Compact(found)
}
