package compat_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"larder.local/internal/testkit/apitest"
	"larder.local/internal/testkit/redistest"
)

func TestPublishedMenu(t *testing.T) {
	t.Parallel()
	tw := apitest.NewCompat(t)
	path := apitest.ViewPath + "?restaurantId=bistro"
	got := tw.Get(path, tw.Shop...).Is(t, http.StatusOK)
	want := `{"result":` + strings.Replace(apitest.PublishedMenu(), `"Dinner"`, `"bistro"`, 1) + `}`
	if diff := cmp.Diff(meaning(t, []byte(want)), meaning(t, got.Body)); diff != "" {
		t.Errorf("what the service published (-) and what larder answers (+):\n%s", diff)
	}
	for name, value := range map[string]string{
		"Cache-Control": "private, no-cache", "Larder-Menu-Version": "1", "Content-Type": "application/json; charset=utf-8",
	} {
		if got.Header.Get(name) != value {
			t.Errorf("%s: %q, want %q", name, got.Header.Get(name), value)
		}
	}
	vary := strings.Join(got.Header["Vary"], ", ")
	if !strings.Contains(vary, "Authorization") || !strings.Contains(vary, "Accept-Encoding") {
		t.Errorf("Vary %q", vary)
	}
	etag, modified := got.Header.Get("ETag"), got.Header.Get("Last-Modified")
	if !strings.HasPrefix(etag, `W/"1-`) || etag == tw.Get("/v1/restaurants/bistro/menu", tw.Shop...).Header.Get("ETag") {
		t.Errorf("ETag %q", etag)
	}
	if _, err := http.ParseTime(modified); err != nil {
		t.Errorf("Last-Modified %q: %v", modified, err)
	}
	for _, condition := range [][]string{{"If-None-Match", etag}, {"If-None-Match", `"x", ` + etag}, {"If-Modified-Since", modified}} {
		again := tw.Get(path, append(condition, tw.Shop...)...).Is(t, http.StatusNotModified)
		if len(again.Body) != 0 || again.Header.Get("ETag") != etag || again.Header.Get("Cache-Control") != "private, no-cache" {
			t.Errorf("%v: %q %v", condition, again.Body, again.Header)
		}
	}
	tw.Get(path, append([]string{"If-None-Match", `"1"`, "If-Modified-Since", modified}, tw.Shop...)...).Is(t, http.StatusOK)
	head := tw.Do(http.MethodHead, path, "", tw.Shop...).Is(t, http.StatusOK)
	if len(head.Body) != 0 || head.Header.Get("Content-Length") != got.Header.Get("Content-Length") || head.Header.Get("ETag") != etag {
		t.Errorf("HEAD: %q %v", head.Body, head.Header)
	}
	tw.Do(http.MethodHead, causesPath+"/", "", tw.Shop...).Is(t, http.StatusOK)
	packed := tw.Get(path, append([]string{"Accept-Encoding", "gzip"}, tw.Shop...)...).Is(t, http.StatusOK)
	reader, err := gzip.NewReader(bytes.NewReader(packed.Body))
	if err != nil || packed.Header.Get("Content-Encoding") != "gzip" {
		t.Fatalf("gzip: %v %v", packed.Header, err)
	}
	if plain, err := io.ReadAll(reader); err != nil || !bytes.Equal(plain, got.Body) {
		t.Errorf("gzip holds another body: %v", err)
	}

	// After a dish is stopped, the response changes, without any field that the ordering service
	// did not send.
	stopped := strings.Replace(strings.Replace(apitest.PublishedMenu(), `"Dinner"`, `"bistro"`, 1), `"name": "Twin A",`, `"name": "Twin A", "isContainInStopList": ["bistro", "elsewhere"],`, 1)
	apitest.Do(t, http.MethodPut, tw.Behind.Base+"/sandbox/menus/bistro", stopped).Is(t, http.StatusOK)
	tw.SyncOnce(apitest.Bistro)
	now := tw.Get(path, append([]string{"If-None-Match", etag}, tw.Shop...)...).Is(t, http.StatusOK)
	if diff := cmp.Diff(meaning(t, []byte(`{"result":`+stopped+`}`)), meaning(t, now.Body)); diff != "" {
		t.Errorf("after the stop (-want +got):\n%s", diff)
	}
}

// The last menu is still served while the ordering service is unreachable.
func TestPublishedMenuWhileTheServiceIsAway(t *testing.T) {
	t.Parallel()
	tw := apitest.NewCompat(t)
	before := tw.Get(apitest.ViewPath, tw.Shop...).Is(t, http.StatusOK)
	tw.Behind.Faults(`[{"match":{"path":"*"},"do":"reset_before"}]`)
	if after := tw.Get(apitest.ViewPath, tw.Shop...).Is(t, http.StatusOK); !bytes.Equal(before.Body, after.Body) {
		t.Error("another menu")
	}
	tw.Ahead(time.Minute)
	tw.Get(causesPath, tw.Shop...).Is(t, http.StatusOK)
}

// A new version is visible, but Redis failed before its published view was loaded: the last one is served.
func TestPublishedMenuOfANewVersionWithoutRedis(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	tw := apitest.NewCompat(t, func(p *apitest.Plan) { p.Redis.URL = server.URL() })
	path := apitest.ViewPath + "?restaurantId=bistro"
	if err := tw.Replica.Poll(t.Context()); err != nil {
		t.Fatal(err)
	}
	before := tw.Get(path, tw.Shop...).Is(t, http.StatusOK)
	changed := strings.Replace(strings.Replace(apitest.PublishedMenu(), `"Dinner"`, `"bistro"`, 1), `"name": "Twin A",`, `"name": "Twin C",`, 1)
	apitest.Do(t, http.MethodPut, tw.Behind.Base+"/sandbox/menus/bistro", changed).Is(t, http.StatusOK)
	tw.SyncOnce(apitest.Bistro)
	server.Stop()
	if got := tw.Get("/v1/restaurants/bistro/menu", tw.Shop...).Is(t, http.StatusOK).Header.Get("Larder-Menu-Version"); got != "2" {
		t.Fatalf("the menu has version %s, want 2", got)
	}
	for range 2 { // the second one is cached
		got := tw.Get(path, tw.Shop...).Is(t, http.StatusOK)
		if !bytes.Equal(got.Body, before.Body) {
			t.Errorf("other bytes than those of version 1")
		}
		for _, name := range []string{"ETag", "Last-Modified", "Larder-Menu-Version"} {
			if got.Header.Get(name) != before.Header.Get(name) {
				t.Errorf("%s: %q, want %q", name, got.Header.Get(name), before.Header.Get(name))
			}
		}
	}
	tw.Get(path, append([]string{"If-None-Match", before.Header.Get("ETag")}, tw.Shop...)...).Is(t, http.StatusNotModified)
}
