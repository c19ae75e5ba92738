package peers

import (
	"bytes"
	"net/http"
	"strconv"
)

// Scenario is one request that larder and its peers answer.
type Scenario struct {
	Name   string
	Method string
	// Path is the path of larder's route.
	Path   string
	Header [][2]string
	Body   []byte
	Status int
	// Varies is set if instances return different bytes of about the same length.
	Varies bool
	// Against contains the names of the peers that can answer it.
	Against []string
}

// The names of the scenarios, which goals refer to.
const (
	NotModified = "304"
	Product     = "product 2 KB"
	Browser     = "product 2 KB, 12 browser headers"
	Small       = "S gzip"
	Medium      = "M gzip"
	Large       = "L gzip"
	Validate    = "validate"
	Restaurants = "list of restaurants"
)

// Menus are the menus that larder serves: restaurants with menus of three sizes, an
// order for the large menu, and a dish of the medium one.
type Menus struct {
	Small, Medium, Large string
	Dish                 string
	Order                []byte
}

// Scenarios returns all scenarios.
func Scenarios(m Menus) []Scenario {
	gzip := [2]string{"Accept-Encoding", "gzip"}
	plain := [2]string{"Accept-Encoding", "identity"}
	menu := func(id string) string { return "/v1/restaurants/" + id + "/menu" }
	dish := "/v1/restaurants/" + m.Medium + "/products/" + m.Dish
	read := func(name, path string, header [][2]string, against ...string) Scenario {
		return Scenario{
			Name:    name,
			Method:  http.MethodGet,
			Path:    path,
			Header:  header,
			Status:  http.StatusOK,
			Against: against,
		}
	}
	conditional := read(NotModified, menu(m.Medium), [][2]string{gzip}, baselineName, staticName, proxyName, varnishName, ginName, redisName)
	conditional.Status = http.StatusNotModified
	list := read(Restaurants, "/v1/restaurants", [][2]string{gzip}, netHTTPName)
	list.Varies = true
	return []Scenario{
		conditional,
		read(Product, dish, [][2]string{plain}, baselineName, staticName, proxyName, tunedName, haproxyName, varnishName, ginName, redisName),
		read(Browser, dish, append(browser(), plain), baselineName, proxyName, ginName),
		read(Small, menu(m.Small), [][2]string{gzip}, baselineName, staticName, proxyName, tunedName, haproxyName, varnishName, ginName),
		read(Medium, menu(m.Medium), [][2]string{gzip}, baselineName, staticName, proxyName, tunedName, haproxyName, varnishName, ginName, redisName),
		read(Large, menu(m.Large), [][2]string{gzip}, baselineName, staticName, proxyName, varnishName, ginName),
		{
			Name: Validate, Method: http.MethodPost, Path: "/v1/restaurants/" + m.Large + "/orders/validate", Body: m.Order, Status: http.StatusOK,
			Header: [][2]string{{"Content-Type", "application/json"}}, Against: []string{bindName, netHTTPName},
		},
		list,
	}
}

// browser returns the headers of Chromium for a request by a page's script; with Host
// and Accept-Encoding they are twelve.
func browser() [][2]string {
	return [][2]string{
		{"sec-ch-ua", `"Chromium";v="140", "Not=A?Brand";v="24", "Google Chrome";v="140"`},
		{"sec-ch-ua-mobile", "?0"},
		{"sec-ch-ua-platform", `"Windows"`},
		{"User-Agent", "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36"},
		{"Accept", "application/json, text/plain, */*"},
		{"Sec-Fetch-Site", "same-origin"},
		{"Sec-Fetch-Mode", "cors"},
		{"Sec-Fetch-Dest", "empty"},
		{"Referer", "https://shop.example/menu"},
		{"Accept-Language", "en-GB,en;q=0.9,ru;q=0.8"},
	}
}

// conditional reports whether the request is conditional.
func (e Scenario) conditional() bool { return e.Status == http.StatusNotModified }

// request returns the bytes of the request to a host.
func (e Scenario) request(host, path string, header [][2]string) []byte {
	var wire bytes.Buffer
	wire.WriteString(e.Method + " " + path + " HTTP/1.1\r\nHost: " + host + "\r\n")
	for _, h := range header {
		wire.WriteString(h[0] + ": " + h[1] + "\r\n")
	}
	if len(e.Body) > 0 {
		wire.WriteString("Content-Length: " + strconv.Itoa(len(e.Body)) + "\r\n")
	}
	wire.WriteString("\r\n")
	wire.Write(e.Body)
	return wire.Bytes()
}
