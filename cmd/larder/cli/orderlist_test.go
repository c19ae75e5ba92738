package cli

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"larder.local/internal/testkit/clitest"
)

const someOrder = `{"ref":"` + ref + `","orderID":"765","restaurant":"one","connection":"main","client":"storefront","state":"placed","paid":false,
 "total":640,"menuVersion":42,"createdAt":"2026-05-01T12:00:00.000Z","updatedAt":"2026-05-01T12:00:01.000Z","expectedAt":"2026-05-01T13:00:00.000Z",
 "attempts":[{"operation":"create","try":1,"at":"2026-05-01T12:00:00.000Z","ms":12,"status":201,"outcome":"done","code":null,"by":null},
             {"operation":"pay","try":1,"at":"2026-05-01T12:10:00.000Z","ms":2000,"status":500,"outcome":"unknown","code":"oops","by":null}],"payments":[]}`

func TestOrderList(t *testing.T) {
	t.Parallel()
	var asked string
	base := clitest.Daemon(t, map[string]http.HandlerFunc{"GET /v1/ops/orders": func(w http.ResponseWriter, r *http.Request) {
		asked = r.URL.RawQuery
		clitest.Says(200, `{"result":[`+someOrder+`],"next":"abc"}`)(w, r)
	}})
	got := larder(t, clitest.AsOps(base, "order", "list", "--state", "placed", "--connection", "second", "--limit", "7")...)
	if got.Status != StatusDone || asked != "connection=second&limit=7&state=placed" {
		t.Fatalf("order list: %+v after asking %q", got, asked)
	}
	for _, part := range []string{"REF", ref, "765", "placed, pay unknown", "640", "one", "storefront", "there are more"} {
		if !strings.Contains(got.Out, part) {
			t.Errorf("no %q in\n%s", part, got.Out)
		}
	}
	got = larder(t, clitest.AsOps(base, "order", "list", "--json")...)
	if list := clitest.FromJSON[struct{ Result []OrderRecord }](t, got.Out); len(list.Result) != 1 || list.Result[0].Ref != ref {
		t.Errorf("order list --json: %s", got.Out)
	}
	none := clitest.Daemon(t, map[string]http.HandlerFunc{"GET /v1/ops/orders": clitest.Says(200, `{"result":[],"next":null}`)})
	if got := larder(t, clitest.AsOps(none, "order", "list")...); got.Out != "no orders\n" {
		t.Errorf("an empty journal: %+v", got)
	}
}

func TestOrderShow(t *testing.T) {
	t.Parallel()
	base := clitest.Daemon(t, map[string]http.HandlerFunc{
		"GET /v1/ops/orders/" + ref: clitest.Says(200, `{"result":`+someOrder+`}`),
		"GET /v1/orders/765":        clitest.Says(200, `{"result":`+someOrder+`}`),
		"GET /v1/orders/766":        clitest.Says(404, `{"status":404,"code":"order_not_found","msg":"there is no such order"}`),
		"GET /v1/orders/768": func(w http.ResponseWriter, r *http.Request) {
			if r.URL.RawQuery != "connection=second" {
				clitest.Says(400, `{"status":400,"code":"order_ambiguous","msg":"several connections have this order"}`)(w, r)
				return
			}
			clitest.Says(200, `{"result":`+someOrder+`}`)(w, r)
		},
		"GET /v1/orders/767": clitest.Says(403, `{"status":403,"code":"forbidden","msg":"the token does not have the scope orders"}`),
	})
	for _, id := range []string{ref, "765"} {
		got := larder(t, clitest.AsOps(base, "order", "show", id)...)
		for _, part := range []string{"order 765, ref " + ref + ": placed, pay unknown\n", "client storefront", "  pay  unknown  500  oops\n", "  create  done  201\n"} {
			if got.Status != StatusDone || !strings.Contains(got.Out, part) {
				t.Errorf("order show %s: %+v, want %q", id, got, part)
			}
		}
	}
	if got := larder(t, clitest.AsOps(base, "order", "show", "768", "--connection", "second")...); got.Status != StatusDone || !strings.Contains(got.Out, "ref "+ref) {
		t.Errorf("an order of one of several connections: %+v", got)
	}
	if got := larder(t, clitest.AsOps(base, "order", "show", "766")...); got.Status != StatusFailed || !strings.Contains(got.Err, "there is no such order") {
		t.Errorf("an order that is not there: %+v", got)
	}
	if got := larder(t, clitest.AsOps(base, "order", "show", "767")...); got.Status != StatusFailed || !strings.Contains(got.Err, "to find it by REF (larder order list), the scope ops is enough") {
		t.Errorf("by orderID without the scope: %+v", got)
	}
}

// The output has what an operator needs for a call: the phone number, the order, and
// the command to resolve it. Text of a guest cannot control the terminal.
func TestOrderShowOfAnUnknownOutcome(t *testing.T) {
	t.Parallel()
	base := clitest.Daemon(t, map[string]http.HandlerFunc{"GET /v1/ops/orders/" + ref: clitest.Says(200, `{"result":{"ref":"`+ref+`","orderID":null,"restaurant":"one","restaurantName":"Bistro","restaurantPhone":"+351 22 000","restaurantAddress":"Rua\u0007 1",
	 "connection":"main","client":"storefront","state":"unknown","expectedAt":"2026-01-02T03:04:05.000Z","attempts":[],"calls":[
	 {"number":1,"operation":"create","outcome":"not_sent","settled":{"by":"ops","at":null,"outcome":"send_again","note":"not there"},"contradicted":"done","foundOrderID":"1007",
	  "sent":{"expeditionType":"delivery","paymentTypeID":"card","guest":{"phone":"+35120000000","firstName":"A\u001b[2Jna"},"address":{"fullAddress":"Porto"},
	  "dishList":[{"name":"Latte","quantity":2,"ingredients":[{"name":"Oat drink","quantity":1},{"name":"Sugar","quantity":2}]},{"name":"Soup","quantity":0.5}]}},
	 {"number":2,"operation":"create","outcome":"unknown","sent":null,"answer":{"status":500,"code":"POS_STOP","msg":"Latte\u0007 is stopped"}},
	 {"number":3,"operation":"pay","outcome":"unknown","answer":{"status":504,"code":"GATEWAY","msg":null}},
	 {"number":4,"operation":"complete","outcome":"refused","settled":{"by":"ops","at":null,"outcome":"send_again","note":null}},
	 {"number":5,"operation":"complete","outcome":"unknown","answer":{"status":500,"code":"pos_close_order","msg":"closed"}}]}}`)})
	got := larder(t, clitest.AsOps(base, "order", "show", ref)...)
	for _, part := range []string{
		"restaurant Bistro (one), connection main",
		"\n  call +351 22 000, Rua\\a 1\n",
		"  delivery, card, A\\x1b[2Jna, +35120000000, Porto\n    2 × Latte (Oat drink, 2 × Sugar)\n    0.5 × Soup\n",
		"create was resolved as send_again by ops: not there\n", "create: a later response contradicts this: done, with the order number 1007. Ask",
		"It is not known whether the order took effect.", "larder order resolve " + ref + " --operation create --call 2 --outcome done --order-id ORDERID\n",
		"The ordering service answered 500 POS_STOP: Latte\\a is stopped\nIf this code always means that it refused, add this to the connection and restart larder:\n" +
			"  refusal_codes: [\"POS_STOP\"]\n",
		"The ordering service answered 504 GATEWAY: no message\n",
		"Its expected time 2026-01-02T03:04:05.000Z has passed: send_again sends it with this time\nThe ordering service answered 500 POS_STOP",
		"The ordering service answered the second copy with 500 pos_close_order: closed. Look whether the first one took effect\n",
		"It is not known whether the payment took effect.", "larder order resolve " + ref + " --operation pay --call 3 --outcome not_done\n",
	} {
		if got.Status != StatusDone || !strings.Contains(got.Out, part) {
			t.Errorf("order show: %+v, want %q", got, part)
		}
	}
	if strings.Contains(got.Out, `["GATEWAY"]`) || strings.Contains(got.Out, `["pos_close_order"]`) { // policy O8b
		t.Errorf("order show: a 504 is never a refusal, nor is a response to a second copy: %s", got.Out)
	}
}

func TestOrderResolve(t *testing.T) {
	t.Parallel()
	var sent []byte
	base := clitest.Daemon(t, map[string]http.HandlerFunc{"POST /v1/ops/orders/" + ref + "/resolve": func(w http.ResponseWriter, r *http.Request) {
		sent, _ = io.ReadAll(r.Body)
		clitest.Says(200, `{"result":`+someOrder+`}`)(w, r)
	}})
	got := larder(t, clitest.AsOps(base, "order", "resolve", ref, "--outcome", "done", "--order-id", "765", "--note", "asked the kitchen")...)
	var body map[string]string
	if err := json.Unmarshal(sent, &body); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"operation": "create", "outcome": "done", "orderID": "765", "note": "asked the kitchen"}
	if got.Status != StatusDone || !strings.Contains(got.Out, "order 765") || mustJSON(t, body) != mustJSON(t, want) {
		t.Errorf("order resolve: %+v after sending %s", got, sent)
	}
	for name, args := range map[string][]string{
		"--outcome is required: done, not_done, send_again":                                                        {},
		"--call is required with send_again: the number of the call that you have asked about (larder order show)": {"--outcome", "send_again"},
		`--outcome: unknown outcome "maybe"`:                                                                       {"--outcome", "maybe"},
		"--operation:":                                                                                             {"--outcome", "done", "--operation", "cook"},
		"--order-id is required: pass the order id of the ordering service, or --operation":                        {"--outcome", "done"},
		"--order-id is allowed only with --outcome done":                                                           {"--outcome", "not_done", "--order-id", "765"},
	} {
		if got := larder(t, clitest.AsOps(base, append([]string{"order", "resolve", ref}, args...)...)...); got.Status != StatusUsage || !strings.Contains(got.Err, name) {
			t.Errorf("order resolve %v: %+v, want 2 and %q", args, got, name)
		}
	}
	for _, args := range [][]string{{"order", "list", "--state", "eaten"}, {"order", "list", "--limit", "0"}} {
		if got := larder(t, clitest.AsOps(base, args...)...); got.Status != StatusUsage {
			t.Errorf("%v: %+v, want 2", args, got)
		}
	}
}

// The list of unknown orders has what is needed to ask about each of them.
func TestOrderListOfUnknownOutcomes(t *testing.T) {
	t.Parallel()
	unknown := strings.Replace(someOrder, `"payments":[]`, `"payments":[],"restaurantName":"Bistro","unknown":{"operation":"pay","status":500,"code":"POS_DOWN",
 "msg":"no till","restaurantPhone":"+351 22 000","guestPhone":"+7900\u001b[2J"}`, 1)
	base := clitest.Daemon(t, map[string]http.HandlerFunc{"GET /v1/ops/orders": clitest.Says(200, `{"result":[`+unknown+`],"next":null}`)})
	got := larder(t, clitest.AsOps(base, "order", "list", "--state", "unknown")...)
	for _, part := range []string{"GUEST PHONE", ref, "765", "pay unknown", "500 POS_DOWN", "one", "+351 22 000", `+7900\x1b[2J`} {
		if got.Status != StatusDone || !strings.Contains(got.Out, part) {
			t.Errorf("no %q in %+v", part, got)
		}
	}
}

func TestOrderResolveSeveral(t *testing.T) {
	t.Parallel()
	var sent []byte
	base := clitest.Daemon(t, map[string]http.HandlerFunc{"POST /v1/ops/orders/resolve": func(w http.ResponseWriter, r *http.Request) {
		sent, _ = io.ReadAll(r.Body)
		clitest.Says(200, `{"result":[{"ref":"A","resolved":true,"state":"refused","code":null,"msg":null},
 {"ref":"B","resolved":false,"state":null,"code":"order_state","msg":"there is nothing to resolve"}]}`)(w, r)
	}})
	resolve := func(args ...string) clitest.Outcome {
		return larder(t, clitest.AsOps(base, append([]string{"order", "resolve", "A", "B"}, args...)...)...)
	}
	got := resolve("--outcome", "not_done", "--note", "all asked")
	if want := "A: resolved, the order is refused\nB: skipped: there is nothing to resolve\n"; got.Status != StatusFailed || got.Out != want {
		t.Errorf("order resolve: %+v, want 1 and\n%s", got, want)
	}
	if want := `{"note":"all asked","operation":"create","outcome":"not_done","refs":["A","B"]}`; string(sent) != want {
		t.Errorf("sent %s, want %s", sent, want)
	}
	if got := resolve("--outcome", "not_done", "--json"); got.Status != StatusFailed || !strings.Contains(got.Out, "order_state") {
		t.Errorf("--json: %+v", got)
	}
	for _, args := range [][]string{{"--outcome", "done", "--order-id", "7"}, {"--outcome", "send_again"}, {"--outcome", "send_again", "--operation", "pay"}} {
		if got := resolve(args...); got.Status != StatusUsage || !strings.Contains(got.Err, "resolve the others one by one") {
			t.Errorf("order resolve A B %v: %+v, want 2", args, got)
		}
	}
	if got := larder(t, clitest.AsOps(base, "order", "resolve", "--outcome", "not_done")...); got.Status != StatusUsage {
		t.Errorf("order resolve without a REF: %+v, want 2", got)
	}
}

// The scopes orders and ops may be served at different addresses, to different
// clients: the command uses both.
func TestOrderShowByOrderIDWhereOpsHaveAListener(t *testing.T) {
	t.Parallel()
	adopted := strings.Replace(someOrder, `"paid":false`, `"paid":false,"adopted":true`, 1)
	public := clitest.Daemon(t, map[string]http.HandlerFunc{"GET /v1/orders/765": clitest.Says(200, `{"result":`+someOrder+`}`)})
	ops := clitest.Daemon(t, map[string]http.HandlerFunc{"GET /v1/ops/orders/" + ref: clitest.Says(200, `{"result":`+adopted+`}`)})
	file := clitest.WriteFile(t, "larder.yaml", `
http: {listen: "`+strings.TrimPrefix(public, "http://")+`", ops_listen: "`+strings.TrimPrefix(ops, "http://")+`"}
auth: {clients: [{id: shop, secret: of-the-storefront, scopes: [orders]}, {id: ops, secret: of-the-operators, scopes: [ops]}]}
`)
	got := larder(t, "order", "show", "765", "--config", file)
	if got.Status != StatusDone || !strings.Contains(got.Out, "order 765, ref "+ref+": placed, adopted, pay unknown\n") {
		t.Errorf("order show: %+v", got)
	}
}

func TestOrderAcceptRestore(t *testing.T) {
	t.Parallel()
	var asked string
	accepted := "true"
	base := clitest.Daemon(t, map[string]http.HandlerFunc{"POST /v1/ops/journal/accept": func(w http.ResponseWriter, r *http.Request) {
		asked = r.URL.RawQuery
		clitest.Says(200, `{"result":{"connection":"north","accepted":`+accepted+`}}`)(w, r)
	}})
	got := larder(t, clitest.AsOps(base, "order", "accept-restore", "--connection", "north")...)
	if got.Status != StatusDone || got.Out != "accepted: orders of north are no longer paused\n" || asked != "connection=north" {
		t.Errorf("order accept-restore: %+v after asking %q", got, asked)
	}
	got = larder(t, clitest.AsOps(base, "order", "accept-restore", "--json")...)
	if got.Status != StatusDone || !strings.Contains(got.Out, `"accepted":true`) && !strings.Contains(got.Out, `"accepted": true`) || asked != "" {
		t.Errorf("order accept-restore --json: %+v after asking %q", got, asked)
	}
	accepted = "false"
	got = larder(t, clitest.AsOps(base, "order", "accept-restore")...)
	if got.Status != StatusDone || got.Out != "nothing to accept: orders of north are not paused\n" {
		t.Errorf("order accept-restore of nothing: %+v", got)
	}
}
