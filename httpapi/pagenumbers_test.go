package httpapi_test

import (
	"net/http"
	"net/url"
	"testing"

	"larder/internal/sandbox"
)

// /?page= answers only pages that exist (policy H7). Other values redirect to one that does, so a reader cannot invent pages.
func TestPageNumbers_H7(t *testing.T) {
	t.Parallel()
	k := newFixture(t, func(p *plan) {
		p.unsynced = true
		p.cfg.Page.Enabled = true
	})
	k.service.menus[bistro] = string(sandbox.Generate{Products: 300, Seed: 1}.Menu(0))
	k.syncOnce(bistro)
	for _, page := range []string{"1", "2", "3"} {
		k.get("/?restaurant="+bistro+"&page="+page).is(t, http.StatusOK)
	}
	for page, want := range map[string]string{
		"0": "1", "-1": "1", "abc": "1", "": "1", "01": "1", "+1": "1", " 1": "1", "1.0": "1", "0x2": "1", "02": "2",
		"4": "3", "1000000000": "3", "1e9": "1", "99999999999999999999": "1",
	} {
		got := k.get("/?restaurant="+bistro+"&lang=ru&page="+url.QueryEscape(page)).is(t, http.StatusFound)
		if to := got.header.Get("Location"); to != "/?lang=ru&page="+want+"&restaurant="+bistro || got.header.Get("Cache-Control") != "no-store" {
			t.Errorf("page=%q redirects to %s, Cache-Control %q", page, to, got.header.Get("Cache-Control"))
		}
	}
	for _, id := range []string{empty, bistro} { // one without a menu has one page
		k.get("/?restaurant="+id+"&page=1").is(t, http.StatusOK)
		k.get("/?restaurant="+id+"&page=").is(t, http.StatusFound)
	}
}
