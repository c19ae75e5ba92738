package orders_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"larder.local/internal/testkit/apitest"
	"larder.local/internal/testkit/redistest"
)

// Details is a record with its calls.
type opsOrder struct {
	Ref, State                         string
	OrderID                            *string
	RestaurantName                     *string
	RestaurantPhone, RestaurantAddress *string
	Attempts                           []attempt
	Calls                              []struct {
		Number                                int
		Operation, Outcome, Client, RequestID string
		StartedAt, EndedAt, Contradicted      *string
		FoundOrderID                          *string
		Answer                                *struct {
			Status               int
			Code, Msg, RequestID *string
		}
		Resolved *struct {
			By, Outcome string
			At, Note    *string
		} `json:"settled"`
		Sent json.RawMessage
	}
}

func opsOrderOf(k *apitest.OrderFixture, ref string) opsOrder {
	k.T.Helper()
	var one opsOrder
	k.Get("/v1/ops/orders/"+ref, k.Ops...).Is(k.T, http.StatusOK).Into(k.T, &one)
	return one
}

func TestOpsListOrders(t *testing.T) {
	t.Parallel()
	k := apitest.NewOrders(t)
	list := func(query string) (refs []string, next *string) {
		t.Helper()
		got := k.Get("/v1/ops/orders"+query, k.Ops...).Is(t, http.StatusOK)
		var page struct {
			Result []shown
			Next   *string
		}
		if err := json.Unmarshal(got.Body, &page); err != nil {
			t.Fatal(err)
		}
		if got.Header.Get("Cache-Control") != "no-store" || page.Result == nil {
			t.Errorf("%s: %v %s", query, got.Header, got.Body)
		}
		for _, one := range page.Result {
			refs = append(refs, one.Ref)
		}
		return refs, page.Next
	}
	if refs, next := list(""); len(refs) != 0 || next != nil {
		t.Errorf("before any order: %v, %v", refs, next)
	}
	first := k.Place("1")
	second := k.LostOrder("2")
	third := k.Place("3")
	k.Main.Fault("pay", `"do":"execute_then_reset"`)
	k.Change(third.OrderID, "pay", apitest.Payment).Refused(t, http.StatusGatewayTimeout, "order_outcome_unknown")
	var fourth apitest.Placed
	k.Post("/v1/restaurants/"+apitest.North+"/orders", apitest.Order(), append(apitest.Key("k"), k.As(apitest.ClientNorth)...)...).Is(t, http.StatusCreated).Into(t, &fourth)

	for query, want := range map[string][]string{
		"":                                {fourth.Ref, third.Ref, second, first.Ref},
		"?state=placed":                   {fourth.Ref, third.Ref, first.Ref},
		"?state=unknown":                  {third.Ref, second}, // an unknown operation, even for a placed order
		"?state=closed":                   nil,
		"?connection=north":               {fourth.Ref},
		"?connection=main&state=placed":   {third.Ref, first.Ref},
		"?connection=north&state=unknown": nil,
	} {
		refs, next := list(query)
		if diff := cmp.Diff(want, refs); diff != "" || next != nil {
			t.Errorf("%s: next %v (-want +got):\n%s", query, next, diff)
		}
	}
	var all []string
	query := "?limit=1"
	for range 10 {
		refs, next := list(query)
		all = append(all, refs...)
		if next == nil {
			break
		}
		query = "?limit=1&cursor=" + *next
	}
	if want := []string{fourth.Ref, third.Ref, second, first.Ref}; !slices.Equal(all, want) {
		t.Errorf("page by page: %v, want %v", all, want)
	}
	for query, code := range map[string]string{
		"?state=lost": "invalid_parameter", "?limit=0": "invalid_parameter", "?limit=501": "invalid_parameter",
		"?cursor=%21": "invalid_parameter", "?cursor=bm9wZQ": "invalid_parameter",
	} {
		k.Get("/v1/ops/orders"+query, k.Ops...).Refused(t, http.StatusBadRequest, code)
	}
	k.Get("/v1/ops/orders?connection=west", k.Ops...).Refused(t, http.StatusNotFound, "connection_not_found")
}

// The details have everything that an operator needs to talk to the guest and the restaurant.
func TestOpsOneOrder(t *testing.T) {
	t.Parallel()
	k := apitest.NewOrders(t)
	body := strings.Replace(apitest.Order(), `"dishList"`, `"guest": {"phone": "+351200000"}, "dishList"`, 1)
	k.Main.Fault(http.MethodPost, `"do":"execute_then_status","status":500,"body":"<html>oops</html>"`)
	ref := k.Post(apitest.OrdersPath, body, append(apitest.Key("k"), k.Shop...)...).Refused(t, http.StatusGatewayTimeout, "order_outcome_unknown").Ref
	one := opsOrderOf(k, ref)
	if one.Ref != ref || one.State != "unknown" || one.OrderID != nil || len(one.Calls) != 1 || one.RestaurantName == nil {
		t.Fatalf("got %+v", one)
	}
	if one.RestaurantPhone == nil || *one.RestaurantPhone != apitest.BistroPhone || one.RestaurantAddress == nil || *one.RestaurantAddress != apitest.BistroAddress {
		t.Errorf("whom to call: phone %v, address %v", one.RestaurantPhone, one.RestaurantAddress)
	}
	call := one.Calls[0]
	if call.Number != 1 || call.Operation != "create" || call.Outcome != "unknown" || call.Client != apitest.ClientShop || call.RequestID == "" || call.StartedAt == nil || call.Resolved != nil || call.Contradicted != nil {
		t.Errorf("got %+v", call)
	}
	if call.Answer == nil || call.Answer.Status != http.StatusInternalServerError || call.Answer.Code != nil {
		t.Errorf("answer: got %+v", call.Answer)
	}
	if !strings.Contains(string(call.Sent), `"phone":"+351200000"`) || !strings.Contains(string(call.Sent), `"ID":"e1"`) {
		t.Errorf("sent: got %s", call.Sent)
	}
	orderID := k.Main.Orders()[0].OrderID
	k.Post("/v1/ops/orders/"+ref+"/resolve", `{"operation": "create", "outcome": "done", "orderID": "`+orderID+`", "note": "spoke with the kitchen"}`, k.Ops...).Is(t, http.StatusOK)
	k.Change(orderID, "pay", apitest.Payment).Is(t, http.StatusOK)
	k.Change(orderID, "complete", "").Is(t, http.StatusOK)
	one = opsOrderOf(k, ref)
	if resolution := one.Calls[0].Resolved; resolution == nil || resolution.By != apitest.ClientOps || resolution.Outcome != "done" || resolution.At == nil || resolution.Note == nil || *resolution.Note != "spoke with the kitchen" {
		t.Errorf("resolved: got %+v", resolution)
	}
	if len(one.Calls) != 3 || !strings.Contains(string(one.Calls[1].Sent), "currency-1") || string(one.Calls[2].Sent) != "null" || one.Calls[2].EndedAt == nil {
		t.Errorf("got %+v", one.Calls)
	}
	var lines []string
	for _, a := range one.Attempts {
		lines = append(lines, a.text())
	}
	want := []string{"create 1 500 unknown - -", "create - - done - ops", "pay 1 200 done - -", "complete 1 200 done - -"}
	if diff := cmp.Diff(want, lines); diff != "" {
		t.Errorf("attempts (-want +got):\n%s", diff)
	}
	k.Get("/v1/ops/orders/01ARZ3NDEKTSV4RRFFQ69G5FAV", k.Ops...).Refused(t, http.StatusNotFound, "order_not_found")
	k.Get("/v1/ops/orders/x", k.Ops...).Refused(t, http.StatusNotFound, "order_not_found")
}

func TestResolve(t *testing.T) {
	t.Parallel()
	k := apitest.NewOrders(t)
	resolve := func(ref, resolution string, headers ...string) apitest.Reply {
		t.Helper()
		return k.Post("/v1/ops/orders/"+ref+"/resolve", resolution, append(headers, k.Ops...)...)
	}
	good := k.Place("good")
	ref := k.LostOrder("lost")
	for resolution, want := range map[string][]string{
		`{}`:                   {"/operation value_not_allowed", "/outcome value_not_allowed"},
		`{"operation":"menu"}`: {"/operation value_not_allowed", "/outcome value_not_allowed"},
		`{"operation":"create","outcome":"maybe"}`:               {"/outcome value_not_allowed"},
		`{"operation":"create","outcome":"done"}`:                {"/orderID field_required"},
		`{"Operation":"create","OUTCOME":"done","orderId":null}`: {"/orderID field_required"},
		`{"operation":"create","outcome":true,"note":{}}`:        {"/outcome type_mismatch", "/note type_mismatch"},
		`{"operation":1,"outcome":"done"}`:                       {"/operation type_mismatch"},
		`{"operation":"create","outcome":"not_done","call":0}`:   {"/call value_not_allowed"},
		`{"operation":"create","outcome":"not_done","call":"a"}`: {"/call value_not_allowed"},
		`[]`: {" type_mismatch"},
		`{"operation":"create","outcome":"not_done","note":"` + strings.Repeat("ж", 1001) + `"}`: {"/note limit_exceeded"},
	} {
		broken := resolve(ref, resolution).Refused(t, http.StatusUnprocessableEntity, "validation_failed")
		var got []string
		for _, v := range broken.Errors {
			got = append(got, v.Path+" "+v.Code)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%.80s (-want +got):\n%s", resolution, diff)
		}
	}
	resolve(ref, `{"operation":"create","outcome":"not_done","notes":"?"}`).Refused(t, http.StatusBadRequest, "invalid_parameter")
	resolve(ref, `{"operation":`).Refused(t, http.StatusBadRequest, "malformed_json")
	k.Do(http.MethodPost, "/v1/ops/orders/"+ref+"/resolve", "x", k.Ops...).Refused(t, http.StatusUnsupportedMediaType, "unsupported_media_type")
	resolve("01ARZ3NDEKTSV4RRFFQ69G5FAV", `{"operation":"create","outcome":"not_done"}`).Refused(t, http.StatusNotFound, "order_not_found")
	for _, outcome := range []string{"not_done", "send_again"} {
		resolve(ref, `{"operation":"create","outcome":"`+outcome+`","orderID":"765"}`).Refused(t, http.StatusBadRequest, "invalid_parameter")
	}
	state := resolve(good.Ref, `{"operation":"create","outcome":"not_done"}`).Refused(t, http.StatusConflict, "order_state")
	if state.Errors[0].Params["state"] != "placed" || !strings.Contains(state.Msg, "the outcome of create is done") {
		t.Errorf("not unknown: %+v", state)
	}
	other := resolve(ref, `{"operation":"pay","outcome":"done"}`).Refused(t, http.StatusConflict, "order_state")
	if !strings.Contains(other.Msg, "the unknown outcome is that of create, not of pay") {
		t.Errorf("another operation is unknown: %+v", other)
	}
	taken := resolve(ref, `{"operation":"create","outcome":"done","orderID":"`+good.OrderID+`"}`).Refused(t, http.StatusConflict, "order_id_taken")
	if taken.Errors[0].Params["orderID"] != good.OrderID || taken.Errors[0].Params["ref"] != good.Ref {
		t.Errorf("taken: %+v", taken.Errors)
	}

	got := recordOf(t, resolve(ref, `{"operation":"create","outcome":"send_again","note":"they have not got it"}`))
	want := []string{"create 1 - unknown - -", "create - - not_sent - ops", "create 1 201 done - -"}
	if diff := cmp.Diff(want, got.callLines(t)); diff != "" || got.State != "placed" || got.OrderID == nil {
		t.Errorf("sent again: %+v (-want +got):\n%s", got, diff)
	}
	resolve(ref, `{"operation":"create","outcome":"not_done"}`).Refused(t, http.StatusConflict, "order_state")
	if orders := k.Main.Orders(); len(orders) != 3 || orders[0].Headers["Idempotency-Key"] != "" {
		t.Errorf("the service has %+v", orders)
	}
	found := false
	for _, entry := range k.Logs.AllEntries() {
		if entry.Data["event"] == "order.resolved" {
			found = entry.Data["ref"] == ref && entry.Data["client"] == apitest.ClientOps
			if _, noted := entry.Data["note"]; noted {
				t.Errorf("the note is in the log: %v", entry.Data)
			}
		}
	}
	if !found {
		t.Error("what was resolved has no line in the log")
	}
}

// A client sees only the journal of its own connection: orders of other connections are unknown.
func TestIsolationOfTheJournal(t *testing.T) {
	t.Parallel()
	k := apitest.NewOrders(t)
	mine := k.Place("k")
	lost := k.LostOrder("lost")
	as := k.As(apitest.ClientNorth) // orders and ops, only connection north
	unknown := func(method, path, body string) {
		t.Helper()
		got := k.Do(method, path, body, append([]string{"Content-Type", "application/json"}, as...)...).Refused(t, http.StatusNotFound, "order_not_found")
		for _, secret := range []string{mine.Ref, lost, "main", apitest.Bistro} {
			if strings.Contains(got.Msg, secret) || got.Ref != "" || got.Errors != nil {
				t.Errorf("%s %s shows others: %+v", method, path, got)
			}
		}
	}
	id := mine.OrderID
	unknown(http.MethodGet, "/v1/orders/"+id, "")
	unknown(http.MethodGet, "/v1/orders?key=k", "")
	unknown(http.MethodPut, "/v1/orders/"+id+"/pay", apitest.Payment)
	unknown(http.MethodPut, "/v1/orders/"+id+"/complete", "")
	unknown(http.MethodPut, "/v1/orders/"+id+"/reject", apitest.Reject)
	unknown(http.MethodGet, "/v1/ops/orders/"+mine.Ref, "")
	unknown(http.MethodPost, "/v1/ops/orders/"+lost+"/resolve", `{"operation":"create","outcome":"not_done"}`)
	for _, path := range []string{"/v1/orders/" + id + "?connection=main", "/v1/orders?key=k&connection=main", "/v1/ops/orders?connection=main"} {
		got := k.Get(path, as...).Refused(t, http.StatusNotFound, "connection_not_found")
		if strings.Contains(got.Msg, "main") {
			t.Errorf("%s shows others: %s", path, got.Msg)
		}
	}
	k.Put("/v1/orders/"+id+"/complete?connection=main", "", as...).Refused(t, http.StatusNotFound, "connection_not_found")
	for _, query := range []string{"", "?state=unknown", "?state=placed"} {
		var rows []shown
		if k.Get("/v1/ops/orders"+query, as...).Is(t, http.StatusOK).Into(t, &rows); len(rows) != 0 {
			t.Errorf("ops list %s: %+v", query, rows)
		}
	}
	// The same key and the same number on the other connection are another order.
	path := "/v1/restaurants/" + apitest.North + "/orders"
	var theirs apitest.Placed
	k.Post(path, apitest.Order(), append(apitest.Key("k"), as...)...).Is(t, http.StatusCreated).Into(t, &theirs)
	if theirs.OrderID != id || theirs.Ref == mine.Ref {
		t.Errorf("got %+v beside %+v", theirs, mine)
	}
	k.Put("/v1/orders/"+id+"/reject", apitest.Reject, as...).Is(t, http.StatusOK)
	if record := recordOf(t, k.Get("/v1/orders?key=k", k.Shop...)); record.Ref != mine.Ref || record.State != "placed" {
		t.Errorf("the other's rejection reached %+v", record)
	}
	// Another client of the same connection sees its orders, but cannot use its keys.
	k.Get("/v1/orders?key=k", k.Ops...).Refused(t, http.StatusNotFound, "order_not_found")
	// Without the scope, all requests are rejected.
	for _, path := range []string{"/v1/ops/orders", "/v1/ops/orders/" + mine.Ref} {
		k.Get(path, k.Shop...).Refused(t, http.StatusForbidden, "forbidden")
		k.Get(path).Refused(t, http.StatusUnauthorized, "unauthorized")
	}
	k.Post("/v1/ops/orders/"+lost+"/resolve", `{}`, k.Shop...).Refused(t, http.StatusForbidden, "forbidden")
	// Until an authorized client sends the request.
	if record := k.Get("/v1/ops/orders/"+lost, k.Ops...).Is(t, http.StatusOK); !strings.Contains(string(record.Body), `"state":"unknown"`) {
		t.Errorf("got %s", record.Body)
	}
}

// TestResolveTheCallThatWasSeen_O12: a resolution that names a call is not recorded for a later one, about which the person
// has not asked.
func TestResolveTheCallThatWasSeen_O12(t *testing.T) {
	t.Parallel()
	k := apitest.NewOrders(t)
	ref := k.LostOrder("lost")
	resolve := func(resolution string) apitest.Reply {
		return k.Post("/v1/ops/orders/"+ref+"/resolve", resolution, k.Ops...)
	}
	k.Main.Fault(http.MethodPost, `"do":"execute_then_reset"`)
	resolve(`{"operation":"create","outcome":"send_again","call":1}`).Is(t, http.StatusOK)
	resolve(`{"operation":"create","outcome":"not_done","call":1}`).Refused(t, http.StatusConflict, "order_state")
	resolve(`{"operation":"create","outcome":"not_done","call":3}`).Refused(t, http.StatusConflict, "order_state")
	if one := opsOrderOf(k, ref); one.State != "unknown" {
		t.Errorf("the order is %s, want it unknown", one.State)
	}
	resolve(`{"operation":"create","outcome":"not_done","call":2}`).Is(t, http.StatusOK)
}

// Several orders get one reason. Each is answered and audited for itself; an order that is not unknown any more is skipped.
func TestResolveSeveral_O12(t *testing.T) {
	t.Parallel()
	k := apitest.NewOrders(t)
	const path = "/v1/ops/orders/resolve"
	good, first, second := k.Place("good"), k.LostOrder("1"), k.LostOrder("2")
	k.Main.Fault("pay", `"do":"execute_then_reset"`)
	k.Change(good.OrderID, "pay", apitest.Payment).Refused(t, http.StatusGatewayTimeout, "order_outcome_unknown")

	many := strings.Repeat(`"x",`, 100) + `"x"`
	for body, want := range map[string]string{
		`{"operation":"create","outcome":"not_done"}`:                                                       "/refs field_required",
		`{"refs":[],"operation":"create","outcome":"not_done"}`:                                             "/refs field_required",
		`{"refs":"` + first + `","operation":"create","outcome":"not_done"}`:                                "/refs type_mismatch",
		`{"refs":["` + first + `",7],"operation":"create","outcome":"not_done"}`:                            "/refs/1 type_mismatch",
		`{"refs":[` + many + `],"operation":"create","outcome":"not_done"}`:                                 "/refs limit_exceeded",
		`{"refs":["` + first + `"],"operation":"create","outcome":"done"}`:                                  "/outcome value_not_allowed",
		`{"refs":["` + first + `"],"operation":"create","outcome":"send_again"}`:                            "/outcome value_not_allowed",
		`{"refs":["` + good.Ref + `"],"operation":"pay","outcome":"send_again"}`:                            "/outcome value_not_allowed",
		`{"refs":["` + good.Ref + `"],"operation":"pay","outcome":"perhaps"}`:                               "/outcome value_not_allowed",
		`{"refs":["` + first + `"],"calls":[1],"operation":"create","outcome":"not_done"}`:                  "/calls type_mismatch",
		`{"refs":["` + first + `"],"calls":{"` + first + `":0},"operation":"create","outcome":"not_done"}`:  "/calls value_not_allowed",
		`{"refs":["` + first + `"],"calls":{"` + first + `":{}},"operation":"create","outcome":"not_done"}`: "/calls value_not_allowed",
		`{"refs":["` + good.Ref + `"],"operation":"order lunch","outcome":"not_done"}`:                      "/operation value_not_allowed",
	} {
		broken := k.Post(path, body, k.Ops...).Refused(t, http.StatusUnprocessableEntity, "validation_failed")
		if len(broken.Errors) != 1 || broken.Errors[0].Path+" "+broken.Errors[0].Code != want {
			t.Errorf("%.100s: got %+v, want %s", body, broken.Errors, want)
		}
	}
	k.Post(path, `{"refs":["`+first+`"],"operation":"create","outcome":"not_done","orderID":"7"}`, k.Ops...).Refused(t, http.StatusBadRequest, "invalid_parameter")
	k.Post(path, `{"refs":["`+first+`"],"operation":"create","outcome":"not_done"}`, k.Shop...).Refused(t, http.StatusForbidden, "forbidden")
	if one := opsOrderOf(k, first); one.State != "unknown" {
		t.Fatalf("after invalid requests: %+v", one)
	}

	resolve := func(body string, as []string) (lines []string) {
		t.Helper()
		var all []struct {
			Ref              string
			Resolved         bool
			State, Code, Msg *string
		}
		k.Post(path, body, as...).Is(t, http.StatusOK).Into(t, &all)
		for _, one := range all {
			words := []string{one.Ref}
			for _, word := range []*string{one.State, one.Code} {
				if word != nil {
					words = append(words, *word)
				}
			}
			line := strings.Join(words, " ")
			if one.Resolved != (one.State != nil) || one.Resolved != (one.Msg == nil) {
				t.Errorf("got %+v", one)
			}
			lines = append(lines, line)
		}
		return lines
	}
	k.Post("/v1/ops/orders/"+second+"/resolve", `{"operation":"create","outcome":"done","orderID":"777"}`, k.Ops...).Is(t, http.StatusOK)
	refs := `{"refs":["` + strings.Join([]string{second, first, first, good.Ref, "nowhere"}, `","`) + `"],`
	got := resolve(refs+`"operation":"create","outcome":"not_done","note":"all asked"}`, k.Ops)
	want := []string{second + " order_state", first + " refused", good.Ref + " order_state", "nowhere order_not_found"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("create (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{good.Ref + " order_not_found"}, resolve(`{"refs":["`+good.Ref+`"],"operation":"pay","outcome":"done"}`, k.As(apitest.ClientNorth))); diff != "" {
		t.Errorf("an operator of another connection (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{good.Ref + " order_state"}, resolve(`{"refs":["`+good.Ref+`"],"calls":{"`+good.Ref+`":1},"operation":"pay","outcome":"done"}`, k.Ops)); diff != "" {
		t.Errorf("another call than the unknown one (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{good.Ref + " placed"}, resolve(`{"refs":["`+good.Ref+`"],"calls":{"`+good.Ref+`":2},"operation":"pay","outcome":"done"}`, k.Ops)); diff != "" {
		t.Errorf("pay (-want +got):\n%s", diff)
	}
	if note := opsOrderOf(k, first).Calls[0].Resolved; note == nil || note.Note == nil || *note.Note != "all asked" {
		t.Errorf("the note: %+v", note)
	}
	var log []struct{ Action, Ref, Detail, Client string }
	k.Get("/v1/ops/audit?action=resolve", k.Ops...).Is(t, http.StatusOK).Into(t, &log)
	var audited []string
	for _, entry := range log {
		audited = append(audited, entry.Ref+" "+entry.Detail+" "+entry.Client)
	}
	wantAudit := []string{good.Ref + " pay: done " + apitest.ClientOps, first + " create: not_done " + apitest.ClientOps, second + " create: done " + apitest.ClientOps}
	if diff := cmp.Diff(wantAudit, audited); diff != "" {
		t.Errorf("audit log (-want +got):\n%s", diff)
	}
}

// When the journal stops answering, the orders that were not resolved are named.
func TestResolveSeveralWithoutJournal(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t, redistest.AppendOnly())
	k := apitest.NewOrders(t, func(p *apitest.Plan) { p.Redis.URL = server.URL() })
	ref := k.LostOrder("1")
	server.Stop()
	got := k.Post("/v1/ops/orders/resolve", `{"refs":["`+ref+`","other"],"operation":"create","outcome":"not_done"}`, k.Ops...).Is(t, http.StatusOK)
	var all []struct{ Ref, Code string }
	got.Into(t, &all)
	if len(all) != 2 || all[0].Code != "journal_unavailable" || all[1].Code != "journal_unavailable" {
		t.Errorf("got %s", got.Body)
	}
}

// The list of unknown orders has what a person needs to ask about each: the phone numbers and the code.
func TestUnknownOrdersHavePhonesAndCode(t *testing.T) {
	t.Parallel()
	k := apitest.NewOrders(t)
	k.Place("good")
	body := strings.Replace(apitest.Order(), `"dishList"`, `"guest": {"phone": "+351200000"}, "dishList"`, 1)
	k.Main.Fault(http.MethodPost, `"do":"status","status":500,"body":"{\"code\":\"POS_DOWN\",\"msg\":\"no till\",\"requestId\":\"r\",\"errors\":null}"`)
	k.Post(apitest.OrdersPath, body, append(apitest.Key("k"), k.Shop...)...).Refused(t, http.StatusGatewayTimeout, "order_outcome_unknown")
	var list []struct {
		State   string
		Unknown *struct {
			Operation, Code, Msg, RestaurantPhone, GuestPhone string
			Status                                            int
		}
	}
	k.Get("/v1/ops/orders", k.Ops...).Is(t, http.StatusOK).Into(t, &list)
	if len(list) != 2 || list[0].Unknown == nil || list[1].Unknown != nil {
		t.Fatalf("got %+v", list)
	}
	one := *list[0].Unknown
	if one.Operation != "create" || one.Code != "POS_DOWN" || one.Msg != "no till" || one.Status != 500 || one.RestaurantPhone != apitest.BistroPhone || one.GuestPhone != "+351200000" {
		t.Errorf("got %+v", one)
	}
}
