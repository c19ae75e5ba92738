package storefront_test

import (
	"net/http"
	"net/url"
	"testing"

	"larder.local/internal/sandbox"
	"larder.local/internal/testkit/apitest"
)

// /?page= answers only pages that exist (policy H7). Other values redirect to one that does, so a reader cannot invent pages.
func TestPageNumbers_H7(t *testing.T) {
	t.Parallel()
	k := apitest.New(t, func(p *apitest.Plan) {
		p.Unsynced = true
		p.HTTP.Page.Enabled = true
	})
	k.Service.Menus[apitest.Bistro] = string(sandbox.Generate{Products: 300, Seed: 1}.Menu(0))
	k.SyncOnce(apitest.Bistro)
	for _, page := range []string{"1", "2", "3"} {
		k.Get("/?restaurant="+apitest.Bistro+"&page="+page).Is(t, http.StatusOK)
	}
	for page, want := range map[string]string{
		"0": "1", "-1": "1", "abc": "1", "": "1", "01": "1", "+1": "1", " 1": "1", "1.0": "1", "0x2": "1", "02": "2",
		"4": "3", "1000000000": "3", "1e9": "1", "99999999999999999999": "1",
	} {
		got := k.Get("/?restaurant="+apitest.Bistro+"&lang=ru&page="+url.QueryEscape(page)).Is(t, http.StatusFound)
		if to := got.Header.Get("Location"); to != "/?lang=ru&page="+want+"&restaurant="+apitest.Bistro || got.Header.Get("Cache-Control") != "no-store" {
			t.Errorf("page=%q redirects to %s, Cache-Control %q", page, to, got.Header.Get("Cache-Control"))
		}
	}
	for _, id := range []string{apitest.Empty, apitest.Bistro} { // one without a menu has one page
		k.Get("/?restaurant="+id+"&page=1").Is(t, http.StatusOK)
		k.Get("/?restaurant="+id+"&page=").Is(t, http.StatusFound)
	}
}
