package sandbox_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"larder.local/internal/sandbox"
)

const viewPath = "/orders/api/v1/menu/view"

func TestMenuGoesOutAsPut(t *testing.T) {
	t.Parallel()
	w := start(t)
	for name, c := range map[string]struct{ put, want string }{
		"odd spacing":          {"{ \"products\" : [ ],\n\t\"name\":\"Ж 1.50\" }", `{"result":` + "{ \"products\" : [ ],\n\t\"name\":\"Ж 1.50\" }}"},
		"malformed":            {`{"products":[{"id":`, `{"result":{"products":[{"id":}`},
		"byte order mark":      {"\xef\xbb\xbf{}", "\xef\xbb\xbf" + `{"result":{}}`},
		"brings the envelope":  {`{"result":{"products":[]}}`, `{"result":{"products":[]}}`},
		"no JSON in the least": {"<html>", `{"result":<html>}`},
	} {
		id := strings.ReplaceAll(name, " ", "-")
		r := w.do(http.MethodPut, "/sandbox/menus/"+id, c.put).want(http.StatusOK)
		if got := r.at("result", "wellFormed"); got != json.Valid([]byte(strings.TrimPrefix(c.put, "\xef\xbb\xbf"))) {
			t.Errorf("%s: wellFormed %v", name, got)
		}
		for _, path := range []string{viewPath + "?restaurantId=" + id, viewPath + "/?restaurantId=" + id, "/sandbox/menus/" + id} {
			if got := string(w.do(http.MethodGet, path, "").want(http.StatusOK).body); got != c.want {
				t.Errorf("%s: %s is %q, want %q", name, path, got, c.want)
			}
		}
	}
	w.do(http.MethodGet, "/sandbox/menus/none", "").wantError(http.StatusNotFound, "menu_not_found")
	w.do(http.MethodGet, viewPath+"?restaurantId=none", "").wantError(http.StatusNotFound, "menu_not_found")
}

func TestDefaultMenu(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.do(http.MethodPut, "/sandbox/menus/default", `{"name":"the connection's own","products":[]}`).want(http.StatusOK)
	if got := w.do(http.MethodGet, viewPath, "").want(http.StatusOK).str("result", "name"); got != "the connection's own" {
		t.Errorf("without restaurantId: %q", got)
	}
	if got := w.do(http.MethodGet, viewPath+"?restaurantID="+sandbox.BistroID, "").str("result", "name"); got != "Larder Bistro" {
		t.Errorf("with restaurantID: %q", got)
	}
}

func TestMenuValidatorAndGzip(t *testing.T) {
	t.Parallel()
	w := start(t)
	plain := w.do(http.MethodGet, viewPath, "", "Accept-Encoding", "identity").want(http.StatusOK)
	etag := plain.header.Get("ETag")
	if etag == "" || plain.header.Get("Content-Encoding") != "" {
		t.Fatalf("headers %v", plain.header)
	}
	same := w.do(http.MethodGet, viewPath, "", "If-None-Match", `"x", `+etag)
	if same.status != http.StatusNotModified || len(same.body) != 0 || same.header.Get("ETag") != etag {
		t.Errorf("conditional: %d, %d bytes, %v", same.status, len(same.body), same.header)
	}
	packed := w.do(http.MethodGet, viewPath, "", "Accept-Encoding", "br, gzip;q=0.8").want(http.StatusOK)
	if packed.header.Get("Content-Encoding") != "gzip" {
		t.Fatalf("headers %v", packed.header)
	}
	unpack, err := gzip.NewReader(bytes.NewReader(packed.body))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(unpack); err != nil || !bytes.Equal(got, plain.body) {
		t.Errorf("gzip differs from identity: %d bytes, want %d, %v", len(got), len(plain.body), err)
	}
	refused := w.do(http.MethodGet, viewPath, "", "Accept-Encoding", "gzip;q=0")
	if refused.header.Get("Content-Encoding") != "" {
		t.Error("gzip was refused and is sent")
	}
	w.settings(`{"validators":false}`)
	bare := w.do(http.MethodGet, viewPath, "", "If-None-Match", etag).want(http.StatusOK)
	if bare.header.Get("ETag") != "" || len(bare.body) == 0 {
		t.Errorf("without validators: %v, %d bytes", bare.header, len(bare.body))
	}
}

func TestMenuStyles(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.box.SetMenu("r", []byte(`{"name":"","categories":[{"id":"c","parentId":null}],"products":[{"id":"p","externalID":"e",`+
		`"price":199.90,"schemeId":null,"description":null,"imageUrls":null,"measure":null,"isContainInStopList":[]}]}`))
	for _, c := range []struct{ settings, want string }{
		{
			`{"spelling":"Id"}`,
			`{"result":{"categories":[{"id":"c","parentId":null}],"name":"","products":[{"description":null,"externalId":"e","id":"p",` +
				`"imageUrls":null,"isContainInStopList":[],"measure":null,"price":199.90,"schemeId":null}]}}`,
		},
		{
			`{"spelling":"ID","prices":"string","nulls":"empty"}`,
			`{"result":{"categories":[{"id":"c","parentId":""}],"name":"","products":[{"description":"","externalID":"e","id":"p",` +
				`"imageUrls":[],"isContainInStopList":[],"measure":null,"price":"199.90","schemeId":""}]}}`,
		},
		{
			`{"prices":"number","nulls":"omit"}`,
			`{"result":{"categories":[{"id":"c"}],"products":[{"externalID":"e","id":"p","price":199.90}]}}`,
		},
	} {
		w.settings(c.settings)
		if got := string(w.do(http.MethodGet, viewPath+"?restaurantId=r", "").want(http.StatusOK).body); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.settings, got, c.want)
		}
	}
	w.box.SetMenu("broken", []byte(`{"id":`))
	if got := string(w.do(http.MethodGet, viewPath+"?restaurantId=broken", "").body); got != `{"result":{"id":}` {
		t.Errorf("a malformed menu is restyled: %s", got)
	}
	// Too deep for encoding/json: rewriting it would exhaust the stack.
	deep := strings.Repeat("[ ", 20_000) + strings.Repeat("]", 20_000)
	w.box.SetMenu("deep", []byte(deep))
	if got := string(w.do(http.MethodGet, viewPath+"?restaurantId=deep", "").body); got != `{"result":`+deep+`}` {
		t.Errorf("a menu that is too deep is restyled: %.40s", got)
	}
}

func TestStopList(t *testing.T) {
	t.Parallel()
	w := start(t)
	patch := func(restaurant, body string) *reply {
		return w.do(http.MethodPatch, "/sandbox/stop-list/"+restaurant, body)
	}
	r := patch(sandbox.BistroID, `{"dish-water":true,"dish-unagi":false,"ing-bacon":true}`).want(http.StatusOK)
	if got := r.str("result", "stopped", 0) + " " + r.str("result", "stopped", 1); got != "dish-water ing-bacon" {
		t.Errorf("stopped: %s", r.body)
	}
	stops := map[string][]string{}
	shown := w.do(http.MethodGet, "/sandbox/menus/"+sandbox.BistroID, "")
	var answer struct{ Result view }
	if err := json.Unmarshal(shown.body, &answer); err != nil {
		t.Fatal(err)
	}
	for _, p := range append(answer.Result.Products, answer.Result.Ingredients...) {
		stops[p.ID] = p.IsContainInStopList
	}
	if len(stops["dish-water"]) != 1 || stops["dish-water"][0] != sandbox.BistroID || len(stops["ing-bacon"]) != 1 || len(stops["dish-unagi"]) != 0 {
		t.Errorf("stop lists: water %v, bacon %v, unagi %v", stops["dish-water"], stops["ing-bacon"], stops["dish-unagi"])
	}
	w.do(http.MethodPost, orders, w.water()).wantError(http.StatusBadRequest, "order_validation")
	patch(sandbox.BistroID, `{"dish-water":false}`).want(http.StatusOK)
	w.do(http.MethodPost, orders, w.water()).want(http.StatusCreated)

	patch("default", `{"dish-water":true}`).want(http.StatusOK)
	noRestaurant := strings.Replace(w.water(), `"restaurantID":"`+sandbox.BistroID+`",`, "", 1)
	w.do(http.MethodPost, orders, noRestaurant).wantError(http.StatusBadRequest, "order_validation")
	patch("default", `{"dish-water":false}`).want(http.StatusOK)
	w.do(http.MethodPost, orders, noRestaurant).want(http.StatusCreated)

	patch(sandbox.BistroID, `{"nope":true}`).wantError(http.StatusBadRequest, "bad_stop_list")
	patch(sandbox.BistroID, `{"dish-water":"yes"}`).wantError(http.StatusBadRequest, "bad_stop_list")
	patch(sandbox.BistroID, `{"dish-water":null}`).wantError(http.StatusBadRequest, "bad_stop_list")
	patch("none", `{}`).wantError(http.StatusNotFound, "menu_not_found")
	w.box.SetMenu("broken", []byte("{"))
	patch("broken", `{"a":true}`).wantError(http.StatusConflict, "menu_malformed")
}

func TestSettings(t *testing.T) {
	t.Parallel()
	w := start(t)
	want := `{"result":{"autoAccept":true,"autoAcceptDelay":"5s","rejectionReasons":true,"tokenLifetime":"1h0m0s",` +
		`"spelling":"ID","prices":"number","nulls":"null","orderIDs":"string","bodies":"strict","validators":true,"paymentRefusedStatus":400,` +
		`"capacity":{"concurrent":0,"delay":"0s"},"currencies":[]}}`
	if got := string(w.do(http.MethodGet, "/sandbox/settings", "").want(http.StatusOK).body); got != want {
		t.Errorf("defaults %s, want %s", got, want)
	}
	for _, bad := range []string{
		"", "[]", "{", `{"unknown":1}`, `{"spelling":"iD"}`, `{"prices":"x"}`, `{"nulls":"x"}`, `{"orderIDs":"x"}`, `{"paymentRefusedStatus":302}`,
		`{"tokenLifetime":"10ms"}`, `{"autoAcceptDelay":5}`, `{"autoAcceptDelay":"-1s"}`, `{"autoAcceptDelay":"soon"}`,
		`{"autoAccept":"yes"}`, `{"currencies":"c"}`, `{"currencies":[" "]}`, `{} {}`, `{"capacity":{"concurrent":-1}}`, `{"capacity":{"slots":1}}`, `{"capacity":16}`, `{"autoAccept":false,"unknown":1}`,
	} {
		w.do(http.MethodPut, "/sandbox/settings", bad).wantError(http.StatusBadRequest, "bad_settings")
	}
	if got := string(w.do(http.MethodGet, "/sandbox/settings", "").body); got != want {
		t.Errorf("a refused change left its mark: %s", got)
	}
	w.settings(`{"autoAcceptDelay":"1s"}`)
	r := w.do(http.MethodPut, "/sandbox/settings/", `{"autoAccept":false}`).want(http.StatusOK)
	if r.str("result", "autoAcceptDelay") != "1s" || r.at("result", "autoAccept") != false {
		t.Errorf("merged: %s", r.body)
	}
}

func TestCounters(t *testing.T) {
	t.Parallel()
	w := start(t)
	id := w.place()
	w.do(http.MethodPost, orders, "{}").want(http.StatusBadRequest)
	w.do(http.MethodPut, orders+"/"+id+"/complete", "").want(http.StatusInternalServerError)
	w.do(http.MethodGet, viewPath+"/?restaurantId="+sandbox.BistroID, "").want(http.StatusOK)
	w.do(http.MethodGet, "/elsewhere", "").wantError(http.StatusNotFound, "not_found")
	want := `{"result":{"calls":{"GET /orders/api/v1/menu/view":1,"POST /connect/token":1,"POST /orders/api/v1/orders":2,` +
		`"PUT /orders/api/v1/orders/{id}/complete":1,"other":1},"executed":{"GET /orders/api/v1/menu/view":1,` +
		`"POST /connect/token":1,"POST /orders/api/v1/orders":1},"tokens":1}}`
	if got := string(w.do(http.MethodGet, "/sandbox/counters", "").want(http.StatusOK).body); got != want {
		t.Errorf("counters %s\nwant %s", got, want)
	}
	want = `{"result":{"calls":{},"executed":{},"tokens":0}}`
	if got := string(w.do(http.MethodDelete, "/sandbox/counters", "").want(http.StatusOK).body); got != want {
		t.Errorf("cleared: %s, want %s", got, want)
	}
}

// A page of another site cannot change the sandbox, neither with a script nor
// with a form that sends JSON as text/plain. The board and programs can.
func TestControlRoutesRejectOtherSites(t *testing.T) {
	t.Parallel()
	w := start(t)
	id := w.place()
	const hang = `{"match":{},"do":"hang"}`
	routes := []struct{ method, path, body string }{
		{http.MethodPost, "/sandbox/faults", hang},
		{http.MethodPut, "/sandbox/faults", "[" + hang + "]"},
		{http.MethodPost, "/sandbox/orders/" + id + "/advance", ""},
		{http.MethodPut, "/sandbox/settings", `{"autoAccept":false}`},
		{http.MethodPut, "/sandbox/menus/other", "{}"},
		{http.MethodPatch, "/sandbox/stop-list/" + sandbox.BistroID, `{"dish-water":true}`},
		{http.MethodDelete, "/sandbox/counters", ""},
	}
	before := string(w.do(http.MethodGet, "/sandbox/settings", "").body)
	for _, r := range routes {
		for _, from := range [][]string{
			{"Origin", "https://evil.example"},
			{"Origin", "null"},
			{"Origin", "https://evil.example", "Sec-Fetch-Site", "cross-site"},
			{"Sec-Fetch-Site", "same-site"},
			{"Origin", "https://evil.example", "Sec-Fetch-Site", "cross-site", "Content-Type", "text/plain"},
			{"Origin", "http://evil.example:9090", "Host", "evil.example:9090"}, // its name resolves to this machine now
		} {
			w.do(r.method, r.path, r.body, from...).wantError(http.StatusForbidden, "cross_site")
		}
	}
	w.do(http.MethodPost, "/sandbox/faults", hang, "Content-Type", "text/plain; charset=utf-8").wantError(http.StatusForbidden, "cross_site")
	if left := string(w.do(http.MethodGet, "/sandbox/faults", "").body); left != `{"result":[]}` {
		t.Errorf("faults of another site: %s", left)
	}
	if after := string(w.do(http.MethodGet, "/sandbox/settings", "").body); after != before {
		t.Errorf("settings of another site: %s", after)
	}
	board := []string{"Origin", w.url, "Sec-Fetch-Site", "same-origin"}
	script := []string{"Content-Type", "application/x-www-form-urlencoded"} // curl -d
	for _, from := range [][]string{board, script} {
		w.do(http.MethodPost, "/sandbox/faults", `{"match":{"path":"/none"},"do":"hang"}`, from...).want(http.StatusOK)
		for _, r := range routes[2:] {
			w.do(r.method, r.path, r.body, from...).want(http.StatusOK)
		}
	}
	w.do(http.MethodGet, "/sandbox/orders", "", "Sec-Fetch-Site", "cross-site").want(http.StatusOK) // a link
}

func TestRootErrorsAndRequestIDs(t *testing.T) {
	t.Parallel()
	w := start(t)
	if r := w.do(http.MethodGet, "/", "").want(http.StatusOK); !strings.HasPrefix(r.header.Get("Content-Type"), "text/plain") {
		t.Errorf("GET /: %v", r.header)
	}
	r := w.do(http.MethodPost, "/sandbox/settings", "").wantError(http.StatusMethodNotAllowed, "method_not_allowed")
	if r.header.Get("Allow") != "GET, PUT" {
		t.Errorf("Allow %q", r.header.Get("Allow"))
	}
	w.do(http.MethodGet, "/sandbox/nothing", "").wantError(http.StatusNotFound, "not_found")
	for sent, kept := range map[string]bool{"abc-1.2:3_X": true, "a b": false, strings.Repeat("x", 65): false} {
		if got := w.do(http.MethodGet, "/", "", "X-Request-Id", sent).header.Get("X-Request-Id"); (got == sent) != kept || got == "" {
			t.Errorf("X-Request-Id %q came back as %q", sent, got)
		}
	}
	w.do(http.MethodPost, orders, strings.Repeat(" ", 5<<20)).wantError(http.StatusRequestEntityTooLarge, "body_too_large")
	picture := w.do(http.MethodGet, "/sandbox/images/pizza.svg", "").want(http.StatusOK)
	if picture.header.Get("Content-Type") != "image/svg+xml" || !bytes.Contains(picture.body, []byte("<svg")) {
		t.Errorf("picture: %v %s", picture.header, picture.body)
	}
	w.do(http.MethodDelete, "/sandbox/counters", "").want(http.StatusOK)
	if icon := w.do(http.MethodGet, "/favicon.ico", "").want(http.StatusOK); icon.header.Get("Content-Type") != "image/svg+xml" {
		t.Errorf("icon: %v", icon.header)
	}
	if counted := w.do(http.MethodGet, "/sandbox/counters", "").want(http.StatusOK); bytes.Contains(counted.body, []byte("other")) {
		t.Errorf("a browser's request for an icon is counted as a call: %s", counted.body)
	}
	w.do(http.MethodGet, "/sandbox/images/none.svg", "").wantError(http.StatusNotFound, "image_not_found")
	w.do(http.MethodGet, "/sandbox/images/..%2fbistro.json", "").wantError(http.StatusNotFound, "image_not_found")
}
