package httpapi_test

import (
	"strconv"
	"strings"
	"testing"

	"larder.local/internal/testkit/apitest"
)

const (
	productPath = "/v1/restaurants/bistro/products/p1"
)

// rawGet returns a GET request in the form that a program sends.
func rawGet(path string, headers ...string) string {
	return "GET " + path + " HTTP/1.1\r\nHost: larder.example\r\n" + strings.Join(append(headers, ""), "\r\n") + "\r\n"
}

// browser has the headers that a browser adds.
const browser = "User-Agent: Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36\r\nAccept: text/html,application/xhtml+xml,*/*;q=0.8\r\n" +
	"Accept-Language: en-US,en;q=0.5\r\nConnection: keep-alive\r\nCookie: a=b; c=d\r\nSec-Fetch-Dest: document\r\nPriority: u=0, i\r\nDNT: 1\r\n" +
	"Referer: https://shop.example/\r\nCache-Control: max-age=0\r\nTraceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

// Both paths return the same bytes for any stream. The fast path answers the requests that it is
// meant for, and none that net/http must answer.
func TestBothPathsAnswerAlike(t *testing.T) {
	t.Parallel()
	w := newFixture(t, func(p *apitest.Plan) { p.HTTP.CORSOrigins = []string{"https://shop.example"} })
	token := "Authorization: " + w.As(apitest.ClientShop)[1]
	reader := "Authorization: " + w.As(apitest.ClientRead)[1]
	north := "Authorization: " + w.As(apitest.ClientNorth)[1]
	w.SyncOnce("@main") // the connection's default menu
	l := newBothPaths(t, w)
	for _, path := range []string{apitest.ViewPath, apitest.MenuPath, productPath} { // caches the tokens and bodies
		for _, who := range []string{token, reader, north} {
			l.plain.ask(t, []byte(rawGet(path, who)), 1<<20)
		}
	}
	get := rawGet(apitest.MenuPath)
	tag := etagOf(t, l.plain.ask(t, []byte(get), 1<<20))
	post := "POST " + apitest.ValidatePath + " HTTP/1.1\r\nHost: l\r\nContent-Length: "
	for name, c := range map[string]struct {
		stream string
		fell   int // requests for net/http
		status string
	}{
		"a menu":                       {get, 0, "200"},
		"a product":                    {rawGet(productPath), 0, "200"},
		"a product by externalId":      {rawGet("/v1/restaurants/bistro/products/e1?by=externalId"), 0, "200"},
		"a menu view":                  {rawGet(apitest.ViewPath, token), 0, "200"},
		"a menu view with a slash":     {rawGet(apitest.ViewPath+"/", token), 0, "200"},
		"a menu view of a restaurant":  {rawGet(apitest.ViewPath+"?restaurantId=bistro", token), 0, "200"},
		"a menu view by another name":  {rawGet(apitest.ViewPath+"?restaurant_ID=bistro", token), 0, "200"},
		"a menu with a token":          {rawGet(apitest.MenuPath, reader), 0, "200"},
		"gzip":                         {rawGet(apitest.MenuPath, "Accept-Encoding: gzip"), 0, "200"},
		"all codings":                  {rawGet(apitest.MenuPath, "Accept-Encoding: gzip, deflate, br, zstd"), 0, "200"},
		"a coding with a weight":       {rawGet(apitest.MenuPath, "Accept-Encoding: gzip;q=0.5, br;q=0.7, *;q=0"), 0, "200"},
		"a browser":                    {rawGet(apitest.MenuPath, browser, "Accept-Encoding: gzip"), 0, "200"},
		"names in any case":            {"GET " + apitest.MenuPath + " HTTP/1.1\r\nhOST: l\r\naCCEPT-eNCODING: gzip\r\n\r\n", 0, "200"},
		"HEAD":                         {"HEAD" + get[3:], 0, "200"},
		"HEAD of a product":            {"HEAD" + rawGet(productPath)[3:], 0, "200"},
		"304":                          {rawGet(apitest.MenuPath, "If-None-Match: "+tag), 0, "304"},
		"304 of a list":                {rawGet(apitest.MenuPath, `If-None-Match: "x", `+tag), 0, "304"},
		"304 of anything":              {rawGet(apitest.MenuPath, "If-None-Match: *"), 0, "304"},
		"HEAD with 304":                {"HEAD" + rawGet(apitest.MenuPath, "If-None-Match: *")[3:], 0, "304"},
		"200 after another tag":        {rawGet(apitest.MenuPath, `If-None-Match: "x"`), 0, "200"},
		"304 since":                    {rawGet(apitest.MenuPath, "If-Modified-Since: Fri, 01 Jan 2100 00:00:00 GMT"), 0, "304"},
		"200 since":                    {rawGet(apitest.MenuPath, "If-Modified-Since: Thu, 01 Jan 1970 00:00:00 GMT"), 0, "200"},
		"a tag stands over a time":     {rawGet(apitest.MenuPath, `If-None-Match: "x"`, "If-Modified-Since: Fri, 01 Jan 2100 00:00:00 GMT"), 0, "200"},
		"an origin that may read":      {rawGet(apitest.MenuPath, "Origin: https://shop.example"), 0, "200"},
		"an origin that may not":       {rawGet(apitest.MenuPath, "Origin: https://other.example"), 0, "200"},
		"an id of the caller's":        {rawGet(apitest.MenuPath, "X-Request-Id: abc-123"), 0, "200"},
		"an id that is too long":       {rawGet(apitest.MenuPath, "X-Request-Id: "+strings.Repeat("x", 129)), 0, "200"},
		"an id with a space":           {rawGet(apitest.MenuPath, "X-Request-Id: a b"), 0, "200"},
		"no space before values":       {"GET " + apitest.MenuPath + " HTTP/1.1\r\nHost:l\r\nAccept-Encoding:gzip\r\n\r\n", 0, "200"},
		"spaces around values":         {"GET " + apitest.MenuPath + " HTTP/1.1\r\nHost:   l  \r\nAccept-Encoding:  gzip  \r\n\r\n", 0, "200"},
		"bytes above ASCII in a value": {rawGet(apitest.MenuPath, "User-Agent: é\xff"), 0, "200"},
		"pipelined":                    {get + rawGet(productPath) + "HEAD" + get[3:] + rawGet(apitest.MenuPath, "If-None-Match: *") + get, 0, "200"},

		"another path":                      {rawGet("/v1/restaurants"), 1, "200"},
		"nothing there":                     {rawGet("/nothing"), 1, "404"},
		"an unknown restaurant":             {rawGet("/v1/restaurants/nobody/menu"), 1, "404"},
		"a restaurant without a menu":       {rawGet("/v1/restaurants/empty/menu"), 1, "503"},
		"an unknown product":                {rawGet("/v1/restaurants/bistro/products/nothing"), 1, "404"},
		"an id with escapes":                {rawGet("/v1/restaurants/bistro/products/p%2F2%20+%25"), 1, "200"},
		"an externalId of several":          {rawGet("/v1/restaurants/bistro/products/twin?by=externalId"), 1, "409"},
		"an escape that need not be":        {rawGet("/v1/restaurants/bistr%6f/menu"), 1, "200"},
		"a path with dots":                  {rawGet("/v1/restaurants/bistro/../bistro/menu"), 1, "404"},
		"an empty segment":                  {rawGet("/v1/restaurants//menu"), 1, "404"},
		"two slashes":                       {rawGet("//v1/restaurants/bistro/menu"), 1, "404"},
		"a slash too many":                  {rawGet(apitest.MenuPath + "/"), 1, "404"},
		"a query":                           {rawGet(apitest.MenuPath + "?x=1"), 1, "200"},
		"an empty query":                    {rawGet(apitest.MenuPath + "?"), 1, "200"},
		"a malformed query":                 {rawGet(apitest.MenuPath + "?a;b=%zz"), 1, "400"},
		"a fragment":                        {rawGet(apitest.MenuPath + "#x"), 1, "404"},
		"by what":                           {rawGet(productPath + "?by=name"), 1, "400"},
		"a restaurant twice":                {rawGet(apitest.ViewPath+"?restaurantId=bistro&restaurantId=north-1", token), 1, "400"},
		"no token for the view":             {rawGet(apitest.ViewPath), 1, "401"},
		"a token that is none":              {rawGet(apitest.ViewPath, "Authorization: Bearer x"), 1, "401"},
		"a scheme in lower case":            {rawGet(apitest.ViewPath, strings.Replace(token, "Bearer", "bearer", 1)), 1, "200"},
		"a token without the scope":         {rawGet(apitest.ViewPath, reader), 1, "403"},
		"a bad token for an open menu":      {rawGet(apitest.MenuPath, "Authorization: Bearer x"), 1, "401"},
		"two tokens":                        {rawGet(apitest.MenuPath, reader, reader), 1, "401"},
		"another's restaurant":              {rawGet(apitest.MenuPath, north), 1, "404"},
		"no coding will do":                 {rawGet(apitest.MenuPath, "Accept-Encoding: identity;q=0"), 1, "406"},
		"two Accept-Encoding":               {rawGet(apitest.MenuPath, "Accept-Encoding: gzip;q=0.1", "Accept-Encoding: br"), 1, "200"},
		"two If-None-Match":                 {rawGet(apitest.MenuPath, `If-None-Match: "x"`, "If-None-Match: "+tag), 1, "304"},
		"an empty If-None-Match":            {rawGet(apitest.MenuPath, "If-None-Match:", "If-Modified-Since: Fri, 01 Jan 2100 00:00:00 GMT"), 1, "200"},
		"two If-Modified-Since":             {rawGet(apitest.MenuPath, "If-Modified-Since: Fri, 01 Jan 2100 00:00:00 GMT", "If-Modified-Since: x"), 1, "200"},
		"two origins":                       {rawGet(apitest.MenuPath, "Origin: https://shop.example", "Origin: https://other.example"), 1, "200"},
		"two ids":                           {rawGet(apitest.MenuPath, "X-Request-Id: a", "X-Request-Id: b"), 1, "200"},
		"Connection: close":                 {rawGet(apitest.MenuPath, "Connection: close") + get, 1, "200"},
		"Connection: keep-alive, close":     {rawGet(apitest.MenuPath, "Connection: keep-alive, close") + get, 1, "200"},
		"an upgrade":                        {rawGet(apitest.MenuPath, "Connection: Upgrade", "Upgrade: h2c", "HTTP2-Settings: AAMAAABkAAQAAP__"), 1, "200"},
		"Upgrade alone":                     {rawGet(apitest.MenuPath, "Upgrade: websocket"), 1, "200"},
		"Expect":                            {rawGet(apitest.MenuPath, "Expect: 100-continue"), 1, "200"},
		"an expectation nobody knows":       {rawGet(apitest.MenuPath, "Expect: more"), 0, "417"},
		"HTTP/1.0":                          {"GET " + apitest.MenuPath + " HTTP/1.0\r\nHost: l\r\n\r\n" + get, 1, "200"},
		"HTTP/1.0 that stays":               {"GET " + apitest.MenuPath + " HTTP/1.0\r\nHost: l\r\nConnection: keep-alive\r\n\r\n" + get, 2, "200"},
		"HTTP/0.9":                          {"GET " + apitest.MenuPath + "\r\n\r\n", 0, "400"},
		"HTTP/1.2":                          {"GET " + apitest.MenuPath + " HTTP/1.2\r\nHost: l\r\n\r\n", 1, "200"},
		"HTTP/2.0":                          {"GET " + apitest.MenuPath + " HTTP/2.0\r\nHost: l\r\n\r\n", 0, "505"},
		"the preface of h2":                 {"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 1, "200"},
		"a TLS hello":                       {"\x16\x03\x01\x00\xa5\x01\x00\x00\xa1\x03\x03", 0, "400"},
		"absolute form":                     {rawGet("http://larder.example" + apitest.MenuPath), 1, "200"},
		"OPTIONS":                           {"OPTIONS * HTTP/1.1\r\nHost: l\r\n\r\n", 0, "200"},
		"a method nobody knows":             {"GOT " + apitest.MenuPath + " HTTP/1.1\r\nHost: l\r\n\r\n", 1, "200"},
		"a method in lower case":            {"get " + apitest.MenuPath + " HTTP/1.1\r\nHost: l\r\n\r\n", 1, "200"},
		"no host":                           {"GET " + apitest.MenuPath + " HTTP/1.1\r\n\r\n", 0, "400"},
		"an empty host":                     {"GET " + apitest.MenuPath + " HTTP/1.1\r\nHost:\r\n\r\n", 1, "200"},
		"two hosts":                         {"GET " + apitest.MenuPath + " HTTP/1.1\r\nHost: l\r\nHost: l\r\n\r\n", 0, "400"},
		"a host with a space":               {"GET " + apitest.MenuPath + " HTTP/1.1\r\nHost: a b\r\n\r\n", 0, "400"},
		"bare LF":                           {strings.ReplaceAll(get, "\r\n", "\n") + get, 2, "200"},
		"one bare LF":                       {"GET " + apitest.MenuPath + " HTTP/1.1\r\nHost: l\nAccept: a\r\n\r\n" + get, 2, "200"},
		"a CR alone":                        {"GET " + apitest.MenuPath + " HTTP/1.1\r\nHost: l\r\nX: a\rb\r\n\r\n", 0, "400"},
		"CR CR LF":                          {"GET " + apitest.MenuPath + " HTTP/1.1\r\nHost: l\r\nX: a\r\r\n\r\n", 0, "400"},
		"a NUL":                             {"GET " + apitest.MenuPath + " HTTP/1.1\r\nHost: l\r\nX: a\x00b\r\n\r\n", 0, "400"},
		"a delete":                          {"GET " + apitest.MenuPath + " HTTP/1.1\r\nHost: l\r\nX: abcdefg\x7f\r\n\r\n", 0, "400"},
		"a control byte in the path":        {"GET /v1/restaurants/bistro\x01/menu HTTP/1.1\r\nHost: l\r\n\r\n", 0, "400"},
		"a tab":                             {rawGet(apitest.MenuPath, "X:\ta"), 1, "200"},
		"a folded line":                     {rawGet(apitest.MenuPath, "X: a\r\n b"), 1, "200"},
		"a folded line that hides a length": {rawGet(apitest.MenuPath, "X: a\r\n Content-Length: 5") + get, 2, "200"},
		"a fold at the beginning":           {"GET " + apitest.MenuPath + " HTTP/1.1\r\n Host: l\r\n\r\n", 0, "400"},
		"a space before the colon":          {"GET " + apitest.MenuPath + " HTTP/1.1\r\nHost : l\r\n\r\n", 0, "400"},
		"a name without a colon":            {rawGet(apitest.MenuPath, "nothing"), 0, "400"},
		"a name of nothing":                 {rawGet(apitest.MenuPath, ": x"), 0, "400"},
		"a name with odd bytes":             {rawGet(apitest.MenuPath, "X(y): z"), 0, "400"},
		"two spaces in the first line":      {"GET  " + apitest.MenuPath + " HTTP/1.1\r\nHost: l\r\n\r\n", 0, "400"},
		"a space at the end of it":          {"GET " + apitest.MenuPath + " HTTP/1.1 \r\nHost: l\r\n\r\n", 0, "400"},
		"an empty line first":               {"\r\n" + get, 0, "400"},
		"a long head":                       {rawGet(apitest.MenuPath, "X: "+strings.Repeat("x", 9<<10)), 1, "200"},
		"a head that is too long":           {rawGet(apitest.MenuPath, "X: "+strings.Repeat("x", 40<<10)), 0, "431"},
		"half a head":                       {get[:len(get)-3], 0, "400"},
		"half a method":                     {"GE", 0, "400"},
		"nothing":                           {"", 0, ""},

		"a GET with a body":              {rawGet(apitest.MenuPath, "Content-Length: "+strconv.Itoa(len(get))) + get + get, 2, "200"},
		"a HEAD with a body":             {"HEAD" + rawGet(apitest.MenuPath, "Content-Length: "+strconv.Itoa(len(get)))[3:] + get + get, 2, "200"},
		"a HEAD, then a body":            {"HEAD" + get[3:] + post + "5\r\n\r\nhello" + get, 2, "200"},
		"a GET with an empty body":       {rawGet(apitest.MenuPath, "Content-Length: 0") + get, 2, "200"},
		"a GET with a body in chunks":    {rawGet(apitest.MenuPath, "Transfer-Encoding: chunked") + "5\r\nhello\r\n0\r\n\r\n" + get, 2, "200"},
		"a length and chunks":            {rawGet(apitest.MenuPath, "Content-Length: 4", "Transfer-Encoding: chunked") + "0\r\n\r\n" + get, 2, "200"},
		"two lengths":                    {rawGet(apitest.MenuPath, "Content-Length: 4", "Content-Length: 5") + "abcde" + get, 0, "400"},
		"a length that is none":          {rawGet(apitest.MenuPath, "Content-Length: +4") + "abcd" + get, 0, "400"},
		"a coding nobody knows":          {rawGet(apitest.MenuPath, "Transfer-Encoding: gzip") + get, 0, "501"},
		"an identity coding":             {rawGet(apitest.MenuPath, "Transfer-Encoding: identity") + get, 0, "501"},
		"a request in a body":            {post + strconv.Itoa(len(get)) + "\r\n\r\n" + get, 1, "200"},
		"a request in a body, then one":  {post + strconv.Itoa(len(get)) + "\r\n\r\n" + get + rawGet(productPath), 2, "200"},
		"a hot read, then a body":        {get + post + "5\r\n\r\nhello" + get, 2, "200"},
		"a hot read, then nonsense":      {get + "\x00\x01\x02\r\n\r\n" + get, 0, "200"},
		"a hot read, then a byte":        {get + "0", 0, "200"},
		"a hot read, then four":          {get + "\x00\n\n\n", 0, "200"},
		"a hot read, then half of one":   {get + get[:20], 0, "200"},
		"a body that looks like a chunk": {post + "7\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + get, 2, "200"},
		"a trailer":                      {rawGet(apitest.MenuPath, "Transfer-Encoding: chunked", "Trailer: X") + "0\r\nX: y\r\n\r\n" + get, 2, "200"},
		"a length hidden by its case":    {rawGet(apitest.MenuPath, "cOnTeNt-LeNgTh: 3") + "abc" + get, 2, "200"},
		"a length with an underscore":    {rawGet(apitest.MenuPath, "Content_Length: 3") + get, 0, "200"},
		"chunks hidden by a space":       {rawGet(apitest.MenuPath, "Transfer-Encoding : chunked") + "0\r\n\r\n" + get, 0, "400"},
		"TE":                             {rawGet(apitest.MenuPath, "TE: trailers"), 1, "200"},
	} {
		for _, chunk := range []int{1 << 20, 7, 1} {
			got, fell := l.same(t, []byte(c.stream), chunk)
			if fell != c.fell {
				t.Errorf("%s, in pieces of %d: %d requests got to net/http, want %d", name, chunk, fell, c.fell)
			}
			if status := statusOf(got); status != c.status {
				t.Errorf("%s: answered %q, want %q", name, status, c.status)
			}
		}
	}
}

// statusOf returns the status of the first response, or "" without one.
func statusOf(answer string) string {
	_, rest, _ := strings.Cut(answer, " ")
	status, _, _ := strings.Cut(rest, " ")
	return status
}

func etagOf(t *testing.T, answer string) string {
	t.Helper()
	_, rest, found := strings.Cut(answer, "\r\nEtag: ")
	tag, _, _ := strings.Cut(rest, "\r\n")
	if !found || tag == "" {
		t.Fatalf("no tag in %q", answer)
	}
	return tag
}

// For any stream of bytes, the fast path with net/http behind it returns the same as net/http
// alone.
func FuzzBothPaths(f *testing.F) {
	get := rawGet(apitest.MenuPath)
	for _, seed := range []string{
		get, rawGet(productPath, browser), "HEAD" + get[3:], get + get, rawGet(apitest.MenuPath, "If-None-Match: *"),
		rawGet(apitest.MenuPath, "Content-Length: 40") + get, get + "POST / HTTP/1.1\r\nHost: l\r\nContent-Length: 3\r\n\r\nabc" + get,
		rawGet(apitest.MenuPath, "Transfer-Encoding: chunked") + "0\r\n\r\n" + get, "GET " + apitest.MenuPath + " HTTP/1.0\r\n\r\n", "GET / HTTP/1.1\nHost: l\n\n",
		rawGet(apitest.MenuPath, "X: a\r\n b", "Connection: close"), rawGet(apitest.ViewPath, "Authorization: Bearer x"), "\r\n\r\n",
	} {
		f.Add([]byte(seed), 64)
		f.Add([]byte(seed), 3)
	}
	l := newBothPaths(f, newFixtureFor(f))
	f.Fuzz(func(t *testing.T, stream []byte, chunk int) {
		l.same(t, stream, chunk)
	})
}
