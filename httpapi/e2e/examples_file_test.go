package e2e_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

var update = flag.Bool("update", false, "write the API document's examples of answers from what larder answers")

// answersFile has the examples of responses, which are generated.
const answersFile = "../openapi/document/components/examples/answers.yaml"

// most is the maximum number of list entries in an example.
const most = 2

// record writes the examples that were taken from responses.
func record(t *testing.T, took map[string][]byte) {
	t.Helper()
	var out strings.Builder
	out.WriteString("# What larder answers in its tests, its lists cut to two entries. DO NOT EDIT: after\n" +
		"# go test ./httpapi -run TestDocumentExamples -update  come go generate and make api-types.\n")
	for _, ref := range slices.Sorted(maps.Keys(took)) {
		name, _ := strings.CutPrefix(ref, "#/components/examples/")
		decoder := json.NewDecoder(bytes.NewReader(took[ref]))
		decoder.UseNumber()
		value, err := readOrdered(decoder)
		if err != nil {
			t.Fatalf("%s: %v in %s", name, err, took[ref])
		}
		fmt.Fprintf(&out, "%s:\n  value: %s\n", name, write(value, "    "))
	}
	if err := os.WriteFile(answersFile, []byte(out.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Logf("wrote %s; run: go generate ./httpapi/openapi && make api-types", answersFile)
}

// member and members are an object with its members in their original order.
type member struct {
	name  string
	value any
}
type members []member

// readOrdered decodes JSON and keeps the order of members.
func readOrdered(decoder *json.Decoder) (any, error) {
	token, err := decoder.Token()
	if err != nil {
		return nil, err
	}
	switch token {
	case json.Delim('{'):
		object := members{}
		for decoder.More() {
			name, err := decoder.Token()
			if err != nil {
				return nil, err
			}
			value, err := readOrdered(decoder)
			if err != nil {
				return nil, err
			}
			object = append(object, member{fmt.Sprint(name), value})
		}
		_, err = decoder.Token()
		return object, err
	case json.Delim('['):
		list := []any{}
		for decoder.More() {
			value, err := readOrdered(decoder)
			if err != nil {
				return nil, err
			}
			if len(list) < most {
				list = append(list, value)
			}
		}
		_, err = decoder.Token()
		return list, err
	}
	return token, nil
}

// write returns JSON, which is also YAML, on one line if it fits.
func write(value any, indent string) string {
	const wide = 110
	var open, end string
	var parts []string
	switch value := value.(type) {
	case members:
		open, end = "{", "}"
		for _, one := range value {
			parts = append(parts, quoted(one.name)+": "+write(one.value, indent+"  "))
		}
	case []any:
		open, end = "[", "]"
		for _, one := range value {
			parts = append(parts, write(one, indent+"  "))
		}
	default:
		return quoted(value)
	}
	if line := open + strings.Join(parts, ", ") + end; utf8.RuneCountInString(indent+line) < wide && !strings.Contains(line, "\n") {
		return line
	}
	return open + "\n" + indent + "  " + strings.Join(parts, ",\n"+indent+"  ") + "\n" + indent + end
}

// quoted returns a value that is neither an object nor a list.
func quoted(value any) string {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(value) // string, number, boolean or null
	return strings.TrimSpace(out.String())
}
