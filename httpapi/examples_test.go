package httpapi_test

import (
	"cmp"
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
	"larder/httpapi/auth"
	"larder/internal/sandbox"
	"larder/ordering"
	menusync "larder/sync"
)

// trial is one request of the document: an operation with its example parameters, the name of its
// example body, and the expected status.
type trial struct {
	operation string
	example   string // name of the example body, and of the example response unless that is a problem
	status    int
	as        string            // the client; empty means no token
	with      map[string]string // parameters that differ from the document's examples
	header    []string
	raw       *string  // a body that is not in the document
	on        *fixture // the instance; nil means the fixture's own
	before    func()   // runs before the request
	after     func(answer reply)
}

// exampleFixture is an instance in front of a sandbox, with the ids and clients of the document's
// examples, which are those of the demo.
type exampleFixture struct {
	*fixture
	document *contract
	behind   *sandboxService
	tokens   map[string][]string
	tried    map[string]bool   // the document's examples that were sent or compared, by $ref
	took     map[string][]byte // with -update, the responses that become the examples
}

const demoRestaurant = "76439fb3-c0c4-42ca-a269-64f031a6a33b"

func newExampleFixture(t *testing.T) *exampleFixture {
	t.Helper()
	document, err := theContract()
	if err != nil {
		t.Fatal(err)
	}
	b := &exampleFixture{
		document: document,
		behind:   newSandboxService(t, "main", demoRestaurant),
		tokens:   map[string][]string{},
		tried:    map[string]bool{},
		took:     map[string][]byte{},
	}
	b.publish()
	b.fixture = newFixture(t, func(p *plan) {
		p.cfg.Rate, p.unsynced = httpapi.RateConfig{}, true
		p.auth.Clients = []auth.ClientConfig{
			{ID: "storefront", Secret: "storefront-secret", Scopes: []auth.Scope{"menu", "orders"}, Connection: "main"},
			{ID: "ops", Secret: "ops-secret", Scopes: []auth.Scope{"menu", "orders", "ops"}},
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
	b.syncOnce(demoRestaurant)
	b.syncOnce("@main")
	b.schedule()
	(&compatFixture{fixture: b.fixture, behind: b.behind}).keepReasons()
	for _, client := range []string{"storefront", "ops"} {
		b.tokens[client] = b.tokenFor(client)
	}
	return b
}

// tokenFor requests a token for a client of the demo.
func (b *exampleFixture) tokenFor(client string) []string {
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

// publish publishes the demo's menu in the ordering service, with some texts replaced.
func (b *exampleFixture) publish(replaced ...string) {
	b.behind.t.Helper()
	raw := strings.NewReplacer(replaced...).Replace(string(sandbox.Bistro(demoRestaurant, "")))
	for _, restaurant := range []string{demoRestaurant, sandbox.DefaultMenu} {
		do(b.behind.t, http.MethodPut, b.behind.base+"/sandbox/menus/"+restaurant, raw).is(b.behind.t, http.StatusOK)
	}
}

// try sends the request of a trial and compares the response with the document.
func (b *exampleFixture) try(one trial) {
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
	got := b.ask(one, method, path, body, headers)
	if got.status != one.status {
		b.t.Errorf("%s %s: got %d %s, want %d", one.operation, one.example, got.status, got.body, one.status)
		return
	}
	b.compare(one, operation, got)
	if one.after != nil {
		one.after(got)
	}
}

// ask sends the request of a trial. For a stream, the body is the first event.
func (b *exampleFixture) ask(one trial, method, path, body string, headers []string) reply {
	b.t.Helper()
	on := b.fixture
	if one.on != nil {
		on = one.on
	}
	if one.status == http.StatusOK && strings.HasPrefix(one.operation, "follow") {
		stream := openFeed(b.t, on.url+path, headers...)
		defer stream.close()
		first := stream.next()
		text := "event: " + first.name + "\ndata: " + first.data + "\n\n"
		if first.id != "" {
			text = "id: " + first.id + "\n" + text
		}
		return reply{status: http.StatusOK, header: stream.response.Header, body: []byte(text)}
	}
	return on.do(method, path, body, headers...)
}

// operation returns an operation by its id.
func (b *exampleFixture) operation(id string) (path, method string, found *openapi3.Operation) {
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

// body returns the example of a request body, with its type.
func (b *exampleFixture) body(one trial, operation *openapi3.Operation) (body, media string) {
	b.t.Helper()
	if operation.RequestBody == nil {
		return "", ""
	}
	if one.raw != nil {
		for media := range operation.RequestBody.Value.Content {
			if media != "multipart/form-data" {
				return *one.raw, media
			}
		}
	}
	for media, content := range operation.RequestBody.Value.Content {
		example, shown := content.Examples[one.example]
		if !shown {
			continue
		}
		b.tried[example.Ref] = true
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

// compare compares a response with the document's example: the one with the trial's name, or for an
// error the one of its code.
func (b *exampleFixture) compare(one trial, operation *openapi3.Operation, got reply) {
	b.t.Helper()
	answer := operation.Responses.Value(strconv.Itoa(one.status))
	if answer == nil {
		answer = operation.Responses.Value(strconv.Itoa(one.status/100) + "XX")
	}
	name := one.example
	var refused struct{ Code, Error string }
	if one.status >= http.StatusBadRequest && json.Unmarshal(got.body, &refused) == nil {
		name = cmp.Or(refused.Code, refused.Error, name)
	}
	for _, content := range answer.Value.Content {
		example, shown := content.Examples[name]
		if !shown || b.tried[example.Ref] {
			continue // the example of a code is the first error with it
		}
		b.tried[example.Ref] = true
		if *update {
			b.took[example.Ref] = got.body
			if !json.Valid(got.body) {
				b.took[example.Ref], _ = json.Marshal(excerpt(string(got.body)))
			}
		} else if fault := otherThan(example.Value.Value, got); fault != "" {
			b.t.Errorf("%s %s: %s; the answer is\n%s", one.operation, name, fault, got.body)
		}
	}
}

// excerpt returns the part of a text that an example shows: of metrics, the lines about runs.
func excerpt(text string) string {
	if !strings.HasPrefix(text, "# HELP") {
		return text
	}
	var out strings.Builder
	for line := range strings.Lines(text) {
		if strings.Contains(line, "larder_sync_runs_total") && !strings.HasSuffix(line, " 0\n") {
			out.WriteString(line)
		}
	}
	return out.String()
}
