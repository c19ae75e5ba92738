package httpapi_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"larder/internal/testkit/redistest"
)

func TestPublishedMenu(t *testing.T) {
	t.Parallel()
	tw := newCompatFixture(t)
	path := viewPath + "?restaurantId=bistro"
	got := tw.get(path, tw.shop...).is(t, http.StatusOK)
	want := `{"result":` + strings.Replace(publishedMenu(), `"Dinner"`, `"bistro"`, 1) + `}`
	if diff := cmp.Diff(meaning(t, []byte(want)), meaning(t, got.body)); diff != "" {
		t.Errorf("what the service published (-) and what larder answers (+):\n%s", diff)
	}
	for name, value := range map[string]string{
		"Cache-Control": "private, no-cache", "Larder-Menu-Version": "1", "Content-Type": "application/json; charset=utf-8",
	} {
		if got.header.Get(name) != value {
			t.Errorf("%s: %q, want %q", name, got.header.Get(name), value)
		}
	}
	vary := strings.Join(got.header["Vary"], ", ")
	if !strings.Contains(vary, "Authorization") || !strings.Contains(vary, "Accept-Encoding") {
		t.Errorf("Vary %q", vary)
	}
	etag, modified := got.header.Get("ETag"), got.header.Get("Last-Modified")
	if !strings.HasPrefix(etag, `W/"1-`) || etag == tw.get("/v1/restaurants/bistro/menu", tw.shop...).header.Get("ETag") {
		t.Errorf("ETag %q", etag)
	}
	if _, err := http.ParseTime(modified); err != nil {
		t.Errorf("Last-Modified %q: %v", modified, err)
	}
	for _, condition := range [][]string{{"If-None-Match", etag}, {"If-None-Match", `"x", ` + etag}, {"If-Modified-Since", modified}} {
		again := tw.get(path, append(condition, tw.shop...)...).is(t, http.StatusNotModified)
		if len(again.body) != 0 || again.header.Get("ETag") != etag || again.header.Get("Cache-Control") != "private, no-cache" {
			t.Errorf("%v: %q %v", condition, again.body, again.header)
		}
	}
	tw.get(path, append([]string{"If-None-Match", `"1"`, "If-Modified-Since", modified}, tw.shop...)...).is(t, http.StatusOK)
	head := tw.do(http.MethodHead, path, "", tw.shop...).is(t, http.StatusOK)
	if len(head.body) != 0 || head.header.Get("Content-Length") != got.header.Get("Content-Length") || head.header.Get("ETag") != etag {
		t.Errorf("HEAD: %q %v", head.body, head.header)
	}
	tw.do(http.MethodHead, causesPath+"/", "", tw.shop...).is(t, http.StatusOK)
	packed := tw.get(path, append([]string{"Accept-Encoding", "gzip"}, tw.shop...)...).is(t, http.StatusOK)
	reader, err := gzip.NewReader(bytes.NewReader(packed.body))
	if err != nil || packed.header.Get("Content-Encoding") != "gzip" {
		t.Fatalf("gzip: %v %v", packed.header, err)
	}
	if plain, err := io.ReadAll(reader); err != nil || !bytes.Equal(plain, got.body) {
		t.Errorf("gzip holds another body: %v", err)
	}

	// After a dish is stopped, the response changes, without any field that the ordering service
	// did not send.
	stopped := strings.Replace(strings.Replace(publishedMenu(), `"Dinner"`, `"bistro"`, 1), `"name": "Twin A",`, `"name": "Twin A", "isContainInStopList": ["bistro", "elsewhere"],`, 1)
	do(t, http.MethodPut, tw.behind.base+"/sandbox/menus/bistro", stopped).is(t, http.StatusOK)
	tw.syncOnce(bistro)
	now := tw.get(path, append([]string{"If-None-Match", etag}, tw.shop...)...).is(t, http.StatusOK)
	if diff := cmp.Diff(meaning(t, []byte(`{"result":`+stopped+`}`)), meaning(t, now.body)); diff != "" {
		t.Errorf("after the stop (-want +got):\n%s", diff)
	}
}

// The last menu is still served while the ordering service is unreachable.
func TestPublishedMenuWhileTheServiceIsAway(t *testing.T) {
	t.Parallel()
	tw := newCompatFixture(t)
	before := tw.get(viewPath, tw.shop...).is(t, http.StatusOK)
	tw.behind.faults(`[{"match":{"path":"*"},"do":"reset_before"}]`)
	if after := tw.get(viewPath, tw.shop...).is(t, http.StatusOK); !bytes.Equal(before.body, after.body) {
		t.Error("another menu")
	}
	tw.ahead(time.Minute)
	tw.get(causesPath, tw.shop...).is(t, http.StatusOK)
}

// A new version is visible, but Redis failed before its published view was loaded: the last one is served.
func TestPublishedMenuOfANewVersionWithoutRedis(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	tw := newCompatFixture(t, func(p *plan) { p.redis.URL = server.URL() })
	path := viewPath + "?restaurantId=bistro"
	if err := tw.replica.Poll(t.Context()); err != nil {
		t.Fatal(err)
	}
	before := tw.get(path, tw.shop...).is(t, http.StatusOK)
	changed := strings.Replace(strings.Replace(publishedMenu(), `"Dinner"`, `"bistro"`, 1), `"name": "Twin A",`, `"name": "Twin C",`, 1)
	do(t, http.MethodPut, tw.behind.base+"/sandbox/menus/bistro", changed).is(t, http.StatusOK)
	tw.syncOnce(bistro)
	server.Stop()
	if got := tw.get("/v1/restaurants/bistro/menu", tw.shop...).is(t, http.StatusOK).header.Get("Larder-Menu-Version"); got != "2" {
		t.Fatalf("the menu has version %s, want 2", got)
	}
	for range 2 { // the second one is cached
		got := tw.get(path, tw.shop...).is(t, http.StatusOK)
		if !bytes.Equal(got.body, before.body) {
			t.Errorf("other bytes than those of version 1")
		}
		for _, name := range []string{"ETag", "Last-Modified", "Larder-Menu-Version"} {
			if got.header.Get(name) != before.header.Get(name) {
				t.Errorf("%s: %q, want %q", name, got.header.Get(name), before.header.Get(name))
			}
		}
	}
	tw.get(path, append([]string{"If-None-Match", before.header.Get("ETag")}, tw.shop...)...).is(t, http.StatusNotModified)
}
