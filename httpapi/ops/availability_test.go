package ops_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"larder.local/internal/testkit/apitest"
	"larder.local/internal/testkit/redistest"
)

const (
	pausePath  = apitest.OpsBistro + "/pause"
	busyPath   = apitest.OpsBistro + "/busy"
	snoozePath = apitest.OpsBistro + "/snooze"
)

type said struct {
	Until    *time.Time
	Note, By string
	At       time.Time
}

// restrictions are what operators have said, as routes show it.
type restrictions struct {
	Pause struct{ Delivery, Pickup *said }
	Busy  *struct {
		LeadTime string
		said
	}
	Snoozed []struct {
		ID, Name string
		said
	}
	LeadTime            struct{ Delivery, Pickup string }
	NextOpening, ReadAt *time.Time
}

func TestPauseBusyAndSnooze_O23(t *testing.T) {
	t.Parallel()
	w := apitest.New(t)
	ops := w.As(apitest.ClientOps)
	until := time.Now().Add(2 * time.Hour).UTC().Truncate(time.Second)
	zoned := until.In(time.FixedZone("", 3*60*60)).Format(time.RFC3339)
	var got, usual restrictions
	w.Do(http.MethodDelete, busyPath, "", ops...).Is(t, http.StatusOK).Into(t, &usual)
	w.Post(pausePath, fmt.Sprintf(`{"expeditionTypes":["pickup"],"until":%q,"note":" the oven "}`, zoned), ops...).Is(t, http.StatusOK).Into(t, &got)
	if p := got.Pause.Pickup; got.Pause.Delivery != nil || p == nil || !p.Until.Equal(until) || p.Note != "the oven" || p.By != apitest.ClientOps || time.Since(p.At) > time.Minute {
		t.Errorf("after the pause of pickup: %+v", got)
	}
	w.Post(pausePath, `{}`, ops...).Is(t, http.StatusOK).Into(t, &got)
	if got.Pause.Delivery == nil || got.Pause.Pickup.Until != nil || got.Pause.Pickup.Note != "" {
		t.Errorf("after a pause without an end: %+v", got)
	}
	if rows, _ := opsRows(w, "?state=paused", ops...); len(rows) != 1 || rows[0].ID != apitest.Bistro {
		t.Errorf("paused restaurants: %+v", rows)
	}
	if errors := w.Post(apitest.ValidatePath, apitest.Order()).Is(t, http.StatusOK); !strings.Contains(string(errors.Body), `"restaurant_paused"`) {
		t.Errorf("an order in the pause: %s", errors.Body)
	}
	w.Do(http.MethodDelete, pausePath, "", ops...).Is(t, http.StatusOK).Into(t, &got)
	if got.Pause.Delivery != nil || got.Pause.Pickup != nil {
		t.Errorf("after the end of the pause: %+v", got)
	}
	w.Do(http.MethodDelete, pausePath, "", ops...).Is(t, http.StatusOK) // again

	w.Post(busyPath, `{"leadTime":"1h30m","until":null}`, ops...).Is(t, http.StatusOK).Into(t, &got)
	if got.Busy == nil || got.Busy.LeadTime != "90m" || got.LeadTime.Delivery != "90m" || got.LeadTime.Pickup != "90m" {
		t.Errorf("busy: %+v", got)
	}
	var shop struct {
		Accepts struct {
			Delivery, Pickup struct {
				Now      bool
				LeadTime string
			}
		}
		Counts  struct{ Available int }
		Snoozed []struct {
			ID    string
			Until *time.Time
		}
	}
	w.Get("/v1/restaurants/bistro").Is(t, http.StatusOK).Into(t, &shop)
	before := shop.Counts.Available
	if shop.Accepts.Delivery.LeadTime != "90m" || !shop.Accepts.Pickup.Now || len(shop.Snoozed) != 0 {
		t.Errorf("a busy restaurant: %+v", shop)
	}
	w.Do(http.MethodDelete, busyPath, "", ops...).Is(t, http.StatusOK).Into(t, &got)
	if got.Busy != nil || got.LeadTime.Delivery != usual.LeadTime.Delivery || got.LeadTime.Pickup != usual.LeadTime.Pickup {
		t.Errorf("busy after its end: %+v, before it %+v", got, usual)
	}

	w.Post(snoozePath, fmt.Sprintf(`{"ids":["p1"],"until":%q,"note":"the fryer"}`, zoned), ops...).Is(t, http.StatusOK).Into(t, &got)
	if len(got.Snoozed) != 1 || got.Snoozed[0].ID != "p1" || got.Snoozed[0].Name == "" || !got.Snoozed[0].Until.Equal(until) {
		t.Errorf("snoozed: %+v", got.Snoozed)
	}
	w.Get("/v1/restaurants/bistro").Is(t, http.StatusOK).Into(t, &shop)
	if shop.Counts.Available != before-1 || len(shop.Snoozed) != 1 || !shop.Snoozed[0].Until.Equal(until) {
		t.Errorf("the restaurant with a snooze: %+v", shop)
	}
	if menu := w.Get(apitest.MenuPath+"?").Is(t, http.StatusOK); strings.Count(string(menu.Body), `"available":false`) == 0 {
		t.Error("the snoozed dish is available in the menu")
	}
	var view struct {
		Availability restrictions
		Counts       struct{ Available int }
	}
	w.Get(apitest.OpsBistro, ops...).Is(t, http.StatusOK).Into(t, &view)
	if len(view.Availability.Snoozed) != 1 || view.Counts.Available != before-1 {
		t.Errorf("the restaurant for operators: %+v", view.Availability)
	}
	w.Do(http.MethodDelete, snoozePath+"/p1", "", ops...).Is(t, http.StatusOK).Into(t, &got)
	if len(got.Snoozed) != 0 {
		t.Errorf("after waking: %+v", got.Snoozed)
	}
	var log []struct{ Action, Restaurant, Detail string }
	w.Get("/v1/ops/audit?restaurant=bistro", ops...).Is(t, http.StatusOK).Into(t, &log)
	var entries []string
	for _, one := range slices.Backward(log) {
		entries = append(entries, one.Action+" "+one.Detail)
	}
	soup, local := view.Availability.Snoozed[0].Name, until.Format("Mon 2 Jan 2006 15:04 MST")
	want := []string{
		"pause pickup until " + local + ": the oven", "pause delivery, pickup", "open delivery, pickup", "busy 90m", "busy_end ",
		"snooze " + soup + " until " + local + ": the fryer", "wake " + soup,
	}
	if !slices.Equal(entries, want) {
		t.Errorf("audit log:\n%q, want\n%q", entries, want)
	}
}

// A wrong request changes nothing, and its error says what to send.
func TestAvailabilityIsRefused_O23(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	w := apitest.New(t, func(p *apitest.Plan) { p.Redis.URL = server.URL() })
	ops := w.As(apitest.ClientOps)
	past, far := time.Now().Add(-time.Minute).Format(time.RFC3339), time.Now().AddDate(2, 0, 0).Format(time.RFC3339)
	for _, tc := range []struct{ path, body, says string }{
		{pausePath, `{"expeditionTypes":["dinein"]}`, `"dinein"; the types are delivery and pickup`},
		{pausePath, `{"expeditionTypes":"pickup"}`, "expeditionTypes has the wrong type"},
		{pausePath, `{"expeditionTypes":[7]}`, "expeditionTypes has the wrong type"},
		{pausePath, `{"until":"19:00"}`, "until must be a time with its offset"},
		{pausePath, `{"until":"next_open"}`, "until must be a time with its offset"},
		{pausePath, `{"until":"2026-12-31T19:00:00"}`, "until must be a time with its offset"},
		{pausePath, `{"until":"` + past + `"}`, "until is over"},
		{pausePath, `{"until":"` + far + `"}`, "at most a year"},
		{pausePath, `{"note":"` + strings.Repeat("ы", 201) + `"}`, "at most 200 characters"},
		{pausePath, `{"note":"a\nb"}`, "one line"},
		{pausePath, `{"leadTime":"90m"}`, "leadTime is an unknown field"},
		{pausePath, `{"forever":true}`, "forever is an unknown field"},
		{pausePath, `{"until":""}`, "until has the wrong type"},
		{pausePath, `{"note":"two\u2028lines"}`, "note must be one line"},
		{busyPath, `{}`, "leadTime must be whole minutes"},
		{busyPath, `{"leadTime":90}`, "leadTime has the wrong type"},
		{busyPath, `{"leadTime":"-5m"}`, "leadTime must be whole minutes"},
		{busyPath, `{"leadTime":"90s"}`, "leadTime must be whole minutes"},
		{busyPath, `{"leadTime":"25h"}`, "leadTime must be whole minutes"},
		{snoozePath, `{}`, "ids must have at least one id"},
		{snoozePath, `{"ids":[]}`, "ids must have at least one id"},
		{snoozePath, `{"ids":["p1","nothing"]}`, `ids has "nothing"`},
		{snoozePath, `{"ids":["p1",null]}`, "ids has the wrong type"},
	} {
		if got := w.Post(tc.path, tc.body, ops...).Refused(t, http.StatusBadRequest, "invalid_parameter"); !strings.Contains(got.Msg, tc.says) {
			t.Errorf("%s %s: %q, want %q", tc.path, tc.body, got.Msg, tc.says)
		}
	}
	w.Post(snoozePath, `{"ids":["p1"],"until":"next_open"}`, ops...).Refused(t, http.StatusUnprocessableEntity, "no_opening")
	w.Post(pausePath, `{"until":`, ops...).Refused(t, http.StatusBadRequest, "malformed_json")
	for _, path := range []string{pausePath, busyPath, snoozePath} {
		w.Post(path, `{}`, w.As(apitest.ClientShop)...).Refused(t, http.StatusForbidden, "forbidden")
		w.Post(path, `{}`, w.As(apitest.ClientNorth)...).Refused(t, http.StatusNotFound, "restaurant_not_found")
	}
	for _, path := range []string{pausePath, busyPath, snoozePath + "/p1"} {
		w.Do(http.MethodDelete, path, "", w.As(apitest.ClientNorth)...).Refused(t, http.StatusNotFound, "restaurant_not_found")
	}
	var view struct{ Availability restrictions }
	w.Get(apitest.OpsBistro, ops...).Is(t, http.StatusOK).Into(t, &view)
	if a := view.Availability; a.Pause.Pickup != nil || a.Pause.Delivery != nil || a.Busy != nil || len(a.Snoozed) != 0 {
		t.Errorf("after requests that were refused: %+v", a)
	}
	server.Stop()
	w.Post(pausePath, `{}`, ops...).Refused(t, http.StatusServiceUnavailable, "storage_unavailable")
	w.Do(http.MethodDelete, pausePath, "", ops...).Refused(t, http.StatusServiceUnavailable, "storage_unavailable")
}
