package e2e_test

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

	"larder.local/httpapi"
	"larder.local/httpapi/auth"
	"larder.local/internal/sandbox"
	"larder.local/internal/testkit/apicoverage"
	"larder.local/internal/testkit/apitest"
	"larder.local/ordering"
	menusync "larder.local/sync"
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
	raw       *string          // a body that is not in the document
	on        *apitest.Fixture // the instance; nil means the fixture's own
	before    func()           // runs before the request
	after     func(answer apitest.Reply)
}

// exampleFixture is an instance in front of a sandbox, with the ids and clients of the document's
// examples, which are those of the demo.
type exampleFixture struct {
	*apitest.Fixture
	document *apicoverage.Contract
	behind   *apitest.Sandbox
	tokens   map[string][]string
	tried    map[string]bool   // the document's examples that were sent or compared, by $ref
	took     map[string][]byte // with -update, the responses that become the examples
}

const demoRestaurant = "76439fb3-c0c4-42ca-a269-64f031a6a33b"

func newExampleFixture(t *testing.T) *exampleFixture {
	t.Helper()
	document, err := apicoverage.Document()
	if err != nil {
		t.Fatal(err)
	}
	b := &exampleFixture{
		document: document,
		behind:   apitest.NewSandbox(t, "main", demoRestaurant),
		tokens:   map[string][]string{},
		tried:    map[string]bool{},
		took:     map[string][]byte{},
	}
	b.publish()
	b.Fixture = apitest.New(t, func(p *apitest.Plan) {
		p.HTTP.Rate, p.Unsynced = httpapi.RateConfig{}, true
		p.Auth.Clients = []auth.ClientConfig{
			{ID: "storefront", Secret: "storefront-secret", Scopes: []auth.Scope{"menu", "orders"}, Connection: "main"},
			{ID: "ops", Secret: "ops-secret", Scopes: []auth.Scope{"menu", "orders", "ops"}},
		}
		p.Services = map[string]ordering.Service{"main": b.behind}
		p.Sync = func(deps *menusync.Deps) {
			deps.Restaurants = deps.Restaurants[1:2]
			deps.Restaurants[0].ID, deps.Restaurants[0].Name = demoRestaurant, "Larder Bistro"
			deps.Connections = deps.Connections[:1]
			deps.Connections[0].Source = b.behind.Client
		}
		p.Deps = func(deps *httpapi.Deps) { deps.Connections = deps.Connections[:1] }
	})
	b.SyncOnce(demoRestaurant)
	b.SyncOnce("@main")
	if err := b.Replica.Poll(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.Schedule()
	(&apitest.CompatFixture{Fixture: b.Fixture, Behind: b.behind}).KeepReasons()
	for _, client := range []string{"storefront", "ops"} {
		b.tokens[client] = b.tokenFor(client)
	}
	return b
}

// tokenFor requests a token for a client of the demo.
func (b *exampleFixture) tokenFor(client string) []string {
	b.T.Helper()
	form := url.Values{"client_ID": {client}, "client_secret": {client + "-secret"}, "grant_type": {"client_credentials"}}
	var answer struct {
		Token string `json:"access_token"`
	}
	got := b.Do(http.MethodPost, "/connect/token", form.Encode(), "Content-Type", "application/x-www-form-urlencoded").Is(b.T, http.StatusOK)
	if err := json.Unmarshal(got.Body, &answer); err != nil {
		b.T.Fatal(err)
	}
	return []string{"Authorization", "Bearer " + answer.Token}
}

// publish publishes the demo's menu in the ordering service, with some texts replaced.
func (b *exampleFixture) publish(replaced ...string) {
	b.behind.T.Helper()
	raw := strings.NewReplacer(replaced...).Replace(string(sandbox.Bistro(demoRestaurant, "")))
	for _, restaurant := range []string{demoRestaurant, sandbox.DefaultMenu} {
		apitest.Do(b.behind.T, http.MethodPut, b.behind.Base+"/sandbox/menus/"+restaurant, raw).Is(b.behind.T, http.StatusOK)
	}
}

// try sends the request of a trial and compares the response with the document.
func (b *exampleFixture) try(one trial) {
	b.T.Helper()
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
			b.T.Fatalf("%s: the document has no example of %s", one.operation, parameter.Name)
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
	if got.Status != one.status {
		b.T.Errorf("%s %s: got %d %s, want %d", one.operation, one.example, got.Status, got.Body, one.status)
		return
	}
	b.compare(one, operation, got)
	if one.after != nil {
		one.after(got)
	}
}

// ask sends the request of a trial. For a stream, the body is the first event.
func (b *exampleFixture) ask(one trial, method, path, body string, headers []string) apitest.Reply {
	b.T.Helper()
	on := b.Fixture
	if one.on != nil {
		on = one.on
	}
	if one.status == http.StatusOK && strings.HasPrefix(one.operation, "follow") {
		stream := apitest.OpenStream(b.T, on.URL+path, headers...)
		defer stream.Close()
		first := stream.Next()
		text := "event: " + first.Name + "\ndata: " + first.Data + "\n\n"
		if first.ID != "" {
			text = "id: " + first.ID + "\n" + text
		}
		return apitest.Reply{Status: http.StatusOK, Header: stream.Response.Header, Body: []byte(text)}
	}
	return on.Do(method, path, body, headers...)
}

// operation returns an operation by its id.
func (b *exampleFixture) operation(id string) (path, method string, found *openapi3.Operation) {
	b.T.Helper()
	for path, item := range b.document.Doc.Paths.Map() {
		for method, operation := range item.Operations() {
			if operation.OperationID == id {
				return path, method, operation
			}
		}
	}
	b.T.Fatalf("the document has no operation %s", id)
	return "", "", nil
}

// body returns the example of a request body, with its type.
func (b *exampleFixture) body(one trial, operation *openapi3.Operation) (body, media string) {
	b.T.Helper()
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
			b.T.Fatal(err)
		}
		return string(text), media
	}
	if operation.RequestBody.Value.Required {
		b.T.Fatalf("%s: the document has no example body %s", one.operation, one.example)
	}
	return "", ""
}

// compare compares a response with the document's example: the one with the trial's name, or for an
// error the one of its code.
func (b *exampleFixture) compare(one trial, operation *openapi3.Operation, got apitest.Reply) {
	b.T.Helper()
	answer := operation.Responses.Value(strconv.Itoa(one.status))
	if answer == nil {
		answer = operation.Responses.Value(strconv.Itoa(one.status/100) + "XX")
	}
	name := one.example
	var refused struct{ Code, Error string }
	if one.status >= http.StatusBadRequest && json.Unmarshal(got.Body, &refused) == nil {
		name = cmp.Or(refused.Code, refused.Error, name)
	}
	for _, content := range answer.Value.Content {
		example, shown := content.Examples[name]
		if !shown || b.tried[example.Ref] {
			continue // the example of a code is the first error with it
		}
		b.tried[example.Ref] = true
		if *update {
			b.took[example.Ref] = got.Body
			if !json.Valid(got.Body) {
				b.took[example.Ref], _ = json.Marshal(excerpt(string(got.Body)))
			}
		} else if fault := otherThan(example.Value.Value, got); fault != "" {
			b.T.Errorf("%s %s: %s; the answer is\n%s", one.operation, name, fault, got.Body)
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
