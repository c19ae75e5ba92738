package wireshapes

import (
	"net/http"
	"strings"
	"testing"
)

// changeShape is a change of an order. In body, TIME, REASON and WHY are
// placeholders for a time, and for the ids of a reason of type simple and of type
// text.
type changeShape struct {
	operation string // pay, complete, reject
	body      string
	header    map[string]string
	suffix    string // after the path
}

// payment is the interface's own body of a pay call.
const payment = `[{"code":"9c0f4b1e-0000-4000-8000-000000000001","amount":9999.00,"paidAt":"TIME","name":""}]`

func changeShapes() map[string]changeShape {
	asJSON := map[string]string{"Content-Type": "application/json"}
	return map[string]changeShape{
		"a payment in the interface's words": {"pay", payment, asJSON, ""},
		"a payment, Pascal case":             {"pay", `[{"Code":"c","Amount":9999,"PaidAt":"TIME","Name":""}]`, asJSON, ""},
		"a payment, amount as text":          {"pay", strings.Replace(payment, "9999.00", `"9999.00"`, 1), asJSON, ""},
		"a payment without a name":           {"pay", strings.Replace(payment, `,"name":""`, "", 1), asJSON, ""},
		"a payment with a null name":         {"pay", strings.Replace(payment, `""`, "null", 1), asJSON, ""},
		"a payment with more fields": {
			"pay", strings.Replace(payment, `"name"`, `"rrn":"1","fiscal":{"a":null},"name"`, 1), asJSON, "",
		},
		"two payments": {
			"pay",
			`[{"code":"a","amount":5000,"paidAt":"TIME","name":"A"},{"code":"b","amount":4999.5,"paidAt":"TIME","name":""}]`,
			asJSON, "",
		},
		"a payment, no content type":    {"pay", payment, nil, ""},
		"a payment, a slash at the end": {"pay", payment, asJSON, "/"},

		"a completion":                     {"complete", "", nil, ""},
		"a completion with a content type": {"complete", "", asJSON, ""},
		"a completion with {}":             {"complete", "{}", asJSON, ""},
		"a completion with null":           {"complete", "null", asJSON, ""},
		"a completion with no JSON":        {"complete", "a=b", map[string]string{"Content-Type": "application/x-www-form-urlencoded"}, ""},
		"a completion, a slash at the end": {"complete", "", nil, "/"},

		"a rejection in the interface's words": {"reject", `{"rejectionReasonID":"REASON","rejectionReasonText":""}`, asJSON, ""},
		"a rejection, camel case":              {"reject", `{"rejectionReasonId":"REASON","rejectionReasonText":""}`, asJSON, ""},
		"a rejection, text null":               {"reject", `{"rejectionReasonID":"REASON","rejectionReasonText":null}`, asJSON, ""},
		"a rejection without a text":           {"reject", `{"rejectionReasonID":"REASON"}`, asJSON, ""},
		"a rejection in own words": {
			"reject", `{"rejectionReasonID":"WHY","rejectionReasonText":"closed early, простите 🙏"}`, asJSON, "",
		},
		"a rejection, restaurant in the body": {
			"reject", `{"rejectionReasonID":"REASON","rejectionReasonText":"","restaurantID":"` + Restaurant + `"}`, asJSON,
			"",
		},
		"a rejection, restaurant in query": {
			"reject", `{"rejectionReasonID":"REASON","rejectionReasonText":""}`, asJSON, "?restaurantId=" + Restaurant,
		},
		"a rejection, a slash at the end": {"reject", `{"rejectionReasonID":"REASON","rejectionReasonText":""}`, asJSON, "/"},
	}
}

// reasonsOf returns the ids of a reason of type simple and of type text.
func reasonsOf(t *testing.T, target Target, token map[string]string) (simple, free string) {
	t.Helper()
	got := send(t, target.BaseURL, request{method: http.MethodGet, path: pathReasons, header: token})
	list, _ := at(got.parsed, "result").([]any)
	for _, reason := range list {
		switch id := text(at(reason, "ID")); at(reason, "type") {
		case "simple":
			simple = id
		case "text":
			free = id
		}
	}
	if simple == "" || free == "" {
		t.Fatalf("reasons: %d %s, want one of each type", got.status, got.body)
	}
	return simple, free
}

func runChanges(t *testing.T, target Target) {
	t.Helper()
	token := login(t, target)
	simple, free := reasonsOf(t, target, token)
	for name, shape := range changeShapes() {
		t.Run(name, func(t *testing.T) {
			placed := orderShape{body: pickup(water)}.place(t, target, token)
			id := text(at(placed.parsed, "result", "orderID"))
			if id == "" {
				t.Fatalf("no order to change: %d %s", placed.status, placed.body)
			}
			put := func(s changeShape) reply {
				t.Helper()
				return send(t, target.BaseURL, request{
					method: http.MethodPut,
					path:   pathOrders + "/" + id + "/" + s.operation + s.suffix,
					body:   strings.NewReplacer("REASON", simple, "WHY", free).Replace(fill(s.body)),
					header: with(token, s.header),
				})
			}
			if shape.operation == "complete" {
				if early := put(shape); early.status != http.StatusInternalServerError ||
					text(at(early.parsed, "code")) != "pos_close_order" {
					t.Errorf("closing what is not paid: %d %s, want 500 pos_close_order", early.status, early.body)
				}
				put(changeShape{"pay", payment, nil, ""})
			}
			got := put(shape)
			if _, ok := at(got.parsed, "result").(map[string]any); got.status != http.StatusOK || !ok {
				t.Errorf("status %d %s, want 200 with a result", got.status, got.body)
			}
		})
	}
}
