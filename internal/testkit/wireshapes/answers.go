package wireshapes

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Answer is a service's answer to a call that writes.
type Answer struct {
	Status      int
	ContentType string // "" for none
	Body        string
}

// answerShape is an answer and its meaning.
type answerShape struct {
	operations []string
	answer     Answer
	orderID    string // of a created order
	refused    bool   // the service refused
}

// answerShapes returns successes of policy W13 and refusals of policies O8 and W14.
func answerShapes() map[string]answerShape {
	const plainJSON, withCharset = "application/json", "application/json; charset=utf-8"
	create, change := []string{"create"}, []string{"pay", "complete", "reject"}
	every := append(create[:1:1], change...)
	return map[string]answerShape{
		"orderID":           {create, Answer{201, withCharset, `{"result":{"orderID":"7001"}}`}, "7001", false},
		"orderId":           {create, Answer{201, plainJSON, `{"result":{"orderId":"7002"}}`}, "7002", false},
		"orderId, a number": {create, Answer{200, plainJSON, `{"result":{"orderId":7003}}`}, "7003", false},
		"orderID above 2^53": {
			create, Answer{201, plainJSON, `{"result":{"orderID":9007199254740993}}`}, "9007199254740993", false,
		},
		"Pascal case": {create, Answer{202, plainJSON, `{"Result":{"OrderId":"7004"},"Errors":null}`}, "7004", false},
		"no envelope": {create, Answer{200, plainJSON, `{"orderId":7005}`}, "7005", false},
		"more than the interface has": {
			create,
			Answer{201, plainJSON, `{"result":{"orderID":"7006","orderNumber":12,"amount":{"total":99.00}},"requestId":"r"}`},
			"7006", false,
		},
		"white space and a mark": {
			create, Answer{201, plainJSON, "\ufeff \r\n{ \"result\" : { \"orderID\" : \"7007\" } }\n"}, "7007", false,
		},
		"a type of text":   {create, Answer{201, "text/plain", `{"result":{"orderID":"7008"}}`}, "7008", false},
		"an empty result":  {change, Answer{200, withCharset, `{"result":{}}`}, "", false},
		"a null result":    {change, Answer{200, plainJSON, `{"result":null}`}, "", false},
		"a result of true": {change, Answer{200, plainJSON, `{"result":true,"code":"OK","msg":"done"}`}, "", false},
		"other JSON":       {change, Answer{200, plainJSON, `"ok"`}, "", false},
		"an empty list":    {change, Answer{202, plainJSON, `[]`}, "", false},
		"an empty body":    {change, Answer{200, "", ""}, "", false},
		"no content":       {change, Answer{204, "", ""}, "", false},
		"the error shape": {
			every,
			Answer{400, withCharset, `{"code":"ERR_EXTERNAL_ERROR_WS","msg":"недостаточно средств","requestId":"r1","errors":null}`},
			"", true,
		},
		"the error shape with errors": {
			every,
			Answer{400, plainJSON, `{"code":"validation","msg":"no","requestId":"r1","errors":{"expectedAt":["is late"]}}`},
			"", true,
		},
		"the error shape, Pascal": {every, Answer{422, plainJSON, `{"Code":12,"Msg":"no","RequestID":"r1","Errors":[]}`}, "", true},
		"an error of the POS": {
			change,
			Answer{500, plainJSON, `{"code":"ERR_EXTERNAL_ERROR_WS","msg":"недостаточно средств","requestId":"r1","errors":null}`},
			"", true,
		},
		"the error shape with 500": {
			change[1:],
			Answer{500, plainJSON, `{"code":"pos_close_order","msg":"order is not fully paid","requestId":"r1","errors":null}`},
			"", true,
		},
		"RFC 7807": {
			every, Answer{422, "application/problem+json", `{"type":"about:blank","title":"no","status":422}`}, "", true,
		},
		"a page":               {every, Answer{403, "text/html; charset=utf-8", "<html><h1>403 Forbidden</h1></html>"}, "", true},
		"nothing but a status": {every, Answer{404, "", ""}, "", true},
	}
}

// Outcome is how a caller understood an answer.
type Outcome struct {
	Answer
	// OrderID is the created order's id that the caller found.
	OrderID string
	// Refused means that the caller understood a refusal.
	Refused bool
}

// Caller makes a call with the code under test. operation is create, pay, complete
// or reject; a change is of the order orderID.
type Caller func(t *testing.T, operation, orderID string) Outcome

// RunAnswers makes the sandbox at sandboxURL give each answer of the table to one
// call, and checks how the caller understands it.
func RunAnswers(t *testing.T, sandboxURL string, call Caller) {
	t.Helper()
	for name, shape := range answerShapes() {
		for _, operation := range shape.operations {
			t.Run(name+"/"+operation, func(t *testing.T) {
				var order string
				if operation != "create" {
					order = call(t, "create", "").OrderID
				}
				shape.arrange(t, sandboxURL, operation)
				want := Outcome{Answer: shape.answer, OrderID: shape.orderID, Refused: shape.refused}
				if diff := cmp.Diff(want, call(t, operation, order)); diff != "" {
					t.Errorf("%s answered with %d %s (-want +got):\n%s", operation, shape.answer.Status, shape.answer.Body, diff)
				}
			})
		}
	}
}

// arrange makes the sandbox execute the next call of the operation and answer it in
// this shape.
func (s answerShape) arrange(t *testing.T, sandboxURL, operation string) {
	t.Helper()
	method, path := http.MethodPut, pathOrders+"/*/"+operation
	if operation == "create" {
		method, path = http.MethodPost, pathOrders
	}
	do := "execute_then_status"
	if s.refused {
		do = "status"
	}
	faults, err := json.Marshal([]map[string]any{{
		"match": map[string]string{"method": method, "path": path}, "times": 1, "do": do,
		"status": s.answer.Status, "body": s.answer.Body, "headers": map[string]string{"Content-Type": s.answer.ContentType},
	}})
	if err != nil {
		t.Fatal(err)
	}
	got := send(t, sandboxURL, request{method: http.MethodPut, path: "/sandbox/faults", body: string(faults)})
	if got.status != http.StatusOK {
		t.Fatalf("faults: %d %s", got.status, got.body)
	}
}
