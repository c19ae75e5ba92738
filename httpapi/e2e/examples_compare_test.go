package e2e_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"regexp"
	"strings"

	"larder.local/internal/testkit/apitest"
)

// volatile are the members of responses that differ between runs of larder. For these, an example
// must have the same kind of value; all other members must be equal.
var volatile = map[string]string{
	"access_token": "is random", "issuer": "has the port", "token_endpoint": "has the port", "service_documentation": "has the port",
	"requestId": "is of one request", "orderID": "is the sandbox's",
	"ms": "is measured", "ageSeconds": "is measured",
	"fetch": "is measured", "decode": "is measured", "lint": "is measured", "compile": "is measured", "publish": "is measured",
}

// passing matches parts of texts that differ between runs: times, the ids of runs, refs, events and
// audit entries, and an orderID in a path or a sentence.
var passing = regexp.MustCompile(`\d{4}-\d\d-\d\dT[0-9:.]+Z|[0-9A-Z]{26}|\b\d+-[0-9a-f]{8}\b|\b\d{13}-\d+\b|(orders/|order )[0-9A-Z]+\b`)

// unlike returns how a response differs from its example: in members, kinds or values. A list in
// the document may have fewer entries.
func unlike(at string, shown, got any) string {
	switch shown := shown.(type) {
	case map[string]any:
		if other, ok := got.(map[string]any); ok {
			return unlikeMembers(at, shown, other)
		}
	case []any:
		other, ok := got.([]any)
		if !ok {
			break
		}
		if len(shown) == 0 && len(other) > 0 {
			return at + " is empty in the example alone"
		}
		for i, value := range shown {
			place, fault := fmt.Sprint(at, "/", i), "the answer has none"
			for _, one := range other {
				if fault = unlike(place, value, one); fault == "" {
					break
				}
			}
			if fault != "" {
				return place + " is in the example alone; beside the last there is, " + fault
			}
		}
		return ""
	}
	switch want, kind := kindOf(shown), kindOf(got); {
	case want != kind:
		return fmt.Sprintf("%s is of the kind %s, in the example %s", at, kind, want)
	case volatile[at[strings.LastIndex(at, "/")+1:]] != "":
		return ""
	case want == "string" && passing.ReplaceAllString(fmt.Sprint(shown), "…") == passing.ReplaceAllString(fmt.Sprint(got), "…"):
		return ""
	case want != "array" && fmt.Sprint(shown) != fmt.Sprint(got):
		return fmt.Sprintf("%s is %v, in the example %v", at, got, shown)
	}
	return ""
}

func unlikeMembers(at string, shown, got map[string]any) string {
	for name := range got {
		if _, has := shown[name]; !has {
			return at + "/" + name + " is not in the example"
		}
	}
	for name, value := range shown {
		if _, has := got[name]; !has {
			return at + "/" + name + " is in the example alone"
		}
		if fault := unlike(at+"/"+name, value, got[name]); fault != "" {
			return fault
		}
	}
	return ""
}

func kindOf(value any) string {
	switch value.(type) {
	case nil:
		return "null"
	case float64, int, int64, uint64, json.Number:
		return "number"
	case map[string]any:
		return "object"
	case []any:
		return "array"
	default:
		return reflect.TypeOf(value).String()
	}
}

// otherThan returns how the body of a response differs from its example: JSON, an event of a
// stream, or lines of metrics, whose values are ignored.
func otherThan(shown any, got apitest.Reply) string {
	text, isText := shown.(string)
	switch media := got.Header.Get("Content-Type"); {
	case isText && strings.HasPrefix(media, "text/event-stream"):
		want, has := eventOf(text), eventOf(string(got.Body))
		if want.Name != has.Name {
			return fmt.Sprintf("the event is %s, in the example %s", has.Name, want.Name)
		}
		return otherThan(read([]byte(want.Data)), apitest.Reply{Header: http.Header{}, Body: []byte(has.Data)})
	case isText:
		for line := range strings.Lines(text) {
			series, _, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "} ")
			if !bytes.Contains(got.Body, []byte(series)) {
				return "there is no " + series
			}
		}
		return ""
	default:
		return unlike("", shown, read(got.Body))
	}
}

// read parses JSON like the document's examples. It returns nil for other text.
func read(text []byte) any {
	var value any
	if json.Unmarshal(text, &value) != nil {
		return nil
	}
	return value
}

// eventOf returns the first event in the text of a stream.
func eventOf(text string) apitest.Event {
	first, _ := (&apitest.Stream{Lines: bufio.NewScanner(strings.NewReader(text))}).Read()
	return first
}
