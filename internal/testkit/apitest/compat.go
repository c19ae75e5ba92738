package apitest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"larder.local/httpapi"
	"larder.local/internal/sandbox"
	"larder.local/ordering"
	"larder.local/ordering/violation"
	menusync "larder.local/sync"
)

// Second is a restaurant on connection main.
const Second = "second"

// PublishedMenu is the menu view of the ordering service: FullMenu with fields that larder does not
// know.
func PublishedMenu() string {
	return strings.NewReplacer(
		`{"name": "Dinner",`,
		`{"name": "Dinner", "isPossibleDelete": false, "haveChanges": null, "vendor": {"era": 3, "ratio": 1.50, "tags": ["a", "б"]},`,
		`"price": 90,`, `"price": "90.00", "allergens": ["milk"], "labels": {},`,
		`"minCount": 1, "maxCount": 2`, `"minCount": 1, "maxCount": 2, "orderNumber": 7`,
		`"name": "Chili", "price": 0`, `"name": "Chili 🌶", "price": 0, "spicy": true`,
	).Replace(FullMenu)
}

// CompatFixture is an instance in front of an ordering service, and the same ordering service
// without larder. A client must see no difference between the two.
type CompatFixture struct {
	*Fixture
	Behind, Alone *Sandbox
	Shop, Direct  []string // Authorization headers for both
}

// NewCompat returns a CompatFixture.
func NewCompat(t *testing.T, changes ...func(*Plan)) *CompatFixture {
	t.Helper()
	tw := &CompatFixture{Behind: NewSandbox(t, "main", Bistro), Alone: NewSandbox(t, "main", Bistro)}
	for _, one := range []*Sandbox{tw.Behind, tw.Alone} {
		for _, restaurant := range []string{Bistro, Second, sandbox.DefaultMenu} {
			PutMenu(t, one.Base, restaurant)
		}
	}
	all := append([]func(*Plan){func(p *Plan) {
		p.HTTP.Rate, p.Unsynced = httpapi.RateConfig{}, true
		p.Services = map[string]ordering.Service{"main": tw.Behind}
		p.Sync = func(deps *menusync.Deps) {
			deps.Connections[0].Source = tw.Behind.Client
			chain := deps.Restaurants[1]
			chain.ID = Second
			deps.Restaurants = append(deps.Restaurants, chain)
		}
	}}, changes...)
	tw.Fixture = New(t, all...)
	for _, id := range []string{Bistro, Second, "@main", North} {
		tw.SyncOnce(id)
	}
	tw.KeepReasons()
	tw.Shop = tw.As(ClientShop)
	token, err := tw.Alone.Token(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	tw.Direct = []string{"Authorization", "Bearer " + token.AccessToken}
	return tw
}

// KeepReasons stores the rejection reasons of the ordering service, as a sync does.
func (tw *CompatFixture) KeepReasons() {
	tw.T.Helper()
	reasons, err := tw.Behind.RejectionReasons(tw.T.Context())
	if err != nil {
		tw.T.Fatal(err)
	}
	list, err := json.Marshal(reasons)
	if err != nil {
		tw.T.Fatal(err)
	}
	if err := tw.Store.SaveReasons(tw.T.Context(), "main", list); err != nil {
		tw.T.Fatal(err)
	}
}

// PutMenu makes the ordering service publish a menu with the name of its restaurant.
func PutMenu(t *testing.T, base, restaurant string) {
	t.Helper()
	view := strings.Replace(PublishedMenu(), `"Dinner"`, `"`+restaurant+`"`, 1)
	Do(t, http.MethodPut, base+"/sandbox/menus/"+restaurant, view).Is(t, http.StatusOK)
}

// POSOrder is an order as a client of the ordering service sends it, with the POS's ids: one
// Margherita with garlic, 210.40.
func POSOrder() string {
	return fmt.Sprintf(`{"comment": "no bell", "persons": 2, "expeditionType": "pickup", "paymentTypeID": "card", "expectedAt": %q,
 "guest": {"phone": "+351 200 00 00 00", "firstName": "Inês"},
 "address": {"cityName": "Porto", "street": "Rua das Flores", "houseNumber": "7", "fullAddress": "Rua das Flores 7, Porto", "floor": 3},
 "dishList": [{"ID": "e1", "name": "Margherita", "price": 199.9, "quantity": 1,
  "ingredients": [{"ID": "x1", "name": "Garlic", "price": 10.50, "quantity": 1}]}]}`,
		time.Now().Add(2*time.Hour).Format(time.RFC3339))
}

// POSOrderWith returns POSOrder with one more member.
func POSOrderWith(member string) string { return strings.Replace(POSOrder(), "{", "{"+member+", ", 1) }

// CompatError is the error format of the interface (docs/ordering-service.md, section 7).
type CompatError struct {
	Code      string                 `json:"code"`
	Msg       string                 `json:"msg"`
	RequestID string                 `json:"requestId"`
	Errors    *[]violation.Violation `json:"errors"`
}

// RefusedCompat checks that the response has exactly the documented error format.
func (r Reply) RefusedCompat(t *testing.T, status int, code string) CompatError {
	t.Helper()
	var got CompatError
	decoder := json.NewDecoder(bytes.NewReader(r.Body))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&got); err != nil {
		t.Fatalf("status %d, want %d %s: not the interface's error shape: %v in %q", r.Status, status, code, err, r.Body)
	}
	if r.Status != status || got.Code != code || got.Msg == "" {
		t.Fatalf("got %d %s (%s), want %d %s", r.Status, got.Code, got.Msg, status, code)
	}
	if media := r.Header.Get("Content-Type"); media != "application/json; charset=utf-8" {
		t.Errorf("%s: Content-Type %q", code, media)
	}
	if got.RequestID == "" || got.RequestID != r.Header.Get("X-Request-Id") {
		t.Errorf("%s: requestId %q, X-Request-Id %q", code, got.RequestID, r.Header.Get("X-Request-Id"))
	}
	if !bytes.Contains(r.Body, []byte(`"errors":`)) {
		t.Errorf("%s: no errors in %s", code, r.Body)
	}
	if cc := r.Header.Get("Cache-Control"); cc != "no-store" {
		t.Errorf("%s: Cache-Control %q", code, cc)
	}
	return got
}
