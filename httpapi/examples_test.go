package httpapi_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"larder/httpapi"
	"larder/internal/sandbox"
	"larder/ordering"
	menusync "larder/sync"
)

// trial is one request that the document shows: an operation, with its example
// parameters and the example body of the name, and what is answered.
type trial struct {
	operation string
	example   string // of the body and of the answer; empty: the document has none of that answer
	status    int
	as        string            // the client; empty: no token
	with      map[string]string // parameters other than the document's examples
	header    []string
	before    func() // what has to happen first
	after     func(answer reply)
}

// bench is a larder in front of a sandbox, with the ids and the clients that
// the document's examples name, which are the demo's.
type bench struct {
	*world
	document *contract
	behind   *stand
	tokens   map[string][]string
	tried    map[string]bool // examples of requests and answers, by operation, place and name
}

const demoRestaurant = "76439fb3-c0c4-42ca-a269-64f031a6a33b"

func newBench(t *testing.T) *bench {
	t.Helper()
	document, err := theContract()
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{document: document, behind: newStand(t, "main", demoRestaurant), tokens: map[string][]string{}, tried: map[string]bool{}}
	b.publish("Larder Bistro")
	b.world = newWorld(t, func(p *plan) {
		p.cfg.Rate, p.unsynced = httpapi.RateConfig{}, true
		p.auth.Clients = []httpapi.ClientConfig{
			{ID: "storefront", Secret: "storefront-secret", Scopes: []httpapi.Scope{"menu", "orders"}, Connection: "main"},
			{ID: "ops", Secret: "ops-secret", Scopes: []httpapi.Scope{"menu", "orders", "ops"}},
		}
		p.services = map[string]ordering.Service{"main": b.behind}
		p.runner = func(deps *menusync.Deps) {
			deps.Restaurants = deps.Restaurants[1:2]
			deps.Restaurants[0].ID, deps.Restaurants[0].Name = demoRestaurant, "Larder Bistro"
			deps.Connections = deps.Connections[:1]
			deps.Connections[0].Source = b.behind.Client
		}
		p.deps = func(deps *httpapi.Deps) { deps.Connections = deps.Connections[:1] }
	})
	b.schedule()
	b.pull(demoRestaurant)
	b.pull("@main")
	(&twins{world: b.world, behind: b.behind}).keepReasons()
	for _, client := range []string{"storefront", "ops"} {
		b.tokens[client] = b.tokenFor(client)
	}
	return b
}

// tokenFor asks for the token of a client of the demo.
func (b *bench) tokenFor(client string) []string {
	b.t.Helper()
	form := url.Values{"client_ID": {client}, "client_secret": {client + "-secret"}, "grant_type": {"client_credentials"}}
	var answer struct {
		Token string `json:"access_token"`
	}
	got := b.do(http.MethodPost, "/connect/token", form.Encode(), "Content-Type", "application/x-www-form-urlencoded").is(b.t, http.StatusOK)
	if err := json.Unmarshal(got.body, &answer); err != nil {
		b.t.Fatal(err)
	}
	return []string{"Authorization", "Bearer " + answer.Token}
}

// publish puts the demo's menu, under a name, into the ordering service.
func (b *bench) publish(name string) {
	b.behind.t.Helper()
	raw := strings.Replace(string(sandbox.Bistro(demoRestaurant, "")), `"name": "Larder Bistro"`, `"name": "`+name+`"`, 1)
	for _, restaurant := range []string{demoRestaurant, sandbox.DefaultMenu} {
		do(b.behind.t, http.MethodPut, b.behind.base+"/sandbox/menus/"+restaurant, raw).is(b.behind.t, http.StatusOK)
	}
}

// try sends what a trial says, and holds the answer against the document's.
func (b *bench) try(one trial) {
	b.t.Helper()
	if one.before != nil {
		one.before()
	}
	path, method, operation := b.operation(one.operation)
	query := url.Values{}
	headers := slices.Concat(one.header, b.tokens[one.as])
	for _, ref := range operation.Parameters {
		parameter := ref.Value
		value, given := one.with[parameter.Name]
		if !given && (parameter.Required || parameter.In == openapi3.ParameterInQuery) && parameter.Example != nil {
			value, given = fmt.Sprint(parameter.Example), true
		}
		switch {
		case !given && parameter.Required:
			b.t.Fatalf("%s: the document has no example of %s", one.operation, parameter.Name)
		case !given || value == "":
		case parameter.In == openapi3.ParameterInPath:
			path = strings.Replace(path, "{"+parameter.Name+"}", url.PathEscape(value), 1)
		case parameter.In == openapi3.ParameterInQuery:
			query.Set(parameter.Name, value)
		case parameter.In == openapi3.ParameterInHeader:
			headers = append(headers, parameter.Name, value)
		}
	}
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	body, media := b.body(one, operation)
	if media != "" {
		headers = append(headers, "Content-Type", media)
	}
	got := b.do(method, path, body, headers...)
	if got.status != one.status {
		b.t.Fatalf("%s %s: got %d %s, want %d", one.operation, one.example, got.status, got.body, one.status)
	}
	b.compare(one, operation, got)
	if one.after != nil {
		one.after(got)
	}
}

// operation finds an operation by its id.
func (b *bench) operation(id string) (path, method string, found *openapi3.Operation) {
	b.t.Helper()
	for path, item := range b.document.doc.Paths.Map() {
		for method, operation := range item.Operations() {
			if operation.OperationID == id {
				return path, method, operation
			}
		}
	}
	b.t.Fatalf("the document has no operation %s", id)
	return "", "", nil
}

// body is the example of a request's body, with its type.
func (b *bench) body(one trial, operation *openapi3.Operation) (body, media string) {
	b.t.Helper()
	if operation.RequestBody == nil {
		return "", ""
	}
	for media, content := range operation.RequestBody.Value.Content {
		example, shown := content.Examples[one.example]
		if !shown {
			continue
		}
		b.tried[one.operation+" request "+one.example] = true
		if fields, form := example.Value.Value.(map[string]any); form && media == "application/x-www-form-urlencoded" {
			values := url.Values{}
			for name, value := range fields {
				values.Set(name, fmt.Sprint(value))
			}
			return values.Encode(), media
		}
		text, err := json.Marshal(example.Value.Value)
		if err != nil {
			b.t.Fatal(err)
		}
		return string(text), media
	}
	if operation.RequestBody.Value.Required {
		b.t.Fatalf("%s: the document has no example body %s", one.operation, one.example)
	}
	return "", ""
}

// compare holds the shape of an answer against the document's example of it.
func (b *bench) compare(one trial, operation *openapi3.Operation, got reply) {
	b.t.Helper()
	answer := operation.Responses.Value(strconv.Itoa(one.status))
	if answer == nil {
		answer = operation.Responses.Value(strconv.Itoa(one.status/100) + "XX")
	}
	for _, content := range answer.Value.Content {
		example, shown := content.Examples[one.example]
		if !shown {
			continue
		}
		b.tried[one.operation+" answer "+one.example] = true
		var value any
		if err := json.Unmarshal(got.body, &value); err != nil {
			b.t.Fatal(err)
		}
		if fault := unlike("", example.Value.Value, value); fault != "" {
			b.t.Errorf("%s %s: %s; the answer is\n%s", one.operation, one.example, fault, got.body)
		}
	}
}

// unlike says where two values are of different shapes: other members, other
// kinds. A list of the document shows some of what there is.
func unlike(at string, shown, got any) string {
	switch shown := shown.(type) {
	case map[string]any:
		other, ok := got.(map[string]any)
		if !ok {
			break
		}
		for name := range other {
			if _, has := shown[name]; !has {
				return at + "/" + name + " is not in the example"
			}
		}
		for name, value := range shown {
			if _, has := other[name]; !has {
				return at + "/" + name + " is in the example alone"
			}
			if fault := unlike(at+"/"+name, value, other[name]); fault != "" {
				return fault
			}
		}
		return ""
	case []any:
		other, ok := got.([]any)
		if !ok {
			break
		}
		for i, value := range shown {
			place, fault := fmt.Sprint(at, "/", i), "the answer has none"
			for _, one := range other {
				if fault = unlike(place, value, one); fault == "" {
					break
				}
			}
			if fault != "" {
				return place + ": " + fault
			}
		}
		return ""
	}
	if want, kind := kindOf(shown), kindOf(got); want != kind && want != "null" && kind != "null" {
		return fmt.Sprintf("%s is of the kind %s, in the example %s", at, kind, want)
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
		return fmt.Sprintf("%T", value)
	}
}
