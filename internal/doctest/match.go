package doctest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/google/go-cmp/cmp"
)

// anything stands in a page where it does not matter what comes.
const anything = "…"

// masks are what differs from run to run, wherever it stands: refs and other ids
// of larder's own, times, durations.
var (
	refMask  = regexp.MustCompile(`\b[0-9A-Z]{26}\b`)
	timeMask = regexp.MustCompile(`\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)?`)
	msMask   = regexp.MustCompile(`\b[\d.]+ m?s\b`)
)

func masked(text string) string {
	for _, mask := range []*regexp.Regexp{refMask, timeMask, msMask} {
		text = mask.ReplaceAllString(text, anything)
	}
	return text
}

// matchText tells how what came differs from what the page has; "" where it does
// not. Refs, times and milliseconds are of each run; "…" is anything within a
// line, and a line of its own any number of lines.
func matchText(page, came string) string {
	page, came = masked(page), masked(came)
	var form strings.Builder
	form.WriteString(`\A`)
	for line := range strings.Lines(page) {
		if strings.TrimSpace(line) == anything {
			form.WriteString(`(?:.*\n)*`)
			continue
		}
		form.WriteString(strings.ReplaceAll(regexp.QuoteMeta(line), anything, `.*`))
	}
	form.WriteString(`\z`)
	if regexp.MustCompile(form.String()).MatchString(came) {
		return ""
	}
	return "(-page +came)\n" + cmp.Diff(page, came)
}

// matchJSON is matchText for JSON, where "…" stands as a string: for any value,
// as the last element of a list for any more of them, as a member ("…": "…") for
// any more members. Otherwise members and elements are those of the page, in
// type and value; only times, refs and durations are of each run.
func matchJSON(page, came []byte) string {
	want, err := decode(page)
	if err != nil {
		return fmt.Sprintf("the page's own JSON: %v", err)
	}
	got, err := decode(came)
	if err != nil {
		return fmt.Sprintf("no JSON came: %v", err)
	}
	var differ []string
	compare("", want, got, func(path, format string, args ...any) {
		differ = append(differ, path+": "+fmt.Sprintf(format, args...))
	})
	if len(differ) == 0 {
		return ""
	}
	return strings.Join(differ, "\n")
}

// decode reads exactly one JSON value, its numbers as they are written.
func decode(text []byte) (value any, err error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	if err := decoder.Decode(&value); err != nil {
		return nil, err
	}
	if _, err := decoder.Token(); err != io.EOF {
		return nil, errors.New("more than one value")
	}
	return value, nil
}

// compare tells each difference with its JSON Pointer.
func compare(path string, want, got any, tell func(path, format string, args ...any)) {
	switch want := want.(type) {
	case string:
		compareString(path, want, got, tell)
	case map[string]any:
		compareObject(path, want, got, tell)
	case []any:
		compareList(path, want, got, tell)
	case json.Number:
		if number, ok := got.(json.Number); !ok || number != want && !ofEachRun(path) {
			tell(path, "%v, the page has %v", shown(got), want)
		}
	default:
		if want != got {
			tell(path, "%v, the page has %v", shown(got), shown(want))
		}
	}
}

// ofEachRun tells whether the number there is a duration.
func ofEachRun(path string) bool {
	return strings.Contains(path, "/steps/") || strings.HasSuffix(path, "/ms")
}

func compareString(path, want string, got any, tell func(path, format string, args ...any)) {
	if want == anything {
		return
	}
	text, ok := got.(string)
	if !ok || !sameString(want, text) {
		tell(path, "%v, the page has %q", shown(got), want)
	}
}

func sameString(want, got string) bool {
	if _, err := time.Parse(time.RFC3339, want); err == nil {
		_, err = time.Parse(time.RFC3339, got)
		return err == nil
	}
	if refMask.FindString(want) == want && len(want) > 0 {
		return refMask.FindString(got) == got && len(got) == len(want)
	}
	form := strings.ReplaceAll(regexp.QuoteMeta(want), anything, `.*`)
	return regexp.MustCompile(`(?s)\A` + form + `\z`).MatchString(got)
}

func compareObject(path string, want map[string]any, got any, tell func(path, format string, args ...any)) {
	object, ok := got.(map[string]any)
	if !ok {
		tell(path, "%v, the page has an object", shown(got))
		return
	}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if name == anything {
			continue
		}
		value, there := object[name]
		if !there {
			tell(path+"/"+name, "did not come")
			continue
		}
		compare(path+"/"+name, want[name], value, tell)
	}
	if _, more := want[anything]; more {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(object)) {
		if _, known := want[name]; !known {
			tell(path+"/"+name, "%v came, the page does not have it", shown(object[name]))
		}
	}
}

func compareList(path string, want []any, got any, tell func(path, format string, args ...any)) {
	list, ok := got.([]any)
	if !ok {
		tell(path, "%v, the page has a list", shown(got))
		return
	}
	more := len(want) > 0 && want[len(want)-1] == anything
	if more {
		want = want[:len(want)-1]
	}
	if len(list) < len(want) || len(list) > len(want) && !more {
		tell(path, "%d elements, the page has %d", len(list), len(want))
		return
	}
	for i := range want {
		compare(fmt.Sprintf("%s/%d", path, i), want[i], list[i], tell)
	}
}

// shown is a value as JSON, shortened.
func shown(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		return fmt.Sprint(value)
	}
	const longest = 100
	if len(text) > longest {
		return string(text[:longest]) + anything
	}
	return string(text)
}
