package ordering_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"larder.local/internal/testkit/menutest"
	"larder.local/internal/upstream"
	"larder.local/ordering"
	"larder.local/ordering/violation"
)

func someReasons() []upstream.Reason {
	return []upstream.Reason{{ID: "1", Reason: "Too late", Type: "simple"}, {ID: "2", Reason: "Other", Type: "Text"}}
}

func TestInvalidRejections_O11(t *testing.T) {
	t.Parallel()
	required := func(path, field string) []menutest.Broken {
		return []menutest.Broken{{path, violation.FieldRequired, `{"field":"` + field + `"}`}}
	}
	for _, tc := range []struct {
		name, body string
		reasons    []upstream.Reason
		want       []menutest.Broken
	}{
		{"not an object", `[]`, someReasons(), []menutest.Broken{{"", violation.TypeMismatch, `{"got":"array","want":"object"}`}}},
		{"no reason", `{}`, someReasons(), required("/rejectionReasonID", "rejectionReasonID")},
		{"an empty reason", `{"rejectionReasonId":""}`, someReasons(), required("/rejectionReasonId", "rejectionReasonID")},
		{"a reason that is not listed", `{"RejectionReasonID":"3","rejectionReasonText":"x"}`, someReasons(), []menutest.Broken{
			{"/RejectionReasonID", violation.ValueNotAllowed, `{"allowed":["1","2"]}`},
		}},
		{"a reason that needs a text", `{"rejection_reason_id":2}`, someReasons(), required("/rejectionReasonText", "rejectionReasonText")},
		{"a blank text", `{"rejectionReasonText":"  ","rejectionReasonID":"2"}`, someReasons(), required("/rejectionReasonText", "rejectionReasonText")},
		{"wrong types", `{"rejectionReasonID":{},"rejectionReasonText":1}`, someReasons(), []menutest.Broken{
			{"/rejectionReasonID", violation.TypeMismatch, `{"got":"object","want":"identifier"}`},
			{"/rejectionReasonText", violation.TypeMismatch, `{"got":"number","want":"string"}`},
		}},
		{"reasons are turned off", `{"rejectionReasonText":"y","rejectionReasonID":"1"}`, nil, []menutest.Broken{
			{"/rejectionReasonText", violation.ValueNotAllowed, `{"allowed":[""]}`},
			{"/rejectionReasonID", violation.ValueNotAllowed, `{"allowed":[""]}`},
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			h := newHarness(t, ordering.DefaultConfig())
			h.reasons = tc.reasons
			h.placed(t)
			_, err := h.Change(t.Context(), changing(upstream.OpReject, tc.body))
			if diff := cmp.Diff(tc.want, refusedFor(t, err)); diff != "" {
				t.Errorf("reject %s (-want +got):\n%s", tc.body, diff)
			}
			h.wantSent(t, 1)
		})
	}
}

func TestSentRejections_O11(t *testing.T) {
	t.Parallel()
	camel := func(c *ordering.ChangeRequest) { c.FieldCase = upstream.FieldCaseCamel }
	for _, tc := range []struct {
		name    string
		reasons []upstream.Reason
		unknown error
		change  ordering.ChangeRequest
		want    string
	}{
		{
			"a simple reason; unknown fields dropped", someReasons(), nil, changing(upstream.OpReject, `{"rejectionReasonId":1,"x":1}`),
			`{"rejectionReasonID":"1","rejectionReasonText":""}`,
		},
		{
			"with a text; unknown fields are passed on, except the restaurant", someReasons(), nil,
			changing(upstream.OpReject, `{"x":[1.50],"restaurantId":"r-1","rejectionReasonText":"Нет", "REJECTIONREASONID":"2"}`, compat),
			`{"rejectionReasonID":"2","rejectionReasonText":"Нет","x":[1.50]}`,
		},
		{"reasons are turned off", nil, nil, changing(upstream.OpReject, `{}`, camel), `{"rejectionReasonId":"","rejectionReasonText":""}`},
		{
			"reasons are not known", nil, errors.New("not known"), changing(upstream.OpReject, `{"rejectionReasonID":"77"}`),
			`{"rejectionReasonID":"77","rejectionReasonText":""}`,
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			h := newHarness(t, ordering.DefaultConfig())
			h.reasons, h.unknown = tc.reasons, tc.unknown
			h.placed(t)
			h.changed(t, ordering.OutcomeDone, tc.change)
			if sent := h.service.calls()[1]; sent.body != tc.want || sent.orderID != "765" {
				t.Errorf("sent %+v, want %s", sent, tc.want)
			}
		})
	}
	t.Run("the reasons are not available", func(t *testing.T) {
		t.Parallel()
		h := newHarness(t, ordering.DefaultConfig(), func(_ *harness, d *ordering.Deps) { d.Reasons = nil })
		h.placed(t)
		h.changed(t, ordering.OutcomeDone, changing(upstream.OpReject, `{"rejectionReasonID":"77"}`))
	})
}

// If a rejection contradicts the cached reasons, or the service refuses it, the reasons are
// refreshed. If that fails, the cached ones apply (policy S5a).
func TestRejection_RefreshesReasons_S5a(t *testing.T) {
	t.Parallel()
	none, withReason := `{"rejectionReasonID":"","rejectionReasonText":""}`, `{"rejectionReasonID":"1","rejectionReasonText":""}`
	for _, tc := range []struct {
		name           string
		cached, listed []upstream.Reason
		fails          bool
		refuses        bool // the service refuses the rejection
		body           string
		refused        bool // it is not sent
		refreshes      int
	}{
		{name: "reasons were turned off", cached: someReasons(), body: none, refreshes: 1},
		{name: "reasons were turned on", listed: someReasons(), body: withReason, refreshes: 1},
		{name: "a reason is new", cached: someReasons()[1:], listed: someReasons(), body: withReason, refreshes: 1},
		{name: "a reason that was removed", cached: someReasons(), listed: someReasons()[1:], body: withReason, refreshes: 0},
		{name: "wrong after the refresh too", cached: someReasons(), listed: someReasons(), body: none, refused: true, refreshes: 1},
		{name: "the refresh fails", cached: someReasons(), fails: true, body: none, refused: true, refreshes: 1},
		{name: "the service refuses", cached: someReasons(), refuses: true, body: withReason, refreshes: 1},
		{name: "the body cannot be read", cached: someReasons(), body: `{"rejectionReasonID":{}}`, refused: true, refreshes: 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			refreshes := 0
			h := newHarness(t, ordering.DefaultConfig(), func(h *harness, d *ordering.Deps) {
				d.RefreshReasons = func(_ context.Context, connection string) bool {
					h.mu.Lock()
					defer h.mu.Unlock()
					refreshes++
					if connection != "main" {
						t.Errorf("the reasons of the wrong connection %q are refreshed", connection)
					}
					if !tc.fails {
						h.reasons = tc.listed
					}
					return !tc.fails
				}
			})
			h.reasons = tc.cached
			h.placed(t)
			if tc.refuses {
				h.service.fails(certainRefusal(t))
			}
			result, err := h.Change(t.Context(), changing(upstream.OpReject, tc.body))
			switch {
			case tc.refused != (err != nil):
				t.Errorf("%+v, %v; want it refused: %v", result, err, tc.refused)
			case tc.refuses && result.Call.Outcome != ordering.OutcomeRefused, !tc.refuses && !tc.refused && result.Call.Outcome != ordering.OutcomeDone:
				t.Errorf("outcome %s", result.Call.Outcome)
			}
			if refreshes != tc.refreshes {
				t.Errorf("%d refreshes, want %d", refreshes, tc.refreshes)
			}
		})
	}
}
