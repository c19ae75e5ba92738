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

	"github.com/google/go-cmp/cmp"
)

// anything in a page matches any text.
const anything = "…"

// masks match values that differ from run to run: larder's own refs and ids, times,
// durations. The offset of a time remains.
var masks = []struct { //nolint:gochecknoglobals // constant
	form *regexp.Regexp
	mask string
}{
	{regexp.MustCompile(`\b[0-9A-Z]{26}\b`), "{ref}"},
	{regexp.MustCompile(`\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)?`), "{time}$2"},
	{regexp.MustCompile(`\b[\d.]+ m?s\b`), "{duration}"},
}

// match returns how the result differs from the page, "" if it does not.
func match(page, came string, isJSON bool) string {
	for _, m := range masks {
		page, came = m.form.ReplaceAllString(page, m.mask), m.form.ReplaceAllString(came, m.mask)
	}
	if !isJSON {
		return matchText(strings.TrimRight(page, "\n")+"\n", strings.TrimRight(came, "\n")+"\n")
	}
	want, err := decode(page)
	if err != nil {
		return fmt.Sprintf("the page's own JSON: %v", err)
	}
	got, err := decode(came)
	if err != nil {
		return fmt.Sprintf("no JSON came: %v\n%s", err, came)
	}
	if differ := compare("", want, got); len(differ) > 0 {
		return strings.Join(differ, "\n") + "\n" + came
	}
	return ""
}

// matchText compares texts. "…" matches any text within a line, and on a line of
// its own any number of lines.
func matchText(page, came string) string {
	form := strings.ReplaceAll("\n"+regexp.QuoteMeta(page), "\n"+anything+"\n", "\n(?:.*\n)*")
	form = strings.ReplaceAll(form, anything, `.*`)
	if regexp.MustCompile(`\A` + form + `\z`).MatchString("\n" + came) {
		return ""
	}
	return "(-page +came)\n" + cmp.Diff(page, came)
}

// decode reads exactly one JSON value and keeps the digits of numbers.
func decode(text string) (value any, err error) {
	decoder := json.NewDecoder(bytes.NewReader([]byte(text)))
	decoder.UseNumber()
	if err := decoder.Decode(&value); err != nil {
		return nil, err
	}
	if _, err := decoder.Token(); err != io.EOF {
		return nil, errors.New("more than one value")
	}
	return value, nil
}

// compare returns the differences of two JSON values, each with its JSON Pointer.
// "…" matches any value; as the last element of a list any further elements; as a
// member ("…": "…") any further members. A duration in milliseconds matches any
// number.
func compare(path string, want, got any) (differ []string) {
	wrong := []string{fmt.Sprintf("%s: %v came, the page has %v", path, got, want)}
	switch want := want.(type) {
	case map[string]any:
		object, ok := got.(map[string]any)
		if !ok {
			return wrong
		}
		_, more := want[anything]
		for _, name := range slices.Sorted(maps.Keys(want)) {
			if value, there := object[name]; there {
				differ = append(differ, compare(path+"/"+name, want[name], value)...)
			} else if name != anything {
				differ = append(differ, path+"/"+name+": did not come")
			}
		}
		for _, name := range slices.Sorted(maps.Keys(object)) {
			if _, known := want[name]; !known && !more {
				differ = append(differ, path+"/"+name+": came, the page does not have it")
			}
		}
		return differ
	case []any:
		items, ok := got.([]any)
		if len(want) > 0 && want[len(want)-1] == anything {
			want = want[:len(want)-1]
			items = items[:min(len(items), len(want))]
		}
		if !ok || len(items) != len(want) {
			return wrong
		}
		for i := range want {
			differ = append(differ, compare(fmt.Sprintf("%s/%d", path, i), want[i], items[i])...)
		}
		return differ
	case string:
		if text, ok := got.(string); want == anything || ok && matchText(want, text) == "" {
			return nil
		}
	case json.Number:
		isDuration := strings.Contains(path, "/steps/") || strings.HasSuffix(path, "/ms")
		if number, ok := got.(json.Number); ok && (isDuration || number == want) {
			return nil
		}
	default:
		if want == got {
			return nil
		}
	}
	return wrong
}
