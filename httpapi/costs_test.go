package httpapi_test

import (
	"fmt"
	"net/url"
	"strings"
	"time"

	"larder.local/httpapi/orders"
	"larder.local/internal/testkit/apitest"
)

// costsOf lists the most expensive requests of every anonymous operation, and of routes that the
// API document does not have.
func costsOf(ids menuIDs) costs {
	const restaurant = "/v1/restaurants/" + apitest.Bistro
	plain := func(paths ...string) (list []costly) {
		for _, path := range paths {
			list = append(list, costly{path: path})
		}
		return list
	}
	coded := func(path string, codings ...string) (list []costly) {
		for _, coding := range codings {
			list = append(list, costly{path: path, header: []string{"Accept-Encoding", coding}})
		}
		return list
	}
	search := url.QueryEscape(strings.TrimSpace(strings.Repeat("a ", 100)))
	distinct := url.QueryEscape("a e i o u n r s t l d c m p b g h v f k")
	wrong := url.QueryEscape("xhese xauce xresh xream xhicken xalad xotato xread") // each word has one wrong letter
	far := url.QueryEscape("abcdefghijklmnopqrst bcdefghijklmnopqrstu cdefghijklmnopqrstuv defghijklmnopqrstuvw efghijklmnopqrstuvwx")
	long := strings.Repeat("x", 14<<10)
	return costs{
		"GET /v1/restaurants":              plain("/v1/restaurants?limit=500", "/v1/restaurants?limit=500&q="+search, "/v1/restaurants?limit=500&q="+distinct),
		"GET /v1/restaurants/{restaurant}": plain(restaurant, "/v1/restaurants/none"),
		"GET /v1/restaurants/{restaurant}/menu": append(coded(restaurant+"/menu", "identity", "gzip", "br", "zstd"),
			plain("/v1/restaurants/none/menu")...),
		"GET /v1/restaurants/{restaurant}/products": plain(restaurant+"/products?limit=500", restaurant+"/products?limit=500&q="+search,
			restaurant+"/products?limit=500&q="+distinct, restaurant+"/products?limit=500&available=true&q=a", restaurant+"/products?limit=500&expand=groups", restaurant+"/products?limit=500&expand=groups&ids="+url.QueryEscape(strings.Join(ids.Products, ",")), restaurant+"/products?limit=500&q="+wrong, restaurant+"/products?limit=500&q="+far),
		"GET /v1/restaurants/{restaurant}/products/{id}": append(coded(restaurant+"/products/"+ids.Products[0], "identity", "gzip", "br", "zstd"),
			plain(restaurant+"/products/none", restaurant+"/products/none?by=externalId")...),
		"GET /v1/restaurants/{restaurant}/changes": coded(restaurant+"/changes?since=1", "identity", "gzip", "br", "zstd"),
		"GET /v1/events":                                    plain("/v1/events?restaurant=" + apitest.Bistro),
		"GET /v1/rejection-reasons":                         plain("/v1/rejection-reasons?connection=main", "/v1/rejection-reasons"),
		"POST /v1/restaurants/{restaurant}/orders/validate": validations(restaurant+"/orders/validate", ids, false),
		"POST /v1/restaurants/{restaurant}/orders":          validations(restaurant+"/orders", ids, true),
		"GET /v1/orders":                                    {{path: "/v1/orders?key=0123456789abcdefghijkl", header: []string{"Origin", "https://shop.example"}}},
		"GET /v1/orders/events":                             {{path: "/v1/orders/events", header: []string{"Origin", "https://shop.example", "Idempotency-Key", "0123456789abcdefghijkl"}}},
		"POST /connect/token":                               tokenRequests("/connect/token", long),
		"POST /ops/session":                                 tokenRequests("/ops/session", long),
		"GET /ops/session":                                  {{path: "/ops/session", header: []string{"Cookie", "larder_ops=" + long}}},
		"DELETE /ops/session":                               {{path: "/ops/session", header: []string{"Cookie", "larder_ops=" + long}}},
		"GET /livez":                                        plain("/livez"),
		"GET /readyz":                                       plain("/readyz", "/readyz?verbose"),
		"GET /metrics":                                      coded("/metrics", "identity", "gzip"),
		"GET /openapi.json":                                 coded("/openapi.json", "identity", "gzip"),
		"GET /openapi.yaml":                                 coded("/openapi.yaml", "identity", "gzip"),
		"GET /docs":                                         plain("/docs"),
		"GET /docs/{file}":                                  append(coded("/docs/swagger-ui-bundle.js", "identity", "gzip"), plain("/docs/swagger-ui.css")...),
		"HEAD /docs/{file}":                                 coded("/docs/swagger-ui-bundle.js", "identity"),
		"GET /":                                             append(coded("/", "br", "gzip", "identity"), coded("/?restaurant="+long, "br")...),
		"HEAD /":                                            {{path: "/", header: []string{"Accept-Encoding", "br", "If-None-Match", "*"}}},
		"GET /web/{file}":                                   append(coded("/web/larder.js", "br", "gzip", "identity"), coded("/web/none", "br")...),
		"GET /favicon.ico":                                  coded("/favicon.ico", "br", "identity"),
		"GET /.well-known/oauth-authorization-server": {{path: "/.well-known/oauth-authorization-server"}},
		"GET /openapi.d.ts":                           coded("/openapi.d.ts", "identity", "gzip"),
		"GET /robots.txt":                             coded("/robots.txt", "br", "identity"),
		"GET /ops":                                    coded("/ops", "br", "identity"),
		"GET /ops/ops.js":                             coded("/ops/ops.js", "br", "identity"),
		"GET /orders/api/v1/menu/view":                {{path: "/orders/api/v1/menu/view", header: []string{"Authorization", "Bearer " + long}}},
		"GET /nothing/of/this/kind":                   plain("/" + long),
	}
}

// tokenRequests lists rejected requests for a token or a session.
func tokenRequests(path, long string) []costly {
	form := []string{"Content-Type", "application/x-www-form-urlencoded"}
	return []costly{
		{path: path, header: form, body: "grant_type=client_credentials&client_id=shop&client_secret=" + long},
		{path: path, header: form, body: strings.Repeat("a=&", 5000)},
		{path: path, header: []string{"Content-Type", "application/json"}, body: `{"client":"shop","secret":"` + long + `"}`},
		{path: path, header: []string{"Content-Type", "multipart/form-data; boundary=x"}, body: strings.Repeat("--x\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n\r\n", 300) + "--x--\r\n"},
	}
}

// validations lists orders that are expensive to check: many violations, many valid parts, or much
// to skip.
func validations(path string, ids menuIDs, guest bool) (list []costly) {
	head := fmt.Sprintf(`{"expeditionType":"pickup","expectedAt":%q,"paymentTypeID":"cash","guest":{"phone":"+12345678"},"dishList":[`, time.Now().Add(2*time.Hour).Format(time.RFC3339))
	dishes := func(count, ingredients int, dish func(i int) string, ingredient func(i, j int) string) string {
		var b strings.Builder
		b.WriteString(head)
		for i := range count {
			if i > 0 {
				b.WriteByte(',')
			}
			fmt.Fprintf(&b, `{"ID":%q,"quantity":1,"ingredients":[`, dish(i))
			for j := range ingredients {
				if j > 0 {
					b.WriteByte(',')
				}
				fmt.Fprintf(&b, `{"ID":%q}`, ingredient(i, j))
			}
			b.WriteString(`]}`)
		}
		b.WriteString(`]}`)
		return b.String()
	}
	product := func(i int) string { return ids.Products[i%len(ids.Products)] }
	ingredient := func(_, j int) string { return ids.Ingredients[j%len(ids.Ingredients)] }
	option := func(i, j int) string {
		if options := ids.Options[i%len(ids.Options)]; len(options) > 0 {
			return options[j%len(options)]
		}
		return ids.Ingredients[j%len(ids.Ingredients)]
	}
	nobody, unknown := func(int) string { return "u" }, func(_, _ int) string { return "u" }
	full := func(text string) string { return strings.Repeat(text, (250<<10)/len(text)) }
	bodies := []string{
		dishes(1, 0, product, unknown),
		dishes(200, 50, product, unknown),
		dishes(200, 20, product, ingredient),
		dishes(40, 100, product, ingredient),
		dishes(50, 90, product, option),
		dishes(150, 20, product, option),
		dishes(200, 100, nobody, unknown),
		dishes(4, 100, nobody, unknown),
		dishes(5, 90, product, option),
		dishes(200, 0, product, unknown),
		head + full(`1,`) + `1]}`,
		head + full(`{"":1},`) + `1]}`,
		head + `],` + full(`"a":1,`) + `"b":1}`,
		head + `],` + full(`"Ä":1,`) + `"b":1}`,
		head + `],"x":[` + full(`[],`) + `[]]}`,
		head + `],"comment":"` + full(`\n`) + `"}`,
		head + `],"comment":"` + full(`\u0435`) + `"}`,
		head + `{"ID":"a","quantity":1,` + full(`"quantity":"x",`) + `"price":1}]}`,
	}
	for i, body := range bodies {
		if raceDetector && i%3 != 1 {
			continue // all bytes without the parameter
		}
		header := []string{"Content-Type", "application/json", "Accept-Language", "ru"}
		if guest {
			header = append(header, "Origin", "https://shop.example", "Idempotency-Key", fmt.Sprintf("0123456789abcdefghij-%d", i))
		}
		list = append(list, costly{
			path:   path,
			header: header,
			body:   body,
			tokens: orders.Tokens([]byte(body)),
		})
	}
	return list
}
