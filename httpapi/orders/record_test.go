package orders_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"larder.local/internal/testkit/apitest"
)

// shown is an order in the format of the API.
type shown struct {
	Ref, Connection, Client, State   string
	OrderID, Restaurant              *string
	Adopted, Paid                    bool
	Total                            json.Number
	MenuVersion                      *int64
	CreatedAt, UpdatedAt, ExpectedAt *time.Time
	Attempts                         []attempt
	Payments                         []struct {
		Code   string
		Amount json.Number
		PaidAt string
	}
}

type attempt struct {
	Operation string
	Try       *int
	At        *time.Time
	MS        *int64
	Status    *int
	Outcome   string
	Code, By  *string
}

// text returns an attempt as text, without values that differ between runs.
func (a attempt) text() string {
	text := func(s *string) string {
		if s == nil {
			return "-"
		}
		return *s
	}
	number := func(n *int) string {
		if n == nil {
			return "-"
		}
		return strconv.Itoa(*n)
	}
	return strings.Join([]string{a.Operation, number(a.Try), number(a.Status), a.Outcome, text(a.Code), text(a.By)}, " ")
}

func recordOf(t *testing.T, r apitest.Reply) shown {
	t.Helper()
	var record shown
	var envelope struct{ Result json.RawMessage }
	if err := json.Unmarshal(r.Is(t, http.StatusOK).Body, &envelope); err != nil {
		t.Fatal(err)
	}
	decoder := json.NewDecoder(bytes.NewReader(envelope.Result))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&record); err != nil {
		t.Fatalf("%v in %s", err, r.Body)
	}
	if r.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("an order may be cached: %v", r.Header)
	}
	return record
}

// callLines returns the record's attempts as texts.
func (s shown) callLines(t *testing.T) []string {
	t.Helper()
	var lines []string
	for _, a := range s.Attempts {
		if a.At == nil {
			t.Errorf("an attempt has no time: %+v", a)
		}
		lines = append(lines, a.text())
	}
	return lines
}

// The record by orderID equals the record by key, and contains all attempts (policy O9).
func TestTheRecord(t *testing.T) {
	t.Parallel()
	k := apitest.NewOrders(t)
	k.Main.Faults(`[{"match":{"method":"POST","path":"/orders/api/v1/orders"},"times":1,"do":"status","status":429}]`)
	p := k.Place("k")
	k.Change(p.OrderID, "complete", "").Refused(t, http.StatusBadGateway, "upstream_refused")
	k.Change(p.OrderID, "pay", apitest.Payment).Is(t, http.StatusOK)
	got := k.Get("/v1/orders/"+p.OrderID, k.Shop...)
	record := recordOf(t, got)
	if record.Ref != p.Ref || *record.OrderID != p.OrderID || *record.Restaurant != apitest.Bistro || record.Connection != "main" || record.Client != apitest.ClientShop ||
		record.State != "placed" || !record.Paid || record.Adopted || record.Total != "210.4" || *record.MenuVersion != 1 {
		t.Errorf("got %s", got.Body)
	}
	if record.CreatedAt == nil || record.UpdatedAt.Before(*record.CreatedAt) || record.ExpectedAt == nil || !record.ExpectedAt.After(time.Now()) {
		t.Errorf("times: %s", got.Body)
	}
	if len(record.Payments) != 1 || record.Payments[0].Code != "currency-1" || record.Payments[0].Amount != "210.4" || record.Payments[0].PaidAt != "2026-11-21T12:00:00+03:00" {
		t.Errorf("payments: %s", got.Body)
	}
	want := []string{"create 1 429 not_sent - -", "create 2 201 done - -", "complete 1 500 refused pos_close_order -", "pay 1 200 done - -"}
	if diff := cmp.Diff(want, record.callLines(t)); diff != "" {
		t.Errorf("attempts (-want +got):\n%s", diff)
	}
	for _, path := range []string{"/v1/orders?key=k", "/v1/orders?key=%22k%22", "/v1/orders?key=k&connection=main", "/v1/orders/" + p.OrderID + "?connection=main"} {
		if again := k.Get(path, k.Shop...).Is(t, http.StatusOK); string(again.Body) != string(got.Body) {
			t.Errorf("%s: got %s, want %s", path, again.Body, got.Body)
		}
		if head := k.Do(http.MethodHead, path, "", k.Shop...).Is(t, http.StatusOK); len(head.Body) != 0 || head.Header.Get("Content-Length") != got.Header.Get("Content-Length") {
			t.Errorf("HEAD %s: %d bytes, %v", path, len(head.Body), head.Header)
		}
	}
	for path, code := range map[string]string{
		"/v1/orders/nobody": "order_not_found", "/v1/orders?key=nothing": "order_not_found",
		"/v1/orders/" + p.OrderID + "?connection=west": "connection_not_found",
	} {
		k.Get(path, k.Shop...).Refused(t, http.StatusNotFound, code)
	}
	for _, path := range []string{"/v1/orders", "/v1/orders?key=", "/v1/orders?key=" + strings.Repeat("k", 256)} {
		k.Get(path, k.Shop...).Refused(t, http.StatusBadRequest, "invalid_parameter")
	}
	k.Get("/v1/orders/"+p.OrderID).Refused(t, http.StatusUnauthorized, "unauthorized")
	k.Get("/v1/orders?key=k").Refused(t, http.StatusUnauthorized, "unauthorized")
	k.Get("/v1/orders/"+p.OrderID, k.As(apitest.ClientRead)...).Refused(t, http.StatusForbidden, "forbidden")
}

// An order has a record as soon as its key is reserved.
func TestTheRecordOfAnOrderOnItsWay(t *testing.T) {
	t.Parallel()
	k := apitest.NewOrders(t)
	open := k.Main.Shut()
	defer open()
	answer := k.Later(apitest.Order(), append(apitest.Key("slow"), k.Shop...)...)
	<-k.Main.Arrived
	record := recordOf(t, k.Get("/v1/orders?key=slow", k.Shop...))
	if record.State != "placing" || record.OrderID != nil || len(record.Attempts) != 0 || record.Total != "210.4" {
		t.Errorf("got %+v", record)
	}
	open()
	answer().Is(t, http.StatusCreated)
	if record := recordOf(t, k.Get("/v1/orders?key=slow", k.Shop...)); record.State != "placed" || record.OrderID == nil {
		t.Errorf("got %+v", record)
	}
}

// Two ordering services can use the same order ids: a client that sees both must select one.
func TestAnOrderIDOfTwoConnections(t *testing.T) {
	t.Parallel()
	k := apitest.NewOrders(t)
	p := k.Place("k")
	var other apitest.Placed
	k.Post("/v1/restaurants/"+apitest.North+"/orders", apitest.Order(), append(apitest.Key("k"), k.As(apitest.ClientNorth)...)...).Is(t, http.StatusCreated).Into(t, &other)
	if p.OrderID != other.OrderID {
		t.Fatalf("the services number otherwise: %s, %s", p.OrderID, other.OrderID)
	}
	path := "/v1/orders/" + p.OrderID
	got := k.Get(path, k.Ops...).Refused(t, http.StatusBadRequest, "order_ambiguous")
	if names, _ := got.Errors[0].Params["connections"].([]any); len(names) != 2 {
		t.Errorf("got %+v", got.Errors)
	}
	k.Put(path+"/pay", apitest.Payment, k.Ops...).Refused(t, http.StatusBadRequest, "order_ambiguous")
	if record := recordOf(t, k.Get(path+"?connection=north", k.Ops...)); record.Ref != other.Ref {
		t.Errorf("got %+v, want %s", record, other.Ref)
	}
	k.Put(path+"/pay?connection=north", apitest.Payment, k.Ops...).Is(t, http.StatusOK)
	if record := recordOf(t, k.Get(path, k.Shop...)); record.Ref != p.Ref || record.Paid {
		t.Errorf("got %+v, want %s, not paid", record, p.Ref)
	}
	if main, north := k.Main.Orders(), k.North.Orders(); main[0].Paid || !north[0].Paid {
		t.Errorf("the services have %+v and %+v", main, north)
	}
}

// An order that larder did not place is unknown until a change of it has passed through the
// compatible API. After that it has a record (policy O9a).
func TestAnAdoptedOrder_O9a(t *testing.T) {
	t.Parallel()
	k := apitest.NewOrders(t)
	var sent struct{ Order json.RawMessage }
	k.Post(apitest.ValidatePath, apitest.Order()).Is(t, http.StatusOK).Into(t, &sent)
	created, err := apitest.Create(t.Context(), k.Main.Client, sent.Order)
	if err != nil {
		t.Fatal(err)
	}
	path := "/v1/orders/" + created.OrderID
	k.Get(path, k.Shop...).Refused(t, http.StatusNotFound, "order_not_found")
	k.Put(path+"/pay", apitest.Payment, k.Shop...).Refused(t, http.StatusNotFound, "order_not_found")
	k.Put("/orders/api/v1/orders/"+created.OrderID+"/pay", apitest.Payment, k.Shop...).Is(t, http.StatusOK)
	record := recordOf(t, k.Get(path, k.Shop...))
	if !record.Adopted || record.Restaurant != nil || record.MenuVersion != nil || record.ExpectedAt != nil || record.Total != "" || record.State != "placed" || !record.Paid {
		t.Errorf("got %+v", record)
	}
	var got changed
	if k.Put(path+"/complete", "", k.Shop...).Is(t, http.StatusOK).Into(t, &got); got != (changed{record.Ref, created.OrderID, "closed", true}) {
		t.Errorf("got %+v", got)
	}
}
