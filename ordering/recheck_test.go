package ordering_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"larder.local/internal/menu"
	"larder.local/internal/testkit/journaltest"
	"larder.local/internal/testkit/menutest"
	"larder.local/internal/upstream"
	"larder.local/ordering"
)

// menuRefresh is a sync that publishes the menu of next, if there is one, after takes.
type menuRefresh struct {
	h       *harness
	next    string
	takes   time.Duration
	started int
	waited  time.Duration
}

func (f *menuRefresh) Start(context.Context) { f.started++ }

func (f *menuRefresh) Wait(ctx context.Context) int64 {
	began := time.Now()
	defer func() { f.waited = time.Since(began) }()
	if f.h.during != nil {
		during := f.h.during
		f.h.during = nil
		during()
	}
	timer := time.NewTimer(f.takes)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return 0
	case <-timer.C:
	}
	if f.next == "" {
		return 42
	}
	f.h.publish(43, f.next)
	return 43
}

// publish changes the menu in memory.
func (h *harness) publish(version int64, card string) {
	compiled := menu.Compile(must(menu.Decode([]byte(card))), menutest.Restaurant, menu.DefaultSettings())
	h.mu.Lock()
	defer h.mu.Unlock()
	h.version, h.card = version, compiled
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

// newRefusing returns a harness whose service refuses every order, and whose sync may be changed.
func newRefusing(t *testing.T, refused error, change ...func(*menuRefresh, *ordering.Config)) (*harness, *menuRefresh) {
	t.Helper()
	f, cfg := &menuRefresh{}, ordering.DefaultConfig()
	for _, c := range change {
		c(f, &cfg)
	}
	h := newHarness(t, cfg, func(h *harness, d *ordering.Deps) {
		f.h = h
		d.RefreshMenu = func(menu.RestaurantID) ordering.MenuRefresh { return f }
	})
	h.service.fails(refused)
	return h, f
}

var soupStopped = strings.Replace(menutest.Card, `"price":199.9,`, `"price":199.9,"isContainInStopList":["r-1"],`, 1)

// A refusal that the new menu explains frees the key. The record stays refused.
func TestRefusalIsExplainedByANewMenu(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ card, code string }{
		"stopped":         {soupStopped, "dish_unavailable"},
		"another price":   {strings.Replace(menutest.Card, "199.9", "210", 1), "price_changed"},
		"something else":  {strings.Replace(menutest.Card, `"1002"`, `"2002"`, 1), ""},
		"without the key": {soupStopped, "dish_unavailable"},
		"the client left": {soupStopped, "dish_unavailable"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h, f := newRefusing(t, certainRefusal(t))
			f.next = tc.card
			request := placing(func(p *placeRequest) {
				if name == "without the key" {
					p.Key = ""
				}
			})
			client, leave := context.WithCancel(t.Context())
			defer leave()
			if name == "the client left" {
				h.during = leave // while the order waits for the new menu
			}
			_, err := h.Place(client, request)
			invalid, ok := errors.AsType[*ordering.InvalidError](err)
			if !ok || invalid.Ref == "" || (len(invalid.Violations) == 1) != (tc.code != "") || tc.code != "" && string(invalid.Violations[0].Code) != tc.code {
				t.Fatalf("Place() = %v, %+v; want %s", err, invalid, tc.code)
			}
			if r := h.record(t, invalid.Ref); r.State != ordering.StateRefused || r.Calls[0].Outcome != ordering.OutcomeRefused || r.Calls[0].Answer.Code != "pos_close_order" {
				t.Errorf("the record is %+v", r)
			}
			h.wantSent(t, 1)
			h.service.answers(nil)
			h.publish(44, menutest.Card)
			if got := h.placed(t); got.Replayed { // the key is free
				t.Error("replayed")
			}
		})
	}
}

// Otherwise the refusal stays, as recorded.
func TestRefusalThatIsNotExplained(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*harness, *menuRefresh, *placeRequest){
		"the same menu": func(*harness, *menuRefresh, *placeRequest) {},
		"a change of other items": func(_ *harness, f *menuRefresh, _ *placeRequest) {
			f.next = strings.Replace(menutest.Card, `"price":300`, `"price":301`, 1)
		},
		"the journal does not answer": func(h *harness, f *menuRefresh, _ *placeRequest) {
			f.next = soupStopped
			h.failing(journaltest.FailBefore, journaltest.MethodEndRecheck)
		},
		"no menu any more": func(h *harness, f *menuRefresh, _ *placeRequest) {
			f.next = soupStopped
			h.during = func() {
				h.mu.Lock()
				defer h.mu.Unlock()
				h.noCard = errors.New("no menu")
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h, f := newRefusing(t, certainRefusal(t))
			request := placing()
			change(h, f, &request)
			got, err := h.Place(t.Context(), request)
			if err != nil || got.Call.Outcome != ordering.OutcomeRefused || got.Replayed || f.started != 1 {
				t.Fatalf("Place() = %+v, %v after %d starts; want it refused", got.Call, err, f.started)
			}
			if h.failing(journaltest.FailNot); name == "the journal does not answer" {
				h.pass(ordering.RecheckTime + time.Millisecond)
			}
			if again, err := h.Place(t.Context(), request); err != nil || !again.Replayed || again.Record.Ref != got.Record.Ref {
				t.Errorf("repeated: %+v, %v; want the same refusal", again, err)
			}
			h.wantSent(t, 1)
		})
	}
}

// While the order is checked again, a repeated key is in flight on every instance. The mark outlives the instance for three
// seconds, by the journal's clock; a late release fails.
func TestKeyIsInFlightDuringARecheck(t *testing.T) {
	t.Parallel()
	h, f := newRefusing(t, certainRefusal(t))
	other := newHarness(t, ordering.DefaultConfig(), func(o *harness, d *ordering.Deps) { d.Journal, d.Clock = h.journal, h.clock })
	inFlight := func(err error) bool { return is[*ordering.InFlightError](err) }
	f.next = soupStopped
	checks := 0
	h.during = func() { // the sync is in progress
		checks++
		if _, err := h.Place(t.Context(), placing()); !inFlight(err) {
			t.Errorf("here: %v, want in flight", err)
		}
		h.pass(ordering.RecheckTime)
		if _, err := other.Place(t.Context(), placing()); !inFlight(err) {
			t.Errorf("on another instance: %v, want in flight", err)
		}
		h.pass(time.Millisecond)
		if got, err := other.Place(t.Context(), placing()); err != nil || !got.Replayed || got.Call.Outcome != ordering.OutcomeRefused {
			t.Errorf("after three seconds: %+v, %v; want the refusal", got.Call, err)
		}
	}
	got, err := h.Place(t.Context(), placing())
	if err != nil || got.Call.Outcome != ordering.OutcomeRefused || checks != 1 {
		t.Errorf("Place() = %+v, %v; want the refusal, because another instance has returned it", got.Call, err)
	}
	if again, err := h.Place(t.Context(), placing()); err != nil || !again.Replayed {
		t.Errorf("repeated: %+v, %v", again, err)
	}
}

// An order waits for the sync at most two seconds, never beyond place_timeout, and not at all if no sync may start.
func TestWaitForTheMenuIsLimited(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		change func(*menuRefresh, *ordering.Config)
		answer time.Duration // of the service
		want   time.Duration
	}{
		"two seconds":   {func(f *menuRefresh, _ *ordering.Config) { f.takes = time.Minute }, time.Second, 3 * time.Second},
		"as it takes":   {func(f *menuRefresh, _ *ordering.Config) { f.takes = 300 * time.Millisecond }, 0, 300 * time.Millisecond},
		"place_timeout": {func(f *menuRefresh, c *ordering.Config) { f.takes, c.PlaceTimeout = time.Minute, 4*time.Second }, 3 * time.Second, 4 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			refused := certainRefusal(t) // with a real connection, so outside of the bubble
			synctest.Test(t, func(t *testing.T) {
				h, _ := newRefusing(t, refused, tc.change)
				h.service.answers(func(context.Context, exchange) (upstream.Answer, error) {
					time.Sleep(tc.answer)
					return upstream.Answer{}, refused
				})
				began := time.Now()
				if got, err := h.Place(t.Context(), placing()); err != nil || got.Call.Outcome != ordering.OutcomeRefused {
					t.Errorf("Place() = %+v, %v", got.Call, err)
				}
				if took := time.Since(began); took != tc.want {
					t.Errorf("it took %v, want %v", took, tc.want)
				}
			})
		})
	}
}

// Only a refused order on the v1 API waits. Other errors of the documented shape only start a sync, and other responses nothing.
func TestWhatStartsASync(t *testing.T) {
	t.Parallel()
	refused := certainRefusal(t)
	failed := func(effect upstream.Effect, code string) error {
		return &upstream.Error{Status: http.StatusInternalServerError, Effect: effect, Code: code}
	}
	for name, tc := range map[string]struct {
		err           error
		compat, waits bool
		starts        int
		outcome       ordering.Outcome
	}{
		"refused":                         {refused, false, true, 1, ordering.OutcomeRefused},
		"refused on the compatible API":   {refused, true, false, 1, ordering.OutcomeRefused},
		"unknown with the error shape":    {failed(upstream.EffectUnknown, "oops"), false, false, 1, ordering.OutcomeUnknown},
		"unknown without the error shape": {failed(upstream.EffectUnknown, ""), false, false, 0, ordering.OutcomeUnknown},
		"not sent":                        {notSent(), false, false, 0, ordering.OutcomeNotSent},
		"placed":                          {nil, false, false, 0, ordering.OutcomeDone},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h, f := newRefusing(t, tc.err)
			f.takes = time.Millisecond
			if tc.err == nil {
				h.service.answers(nil)
			}
			got, err := h.Place(t.Context(), placing(func(p *placeRequest) {
				if tc.compat {
					p.V1, p.Body = false, []byte(strings.Replace(menutest.Order(`[{"ID":"1002","quantity":1}]`), "{", `{"restaurantID":"r-1",`, 1))
				}
			}))
			if err != nil || got.Call.Outcome != tc.outcome || f.started != tc.starts || (f.waited > 0) != tc.waits {
				t.Errorf("Place() = %+v, %v; started %d, waited %v", got.Call, err, f.started, f.waited)
			}
			if got.Call.Recheck != ordering.RecheckNone && !tc.waits {
				t.Errorf("marked: %+v", got.Call)
			}
		})
	}
}

// Where no sync may start, only the menu in memory is compared: another order's sync may have published it meanwhile.
func TestRefusalWithoutASync(t *testing.T) {
	t.Parallel()
	h := newHarness(t, ordering.DefaultConfig(), func(_ *harness, d *ordering.Deps) {
		d.RefreshMenu = func(menu.RestaurantID) ordering.MenuRefresh { return nil }
	})
	refused := certainRefusal(t)
	h.service.fails(refused)
	got, err := h.Place(t.Context(), placing())
	if err != nil || got.Call.Outcome != ordering.OutcomeRefused || got.Call.Recheck != ordering.RecheckNone {
		t.Errorf("the menu in memory is the same: %+v, %v", got.Call, err)
	}
	h.service.answers(func(context.Context, exchange) (upstream.Answer, error) {
		h.publish(43, soupStopped)
		return upstream.Answer{}, refused
	})
	_, err = h.Place(t.Context(), placing(func(p *placeRequest) { p.Key = "another" }))
	if invalid, ok := errors.AsType[*ordering.InvalidError](err); !ok || invalid.Ref == "" || len(invalid.Violations) != 1 {
		t.Errorf("the menu in memory is newer: %v", err)
	}
}
