package main

import (
	"net/http"
	"strings"
	"syscall"
	"testing"

	"larder/internal/cli"
	"larder/internal/testkit/clitest"
	"larder/internal/testkit/metrics"
)

// While the ordering service is unavailable, larder serves the last menus with their
// age. The log reports the change of state, not each attempt (policy S5).
func TestOrderingServiceOutage(t *testing.T) {
	t.Parallel()
	o := newOutage(t)
	p := o.start(t)
	base := o.serving(t, p)
	reading := o.read(t, base)
	_, before := clitest.Fetch(t, base+"/v1/restaurants/"+o.restaurants[0]+"/menu")

	o.toService.Refuse()
	n := float64(len(o.restaurants))
	failed := func(s metrics.Sample) float64 { // or waiting for the service (policy S10)
		return s.Sum("larder_sync_runs_total", `outcome="failed"`) + s.Sum("larder_sync_runs_total", `outcome="waiting"`)
	}
	// The age makes a menu stale after 3 schedules.
	// The replica learns of a failure after the run is counted.
	o.until(t, base, "every restaurant is stale, after many tries", func(s metrics.Sample) bool {
		return s.Sum("larder_restaurants", `state="stale"`) == n && failed(s) >= 4*n && s.Sum("larder_menu_age_seconds") >= 3 &&
			s.Sum("larder_restaurants_by_last_outcome", `outcome="failed"`)+s.Sum("larder_restaurants_by_last_outcome", `outcome="waiting"`) == n
	})
	if status, list := clitest.Fetch(t, base+"/v1/restaurants"); status != http.StatusOK || strings.Count(list, `"stale":true`) != len(o.restaurants) {
		t.Errorf("the restaurants' list: %d %s, want every one stale", status, list)
	}
	if _, after := clitest.Fetch(t, base+"/v1/restaurants/"+o.restaurants[0]+"/menu"); after != before {
		t.Error("the menu served is not the last good one, byte for byte")
	}
	if status, body := clitest.Fetch(t, base+"/readyz?verbose"); status != http.StatusOK || !strings.Contains(body, `"status":"degraded"`) || !strings.Contains(body, "last sync") {
		t.Errorf("readiness: %d %s, want degraded and the connection named", status, body)
	}
	// At most one line for each restaurant, the rejection reasons and the breaker,
	// although each failed at least four times.
	if said := warnings(p); said < 1 || said > 2*(len(o.restaurants)+2) {
		t.Errorf("%d warnings after %v failed syncs, want one for a change of state\n%s", said, failed(o.sample(t, base)), p.log)
	}

	o.stop(t, o.restaurants[0], true) // published after the recovery
	o.toService.Pass()
	o.until(t, base, "every restaurant is fresh", func(s metrics.Sample) bool {
		return s.Sum("larder_restaurants", `state="fresh"`) == n
	})
	o.shows(t, base, o.restaurants[0], true)
	reading.stop().whole(t, len(o.restaurants)+1)
}

// warnings returns the number of log lines with level warning and error.
func warnings(p *process) int {
	text := p.log.String()
	return strings.Count(text, `"level":"warning"`) + strings.Count(text, `"level":"error"`)
}

// An instance that starts without the ordering service serves the menus in Redis.
func TestStartWithoutTheOrderingServiceServesMenusInRedis(t *testing.T) {
	t.Parallel()
	o := newOutage(t)
	first := o.start(t)
	base := o.serving(t, first)
	bodies := map[string]string{}
	for _, restaurant := range o.restaurants {
		_, bodies[restaurant] = clitest.Fetch(t, base+"/v1/restaurants/"+restaurant+"/menu")
	}
	first.signal(t, syscall.SIGTERM)
	if status := first.status(t); status != cli.StatusDone {
		t.Fatalf("status %d\n%s", status, first.log)
	}
	o.toService.Refuse()
	before, _ := o.calls(t)

	second := o.start(t)
	base = second.url(t)
	waitReady(t, base)
	reading := o.read(t, base)
	for _, restaurant := range o.restaurants {
		if status, body := clitest.Fetch(t, base+"/v1/restaurants/"+restaurant+"/menu"); status != http.StatusOK || body != bodies[restaurant] {
			t.Errorf("%s: %d, want what was served before, byte for byte", restaurant, status)
		}
	}
	o.until(t, base, "every sync has failed or waits", func(s metrics.Sample) bool {
		return s.Sum("larder_sync_runs_total", `outcome="failed"`)+s.Sum("larder_sync_runs_total", `outcome="waiting"`) >= float64(len(o.restaurants))
	})
	if after, _ := o.calls(t); after != before {
		t.Errorf("%d calls reached an ordering service that is gone", after-before)
	}
	reading.stop().whole(t, len(o.restaurants))
}
