package httpapi_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"

	"larder.local/httpapi"
	"larder.local/httpapi/auth"
	"larder.local/httpapi/ratelimit"
	"larder.local/internal/testkit/apicoverage"
	"larder.local/internal/testkit/apitest"
)

// provoked is an error that every route can return in the same way.
type provoked struct {
	status  int
	with    func(one documented) (body, query string, headers []string)
	applies func(one documented) bool // nil: wherever the document has the status
}

// documented is an operation with the values of an example request.
type documented struct {
	*openapi3.Operation
	method, path string
	scope        string // the required scope; empty for none
}

// operations lists the operations of the document, with paths of the tests' fixture.
func operations(t *testing.T) []documented {
	t.Helper()
	document, err := apicoverage.Document()
	if err != nil {
		t.Fatal(err)
	}
	var all []documented
	for path, item := range document.Doc.Paths.Map() {
		for method, operation := range item.Operations() {
			one := documented{Operation: operation, method: method, path: path}
			query := url.Values{}
			for _, ref := range operation.Parameters {
				value := "1"
				if ref.Value.Example != nil {
					value = fmt.Sprint(ref.Value.Example)
				}
				switch name := ref.Value.Name; name {
				case "restaurant":
					value = apitest.Bistro
				case "id":
					value = "p1"
				case "run", "batch", "ref":
					value = "01M807F1TTR5KASNCPTNHJCECQ"
				case "connection":
					query.Set(name, "main")
				case "restaurantId":
					query.Set(name, apitest.Bistro)
				}
				switch {
				case ref.Value.In == openapi3.ParameterInPath:
					one.path = strings.Replace(one.path, "{"+ref.Value.Name+"}", value, 1)
				case ref.Value.In == openapi3.ParameterInQuery && ref.Value.Required:
					query.Set(ref.Value.Name, value)
				}
			}
			one.path += "?" + query.Encode()
			if operation.Security != nil {
				for _, way := range *operation.Security {
					if scopes := way["larder"]; len(scopes) > 0 {
						one.scope = scopes[0]
					}
				}
			}
			all = append(all, one)
		}
	}
	return all
}

func (one documented) answers(status int) bool {
	return one.Responses.Value(strconv.Itoa(status)) != nil
}

// closed requires tokens for menus and metrics, so that every route can reject.
func closed(p *apitest.Plan) {
	open := false
	p.HTTP.Rate, p.HTTP.Metrics, p.Auth.OpenMenu = httpapi.RateConfig{}, httpapi.MetricsOps, &open
	p.Auth.Clients = append(p.Auth.Clients, auth.ClientConfig{ID: "desk", Secret: apitest.Secret("desk"), Scopes: []auth.Scope{"ops"}})
}

// Each operation returns the documented errors. Errors that any route can return are tested on
// every route.
func TestDocumentStatuses(t *testing.T) {
	t.Parallel()
	w := newFixture(t, closed)
	if err := w.Store.SaveReasons(t.Context(), "main", []byte("[]")); err != nil {
		t.Fatal(err)
	}
	lacking := map[string][]string{"menu": w.As("desk"), "orders": w.As(apitest.ClientRead), "ops": w.As(apitest.ClientShop), "ops.read": w.As(apitest.ClientShop), "sync": w.As(apitest.ClientShop)}
	all := w.As(apitest.ClientOps)
	needsToken := func(one documented) bool { return one.scope != "" }
	for _, provocation := range []provoked{
		{status: http.StatusBadRequest, with: func(documented) (string, string, []string) { return "", "&%zz", all }},
		{status: http.StatusUnauthorized, applies: needsToken, with: func(documented) (string, string, []string) {
			return "", "", []string{"Authorization", "Bearer guessed"}
		}},
		{status: http.StatusForbidden, applies: needsToken, with: func(one documented) (string, string, []string) { return "", "", lacking[one.scope] }},
		{status: http.StatusNotAcceptable, with: func(documented) (string, string, []string) {
			return "", "", append([]string{"Accept-Encoding", "identity;q=0"}, all...)
		}},
		{status: http.StatusRequestEntityTooLarge, with: func(documented) (string, string, []string) {
			return strings.Repeat(" ", 300<<10), "", append([]string{"Content-Type", "application/json", "Idempotency-Key", "k"}, all...)
		}},
		{status: http.StatusUnsupportedMediaType, with: func(documented) (string, string, []string) {
			return "{}", "", append([]string{"Content-Type", "text/plain", "Idempotency-Key", "k"}, all...)
		}},
	} {
		asked := 0
		for _, one := range operations(t) {
			if !one.answers(provocation.status) || provocation.applies != nil && !provocation.applies(one) {
				continue
			}
			if one.OperationID == "getToken" {
				continue // its forms have their own tests
			}
			asked++
			body, query, headers := provocation.with(one)
			if got := w.Do(one.method, one.path+query, body, headers...); got.Status != provocation.status {
				t.Errorf("%s: got %d %s, want %d", one.OperationID, got.Status, got.Body, provocation.status)
			}
		}
		if asked == 0 {
			t.Errorf("no operation answers %d", provocation.status)
		}
	}
}

// An unchanged body is not sent again.
func TestDocumentNotModified(t *testing.T) {
	t.Parallel()
	w := newFixture(t, func(p *apitest.Plan) { p.HTTP.Rate = httpapi.RateConfig{} })
	if err := w.Store.SaveReasons(t.Context(), "main", []byte("[]")); err != nil {
		t.Fatal(err)
	}
	token := w.As(apitest.ClientShop)
	for _, one := range operations(t) {
		if !one.answers(http.StatusNotModified) {
			continue
		}
		first := w.Do(one.method, one.path, "", token...).Is(t, http.StatusOK)
		again := w.Do(one.method, one.path, "", append([]string{"If-None-Match", first.Header.Get("ETag")}, token...)...)
		if again.Status != http.StatusNotModified || len(again.Body) > 0 {
			t.Errorf("%s: got %d %s, want 304", one.OperationID, again.Status, again.Body)
		}
	}
}

// A body that does not end is rejected after a time limit.
func TestDocumentBodiesThatStay(t *testing.T) {
	t.Parallel()
	w := newFixture(t, func(p *apitest.Plan) { p.HTTP.Rate = httpapi.RateConfig{} })
	hasty := httptest.NewUnstartedServer(w.Server.Handler())
	hasty.Config.ReadTimeout = 200 * time.Millisecond
	hasty.Config.ReadHeaderTimeout = time.Minute // by default, the header has the same limit, and a busy client would miss it
	hasty.Start()
	t.Cleanup(hasty.Close)
	apicoverage.Watch(t, hasty.URL)
	token := w.As(apitest.ClientOps)
	for _, one := range operations(t) {
		if !one.answers(http.StatusRequestTimeout) {
			continue
		}
		half, stays := io.Pipe()
		request, err := http.NewRequestWithContext(t.Context(), one.method, hasty.URL+one.path, io.MultiReader(strings.NewReader(`{"a": `), half))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set(token[0], token[1])
		request.Header.Set("Content-Type", "application/json")
		request.Header.Set("Idempotency-Key", "late")
		response, err := apitest.Client(t).Do(request)
		if err != nil {
			t.Fatalf("%s: %v", one.OperationID, err)
		}
		body, _ := io.ReadAll(response.Body) // shown in the document, and checked by the transport
		_ = response.Body.Close()
		_ = stays.Close()
		if response.StatusCode != http.StatusRequestTimeout {
			t.Errorf("%s: got %d %s, want 408", one.OperationID, response.StatusCode, body)
		}
	}
}

// An instance that has never reached its Redis reports so on every route that needs Redis. It
// cannot even recognize a valid token.
func TestDocumentWithoutRedis(t *testing.T) {
	t.Parallel()
	other := newFixture(t)
	headers := append(other.As(apitest.ClientOps), other.SignIn(apitest.ClientNorth)...)
	w := newFixture(t, func(p *apitest.Plan) { p.Unsynced = true })
	if err := w.Redis.Close(); err != nil {
		t.Fatal(err)
	}
	for _, one := range operations(t) {
		if !one.answers(http.StatusServiceUnavailable) {
			continue
		}
		body, kind := "", "application/json"
		switch one.OperationID {
		case "signIn":
			body = apitest.SignInBody(apitest.ClientOps, apitest.Secret(apitest.ClientOps))
		case "getToken":
			body, kind = "grant_type=client_credentials&client_id="+apitest.ClientOps+"&client_secret="+apitest.Secret(apitest.ClientOps), "application/x-www-form-urlencoded"
		}
		got := w.Do(one.method, one.path, body, append([]string{"Content-Type", kind}, headers...)...)
		if got.Status != http.StatusServiceUnavailable {
			t.Errorf("%s: got %d %s, want 503", one.OperationID, got.Status, got.Body)
		}
	}
}

// Changes of orders have a rate limit like orders, and so do syncs of all restaurants. A key that
// was used for one request cannot be used for another one.
func TestDocumentLimits(t *testing.T) {
	t.Parallel()
	w := newFixture(t, func(p *apitest.Plan) {
		p.HTTP.Rate = httpapi.RateConfig{Place: ratelimit.Rate{Count: 1, Per: time.Hour}}
	})
	shop, ops := w.As(apitest.ClientShop), w.As(apitest.ClientOps)
	w.Post(apitest.OrdersPath, apitest.Order(), append(apitest.Key("k"), shop...)...).Is(t, http.StatusCreated)
	w.Put("/v1/orders/765/complete", "", append(apitest.Key("k"), shop...)...).Refused(t, http.StatusUnprocessableEntity, "idempotency_key_reused")
	for path, body := range map[string]string{"pay": apitest.Payment, "reject": apitest.Reject, "complete": ""} {
		w.Put("/v1/orders/765/"+path, body, shop...).Refused(t, http.StatusTooManyRequests, "rate_limited")
	}
	for range 8 {
		w.Post("/v1/ops/sync", "{}", ops...).Is(t, http.StatusAccepted)
	}
	w.Post("/v1/ops/sync", "{}", ops...).Refused(t, http.StatusTooManyRequests, "rate_limited")
}
