// Package apicoverage checks the responses that tests see against the API document, and that the tests of all packages
// together see every documented response.
package apicoverage

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"larder.local/httpapi/openapi"
)

// Contract checks requests and responses against the API document. kin-openapi reads the document,
// finds operations and checks parameters, headers and statuses. The JSON Schema validator that it
// uses checks the bodies directly, because kin-openapi compiles a schema again for each body.
// Objects are closed: a field that the document does not have fails the test, although clients must
// ignore it.
type Contract struct {
	Doc      *openapi3.T
	compiler *jsonschema.Compiler

	mu      sync.Mutex
	schemas map[string]*jsonschema.Schema // schemas by their place in the document
	seen    map[string]bool               // "operationId status"
}

const contractName = "openapi.json"

// Document returns the API document, which is read once for all tests of a package.
var Document = sync.OnceValues(func() (*Contract, error) { //nolint:gochecknoglobals // does not change
	tree, err := jsonschema.UnmarshalJSON(bytes.NewReader(openapi.JSON()))
	if err != nil {
		return nil, err
	}
	closeObjects(tree)
	closed, err := json.Marshal(tree)
	if err != nil {
		return nil, err
	}
	loader := openapi3.NewLoader()
	doc, err := loader.LoadFromData(closed)
	if err != nil {
		return nil, err
	}
	if err := doc.Validate(loader.Context, openapi3.DisableExamplesValidation()); err != nil {
		return nil, err
	}
	compiler := jsonschema.NewCompiler()
	compiler.DefaultDraft(jsonschema.Draft2020)
	compiler.AssertFormat()
	return &Contract{
			Doc:      doc,
			compiler: compiler,
			schemas:  map[string]*jsonschema.Schema{},
			seen:     map[string]bool{},
		},
		compiler.AddResource(contractName, tree)
})

// closeObjects forbids members that an object's schema does not list, unless the schema allows
// others.
func closeObjects(node any) {
	switch node := node.(type) {
	case map[string]any:
		_, open := node["additionalProperties"]
		if _, lists := node["properties"].(map[string]any); lists && node["type"] != nil && !open {
			node["additionalProperties"] = false
		}
		for _, child := range node {
			closeObjects(child)
		}
	case []any:
		for _, child := range node {
			closeObjects(child)
		}
	}
}

// httpExchange is one request and its complete response.
type httpExchange struct {
	request *http.Request
	sent    []byte
	piped   bool // the request body is not available: it can be read only once
	status  int
	header  http.Header
	body    []byte
	stream  bool // the response body is not available: it has no end
}

// everywhere has the headers that any response may have (info.description), and the headers of HTTP itself.
var everywhere = []string{ //nolint:gochecknoglobals // does not change
	"Date", "Content-Length", "Content-Type", "Connection", "Transfer-Encoding", "Vary", "Allow", "Ratelimit", "Ratelimit-Policy",
	"Access-Control-Allow-Origin", "Access-Control-Expose-Headers", "Access-Control-Allow-Methods",
	"Access-Control-Allow-Headers", "Access-Control-Max-Age",
}

// check returns how an exchange differs from the document.
func (c *Contract) check(x httpExchange) error {
	route, params := c.find(x.request)
	if route != nil {
		c.see(route.Operation.OperationID, x.status)
	}
	if route == nil || x.notRouted() {
		return c.checkUnrouted(x)
	}
	operation := route.Operation
	answer, at := c.answerOf(route, x.status)
	if answer == nil {
		return fmt.Errorf("%s does not answer %d", operation.OperationID, x.status)
	}
	if err := c.checkHeaders(answer, x); err != nil {
		return fmt.Errorf("%s %d: %w", operation.OperationID, x.status, err)
	}
	if err := c.checkResponse(answer, at, x); err != nil {
		return fmt.Errorf("%s %d: %w in %s", operation.OperationID, x.status, err, shortened(x.body))
	}
	if !x.accepted() {
		return nil
	}
	if err := c.checkRequest(route, params, x); err != nil {
		return fmt.Errorf("%s was answered %d, but the document has it otherwise: %w", operation.OperationID, x.status, err)
	}
	return nil
}

// notRouted reports whether the route does not exist on this listener or in this configuration, or
// the header was too large for any route.
func (x httpExchange) notRouted() bool {
	var problem struct{ Code string }
	return x.status == http.StatusRequestHeaderFieldsTooLarge ||
		x.status == http.StatusMethodNotAllowed && x.request.Method == http.MethodHead || // of a stream
		x.status == http.StatusNotFound && json.Unmarshal(x.body, &problem) == nil && problem.Code == "not_found"
}

// accepted reports whether larder accepted the request as valid.
func (x httpExchange) accepted() bool {
	var result struct{ Result struct{ Valid *bool } }
	if x.status/100 == 2 && strings.HasSuffix(x.request.URL.Path, "/validate") && json.Unmarshal(x.body, &result) == nil {
		return result.Result.Valid != nil && *result.Result.Valid
	}
	return x.status/100 == 2
}

// find returns the operation of a request, or nil if the document has none. HEAD uses the operation
// of GET. The paths of the ordering service may have a trailing slash. A path without parameters comes first.
func (c *Contract) find(request *http.Request) (found *routers.Route, with map[string]string) {
	path, method := request.URL.EscapedPath(), request.Method
	if strings.HasPrefix(path, "/orders/api/v1/") || strings.HasPrefix(path, "/connect/") {
		path = strings.TrimSuffix(path, "/")
	}
	if method == http.MethodHead {
		method = http.MethodGet
	}
	for pattern, item := range c.Doc.Paths.Map() {
		params, matches := matchPath(pattern, path)
		operation := item.GetOperation(method)
		if matches && operation != nil && (found == nil || len(params) < len(with)) {
			with = params
			found = &routers.Route{
				Spec:      c.Doc,
				Path:      pattern,
				PathItem:  item,
				Method:    method,
				Operation: operation,
			}
		}
	}
	return found, with
}

func matchPath(pattern, path string) (params map[string]string, matches bool) {
	want, got := strings.Split(pattern, "/"), strings.Split(path, "/")
	if len(want) != len(got) {
		return nil, false
	}
	params = map[string]string{}
	for i := range want {
		if name, isParam := strings.CutPrefix(want[i], "{"); isParam && got[i] != "" {
			value, err := url.PathUnescape(got[i])
			if err != nil {
				return nil, false
			}
			params[strings.TrimSuffix(name, "}")] = value
		} else if want[i] != got[i] {
			return nil, false
		}
	}
	return params, true
}

// checkUnrouted checks the response for a path or method that is not in the document: the rejection
// is the same everywhere.
func (c *Contract) checkUnrouted(x httpExchange) error {
	switch {
	case OfPages(x.request.URL.Path):
		return nil
	case x.request.Method == http.MethodOptions && x.status == http.StatusNoContent, x.status == http.StatusRequestHeaderFieldsTooLarge:
		return nil
	case x.status != http.StatusNotFound && x.status != http.StatusMethodNotAllowed && x.status != http.StatusBadRequest:
		return fmt.Errorf("%s %s is not in the document, and answered %d", x.request.Method, x.request.URL.Path, x.status)
	case x.request.Method == http.MethodHead:
		return nil
	}
	schema := "Problem"
	if strings.HasPrefix(x.request.URL.Path, "/orders/api/") {
		schema = "CompatError"
	}
	return c.checkJSON("/components/schemas/"+schema, x.body)
}

// answerOf returns the document's response for a status, and its place.
func (c *Contract) answerOf(route *routers.Route, status int) (answer *openapi3.Response, at string) {
	key := strconv.Itoa(status)
	ref := route.Operation.Responses.Value(key)
	if ref == nil {
		key = key[:1] + "XX"
		ref = route.Operation.Responses.Value(key)
	}
	if ref == nil {
		return nil, ""
	}
	if ref.Ref != "" {
		return ref.Value, strings.TrimPrefix(ref.Ref, "#")
	}
	return ref.Value, "/paths/" + escaped(route.Path) + "/" + strings.ToLower(route.Method) + "/responses/" + key
}

func escaped(token string) string { return strings.NewReplacer("~", "~0", "/", "~1").Replace(token) }

// checkHeaders checks that the response has the documented headers and no others.
func (c *Contract) checkHeaders(answer *openapi3.Response, x httpExchange) error {
	listed := map[string]*openapi3.HeaderRef{}
	for name, header := range answer.Headers {
		listed[http.CanonicalHeaderKey(name)] = header
	}
	for name := range x.header {
		if _, known := listed[name]; !known && !slices.Contains(everywhere, name) {
			return fmt.Errorf("the header %s is not in the document", name)
		}
	}
	documented := &openapi3.ResponseRef{Value: &openapi3.Response{Headers: answer.Headers}}
	route := &routers.Route{Spec: c.Doc, Operation: &openapi3.Operation{
		Responses: openapi3.NewResponses(openapi3.WithStatus(http.StatusOK, documented)),
	}}
	only := &openapi3filter.ResponseValidationInput{
		RequestValidationInput: &openapi3filter.RequestValidationInput{Request: x.request, Route: route},
		Status:                 http.StatusOK,
		Header:                 x.header,
		Options:                &openapi3filter.Options{ExcludeResponseBody: true},
	}
	return openapi3filter.ValidateResponse(x.request.Context(), only)
}

// checkResponse checks the body of a response.
func (c *Contract) checkResponse(answer *openapi3.Response, at string, x httpExchange) error {
	if x.request.Method == http.MethodHead || x.stream {
		return nil
	}
	if len(answer.Content) == 0 {
		if len(x.body) > 0 {
			return errors.New("a body where the document has none")
		}
		return nil
	}
	if _, passed := answer.Content["*/*"]; passed {
		return c.checkPassedOn(x)
	}
	media, _, err := mime.ParseMediaType(x.header.Get("Content-Type"))
	if err != nil {
		return err
	}
	if answer.Content[media] == nil {
		return fmt.Errorf("the type %s is not in the document", media)
	}
	if !strings.HasSuffix(media, "json") || x.header.Get("Content-Encoding") != "" {
		return nil // texts, and bodies that other tests check
	}
	if err := c.checkJSON(at+"/content/"+escaped(media)+"/schema", x.body); err != nil {
		return err
	}
	return checkCode(answer, x.body)
}

// checkCode checks that the code of a problem is one of the codes of the response.
func checkCode(answer *openapi3.Response, body []byte) error {
	codes, has := answer.Extensions["x-codes"].([]any)
	if !has {
		return nil
	}
	var problem struct{ Code string }
	if err := json.Unmarshal(body, &problem); err != nil {
		return err
	}
	if !slices.Contains(codes, any(problem.Code)) {
		return fmt.Errorf("the code %s is not among %v", problem.Code, codes)
	}
	return nil
}

// checkPassedOn checks a response that may come from the ordering service: if it has the members of
// an error, it must have the format of an error.
func (c *Contract) checkPassedOn(x httpExchange) error {
	var members map[string]json.RawMessage
	if json.Unmarshal(x.body, &members) != nil || x.header.Get("Larder-Order-Ref") != "" || x.status/100 == 2 {
		return nil //nolint:nilerr // what is no object is the service's own
	}
	return c.checkJSON("/components/schemas/CompatError", x.body)
}

// checkRequest checks an accepted request.
func (c *Contract) checkRequest(route *routers.Route, params map[string]string, x httpExchange) error {
	input := &openapi3filter.RequestValidationInput{
		Request:     x.request,
		PathParams:  params,
		Route:       route,
		QueryParams: x.request.URL.Query(),
		Options: &openapi3filter.Options{
			ExcludeRequestBody:  true,
			AuthenticationFunc:  openapi3filter.NoopAuthenticationFunc,
			SkipSettingDefaults: true,
		},
	}
	if err := openapi3filter.ValidateRequest(x.request.Context(), input); err != nil {
		return err
	}
	body := route.Operation.RequestBody
	if body == nil {
		return nil
	}
	if len(x.sent) == 0 {
		if x.piped {
			return nil
		}
		if body.Value.Required {
			return errors.New("there is no body")
		}
		return nil
	}
	if body.Value.Content["application/json"] == nil {
		return nil // forms, which the token tests check
	}
	return c.checkJSON("/paths/"+escaped(route.Path)+"/"+strings.ToLower(route.Method)+"/requestBody/content/application~1json/schema",
		bytes.TrimPrefix(x.sent, []byte("\xef\xbb\xbf")))
}

// checkJSON checks a body against the schema at a place in the document.
func (c *Contract) checkJSON(at string, body []byte) error {
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
	if err != nil {
		return err
	}
	schema, err := c.schema(at)
	if err != nil {
		return err
	}
	return schema.Validate(value)
}

// schema returns the schema at a place, compiled once.
func (c *Contract) schema(at string) (*jsonschema.Schema, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if schema := c.schemas[at]; schema != nil {
		return schema, nil
	}
	schema, err := c.compiler.Compile(contractName + "#" + (&url.URL{Path: at}).EscapedPath())
	if err == nil {
		c.schemas[at] = schema
	}
	return schema, err
}

func (c *Contract) see(operation string, status int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.seen[fmt.Sprint(operation, " ", status)] = true
}

func shortened(body []byte) string {
	const enough = 600
	if len(body) > enough {
		return string(body[:enough]) + "…"
	}
	return string(body)
}
