package main

import (
	"net/http"
	"strings"
	"testing"

	"larder/internal/testkit/clitest"
)

// Two instances with different max_zero on one Redis, with an unchanged menu: each serves and validates by its own
// setting at once, and there is at most one new version for each start.
func TestSettingsApplyAtOnceOnEachInstance(t *testing.T) {
	t.Parallel()
	m, service := newMoving(t), newPOS(t, 10)
	unlimited, none := over(service), over(service)
	unlimited.schedule, none.schedule = "@every 1s", "@every 1s"
	none.ordering = "max_zero: none"
	const bread = `,"ingredients":[{"ID":"x","quantity":1}]`

	first := m.start(t, "a", unlimited)
	first.waitFor(t, 10)
	first.validate(t, bread).is(t, "with max_zero unlimited", http.StatusOK, "")
	service.answerMenus(http.StatusInternalServerError)
	second := m.start(t, "b", none)
	invalid := func(when string) {
		t.Helper()
		if got := second.validate(t, bread); !strings.Contains(got.Body, `"valid":false`) || !strings.Contains(got.Body, "group_max") {
			t.Errorf("%s: max_zero none: %s", when, got.Body)
		}
		if got := first.validate(t, bread); !strings.Contains(got.Body, `"valid":true`) {
			t.Errorf("%s: max_zero unlimited: %s", when, got.Body)
		}
	}
	invalid("without the service")
	menus := func(i *instance) string { return i.ask(t, http.MethodGet, "/v1/restaurants/r/menu", "", "").Body }
	if !strings.Contains(menus(second), `"max":0`) || strings.Contains(menus(first), `"max":0`) {
		t.Errorf("menus: %s\n%s", menus(first), menus(second))
	}

	service.answerMenus(http.StatusOK)
	clitest.Eventually(t, "the menu was checked ten times", func() bool { reads, _, _ := service.seen(); return len(reads) > 15 })
	version := m.redis.Client().HGet(t.Context(), "larder:{r:r}:current", "version").Val()
	if version != "1" && version != "2" {
		t.Errorf("version %s after two starts, want at most 2", version)
	}
	invalid("after ten checks of an unchanged menu")
	reads, _, _ := service.seen()
	clitest.Eventually(t, "the menu was checked ten times more", func() bool { more, _, _ := service.seen(); return len(more) > len(reads)+10 })
	if after := m.redis.Client().HGet(t.Context(), "larder:{r:r}:current", "version").Val(); after != version {
		t.Errorf("version %s and then %s, without a start or a change", version, after)
	}
}

// Settings of a restaurant apply at once after SIGHUP, also while the service fails.
func TestSettingsApplyAtOnceAfterSIGHUP(t *testing.T) {
	t.Parallel()
	m, service := newMoving(t), newPOS(t, 10)
	i := m.start(t, "", over(service))
	i.waitFor(t, 10)
	const bread = `,"ingredients":[{"ID":"x","quantity":1}]`
	i.validate(t, bread).is(t, "before", http.StatusOK, "")
	before := i.ask(t, http.MethodGet, "/v1/restaurants/r/menu", "", "")
	_, tag := i.menu(t, "")
	if status, _ := i.menu(t, tag); status != http.StatusNotModified {
		t.Errorf("the ETag before SIGHUP: status %d", status)
	}
	service.answerMenus(http.StatusInternalServerError)
	none := over(service)
	none.restaurant = "connection: a, ordering: {max_zero: none}"
	m.write(t, "", none)
	i.reload(t)
	if got := i.validate(t, bread); !strings.Contains(got.Body, `"valid":false`) {
		t.Errorf("right after SIGHUP: %s", got.Body)
	}
	clitest.Eventually(t, "readers get it too", func() bool {
		return strings.Contains(i.ask(t, http.MethodGet, "/v1/restaurants/r/menu", "", "").Body, `"max":0`)
	})
	if status, changed := i.menu(t, tag); status != http.StatusOK || changed == tag {
		t.Errorf("the ETag after SIGHUP: status %d, %s", status, changed)
	}
	if strings.Contains(before.Body, `"max":0`) {
		t.Errorf("before: %s", before.Body)
	}
}

// menu requests the menu with If-None-Match.
func (i *instance) menu(t *testing.T, tag string) (status int, etag string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, i.base+"/v1/restaurants/r/menu", nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("If-None-Match", tag)
	response, err := i.shop.Authorized.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	return response.StatusCode, response.Header.Get("ETag")
}
