package storefront_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"

	"larder.local/httpapi/storefront"
	"larder.local/internal/testkit/apitest"
)

// elementsOf returns the attributes of the elements with a name, and fails if any element has one that runs a script.
func elementsOf(t *testing.T, page []byte, name string) (all []map[string]string) {
	t.Helper()
	reader := xml.NewDecoder(bytes.NewReader(page))
	reader.Strict, reader.AutoClose, reader.Entity = false, xml.HTMLAutoClose, xml.HTMLEntity
	for {
		token, err := reader.Token()
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatalf("%v in\n%s", err, page)
		}
		element, ok := token.(xml.StartElement)
		if !ok {
			continue
		}
		attributes := map[string]string{}
		for _, a := range element.Attr {
			attributes[a.Name.Local] = a.Value
			if strings.HasPrefix(a.Name.Local, "on") || a.Name.Local == "style" || a.Name.Local == "srcset" {
				t.Errorf("<%s> has the attribute %s=%q", element.Name.Local, a.Name.Local, a.Value)
			}
		}
		if element.Name.Local == name {
			all = append(all, attributes)
		}
	}
}

// No address of a picture in a menu becomes an attribute that runs a script, or one that the rules of pictures forbid: in
// <img>, og:image and JSON-LD (policy H13). The table is that of SafePicture.
func TestHostilePicturesOnThePage_H13(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../web/testdata/logic/src/pictures.json")
	if err != nil {
		t.Fatal(err)
	}
	var table []struct {
		Address string
		Shown   bool
	}
	if err := json.Unmarshal(text, &table); err != nil || len(table) < 50 {
		t.Fatal(len(table), err)
	}
	for _, large := range []string{"https://img.example/", "data:image/png;base64,", "javascript:"} {
		table = append(table, struct {
			Address string
			Shown   bool
		}{large + strings.Repeat("a", 100<<10), strings.HasPrefix(large, "https")})
	}
	k := apitest.New(t, func(p *apitest.Plan) {
		p.Unsynced = true
		p.HTTP.Page = storefront.Config{Enabled: true, Currency: "EUR"}
		p.HTTP.Hosts = []string{"shop.example"}
	})
	for i, c := range table {
		quoted, _ := json.Marshal(c.Address)
		k.Service.Menus[apitest.Bistro] = fmt.Sprintf(`{"result":{"name":"Menu","categories":[{"ID":"c","name":"C"}],"products":[
			{"ID":"d","externalId":"1","categoryId":"c","name":"Dish %d","description":"","price":4.5,"imageUrls":[%s]}]}}`, i, quoted)
		k.SyncOnce(apitest.Bistro)
		page := k.Get("/?restaurant="+apitest.Bistro, "Accept-Encoding", "identity").Is(t, http.StatusOK).Body
		if !bytes.Contains(page, fmt.Appendf(nil, "Dish %d<", i)) {
			t.Fatalf("%.80q: the menu is not on the page", c.Address)
		}
		want, shared := "", ""
		if c.Shown {
			want = c.Address
		}
		switch {
		case strings.HasPrefix(strings.ToLower(want), "https:"):
			shared = want
		case strings.HasPrefix(want, "/"):
			shared = "https://shop.example" + want
		}
		got := map[string]string{"<img>": "", "og:image": "", "JSON-LD": ""}
		for _, img := range elementsOf(t, page, "img") {
			got["<img>"] += img["src"]
			if len(img) != 6 || img["alt"] != "" {
				t.Errorf("%.80q: <img> has the attributes %.200q", c.Address, fmt.Sprint(img))
			}
		}
		for _, meta := range elementsOf(t, page, "meta") {
			if meta["property"] == "og:image" {
				got["og:image"] += meta["content"]
			}
		}
		var data struct{ Image string }
		if err := json.Unmarshal(dataBlock.FindSubmatch(page)[1], &data); err != nil {
			t.Fatal(err)
		}
		got["JSON-LD"] = data.Image
		for place, want := range map[string]string{"<img>": want, "og:image": shared, "JSON-LD": shared} {
			if plain(got[place]) != plain(want) {
				t.Errorf("%.80q: %s has %.200q, want %.200q", c.Address, place, got[place], want)
			}
		}
	}
}

// With image_origins, og:image and JSON-LD have the first picture of these origins, not that of another dish (policy H13).
func TestSharedPictureOfConfiguredOrigins_H13(t *testing.T) {
	t.Parallel()
	k := apitest.New(t, func(p *apitest.Plan) {
		p.Unsynced = true
		p.HTTP.Page = storefront.Config{Enabled: true, Currency: "EUR", ImageOrigins: []string{"https://img.example"}}
	})
	k.Service.Menus[apitest.Bistro] = `{"result":{"name":"Menu","categories":[{"ID":"c","name":"C"}],"products":[
		{"ID":"a","externalId":"1","categoryId":"c","name":"A","price":4.5,"imageUrls":["https://evil.example/a.png"]},
		{"ID":"b","externalId":"2","categoryId":"c","name":"B","price":4.5,"imageUrls":["https://img.example/b.png"]}]}}`
	k.SyncOnce(apitest.Bistro)
	page := k.Get("/?restaurant="+apitest.Bistro, "Accept-Encoding", "identity").Is(t, http.StatusOK).Body
	var data struct{ Image string }
	if err := json.Unmarshal(dataBlock.FindSubmatch(page)[1], &data); err != nil || data.Image != "https://img.example/b.png" {
		t.Errorf("JSON-LD has %q (%v)", data.Image, err)
	}
	if !bytes.Contains(page, []byte(`<meta property="og:image" content="https://img.example/b.png">`)) {
		t.Error("og:image is not the picture of img.example")
	}
}

// plain returns an address without percent signs, which templates add to unusual characters.
func plain(address string) string {
	if text, err := url.PathUnescape(address); err == nil {
		return text
	}
	return address
}
