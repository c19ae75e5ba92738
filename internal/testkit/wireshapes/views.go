package wireshapes

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// viewShapes are the ways to request the menu view and the rejection reasons.
func viewShapes() map[string]request {
	asJSON := map[string]string{"Content-Type": "application/json"}
	return map[string]request{
		"the connection's own":             {path: pathMenu},
		"a slash at the end":               {path: pathMenu + "/"},
		"a restaurant's":                   {path: pathMenu + "?restaurantId=" + Restaurant},
		"a slash before the question mark": {path: pathMenu + "/?restaurantId=" + Restaurant},
		"restaurantID":                     {path: pathMenu + "?restaurantID=" + Restaurant},
		"restaurant_id":                    {path: pathMenu + "/?restaurant_id=" + Restaurant},
		"restaurantId twice":               {path: pathMenu + "?restaurantId=" + Restaurant + "&restaurantid=" + Restaurant},
		"an empty restaurantId":            {path: pathMenu + "?restaurantId="},
		"a parameter that nobody knows":    {path: pathMenu + "?restaurantId=" + Restaurant + "&v=1"},
		"a GET with {}":                    {path: pathMenu, body: "{}", header: asJSON},
		"a GET with {}, slash, restaurant": {path: pathMenu + "/?restaurantId=" + Restaurant, body: "{}", header: asJSON},
		"a GET with null":                  {path: pathMenu, body: "null", header: asJSON},
		"the headers of a browser": {path: pathMenu, header: map[string]string{
			"Accept": "application/json, text/plain, */*", "Accept-Language": "ru-RU,ru;q=0.9,en-US;q=0.8,en;q=0.7",
			"Sec-Fetch-Dest": "empty", "Sec-Fetch-Mode": "cors", "Sec-Fetch-Site": "cross-site", "Content-Type": "application/json",
		}},
	}
}

func runViews(t *testing.T, target Target) {
	t.Helper()
	token := login(t, target)
	menu, err := parse(Menu())
	if err != nil {
		t.Fatal(err)
	}
	for name, shape := range viewShapes() {
		t.Run(name, func(t *testing.T) {
			shape.method, shape.header = http.MethodGet, with(token, shape.header)
			got := send(t, target.BaseURL, shape)
			if got.status != http.StatusOK || !strings.HasPrefix(got.header.Get("Content-Type"), "application/json") {
				t.Fatalf("status %d, content type %q: %.200s", got.status, got.header.Get("Content-Type"), got.body)
			}
			if diff := cmp.Diff(map[string]any{"result": menu}, got.parsed); diff != "" {
				t.Errorf("the menu view is not as it was published (-want +got):\n%s", diff)
			}
			shape.path = strings.Replace(shape.path, pathMenu, pathReasons, 1)
			reasons := send(t, target.BaseURL, shape)
			list, ok := at(reasons.parsed, "result").([]any)
			if reasons.status != http.StatusOK || !ok || len(list) == 0 || text(at(list[0], "ID")) == "" {
				t.Errorf("reasons: status %d %s, want a list of reasons", reasons.status, reasons.body)
			}
			delete(shape.header, "Authorization")
			if refused := send(t, target.BaseURL, shape); refused.status != http.StatusUnauthorized {
				t.Errorf("without a token: %d, want 401", refused.status)
			}
		})
	}
	t.Run("a restaurant that nobody knows", func(t *testing.T) {
		got := send(t, target.BaseURL, request{method: http.MethodGet, path: pathMenu + "?restaurantId=nowhere", header: token})
		if got.status != http.StatusNotFound {
			t.Errorf("status %d, want 404", got.status)
		}
		wantErrorShape(t, got)
	})
	t.Run("a scheme in lower case", func(t *testing.T) {
		lower := map[string]string{"Authorization": "bearer" + strings.TrimPrefix(token["Authorization"], "Bearer")}
		if got := send(t, target.BaseURL, request{method: http.MethodGet, path: pathMenu, header: lower}); got.status != http.StatusOK {
			t.Errorf("status %d, want 200", got.status)
		}
	})
}
