package httpapi_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"larder/httpapi"
	"larder/internal/sandbox"
	"larder/internal/testkit/wireshapes"
	"larder/internal/upstream"
	"larder/ordering"
	menusync "larder/sync"
)

// newShapes is an instance with the restaurant and the default menu of the tables of shapes.
func newShapes(t *testing.T, changes ...func(*plan)) *compatFixture {
	t.Helper()
	tw := &compatFixture{behind: newSandboxService(t, "main", bistro)}
	for _, restaurant := range []string{wireshapes.Restaurant, sandbox.DefaultMenu} {
		do(t, http.MethodPut, tw.behind.base+"/sandbox/menus/"+restaurant, string(wireshapes.Menu())).is(t, http.StatusOK)
	}
	tw.fixture = newFixture(t, append([]func(*plan){func(p *plan) {
		p.cfg.Rate, p.unsynced = httpapi.RateConfig{}, true
		p.services = map[string]ordering.Service{"main": tw.behind}
		p.runner = func(deps *menusync.Deps) {
			deps.Connections[0].Source = tw.behind.Client
			deps.Restaurants[1].ID = wireshapes.Restaurant
		}
	}}, changes...)...)
	tw.syncOnce(wireshapes.Restaurant)
	tw.syncOnce("@main")
	tw.keepReasons()
	tw.shop = tw.as(clientShop)
	return tw
}

// The shapes that public clients send to such ordering services are accepted, and arrive at the
// ordering service in the interface's format.
func TestWireShapes(t *testing.T) {
	t.Parallel()
	tw := newShapes(t)
	wireshapes.Run(t, wireshapes.Target{
		BaseURL:      tw.url,
		AuthURL:      tw.url,
		ClientID:     clientShop,
		ClientSecret: secretOf(clientShop),
		Sent: func(t *testing.T, orderID string) []byte {
			t.Helper()
			var sent struct{ Body json.RawMessage }
			do(t, http.MethodGet, tw.behind.base+"/sandbox/orders/"+orderID, "").is(t, http.StatusOK).into(t, &sent)
			return sent.Body
		},
	})
}

// Responses of such ordering services are passed through unchanged.
func TestWireShapesOfResponses(t *testing.T) {
	t.Parallel()
	tw := newShapes(t)
	body := strings.NewReplacer(`"e1"`, `"1001001"`, `"price": 199.9, `, "").Replace(posOrder())
	body = body[:strings.Index(body, `"name": "Margherita", `)] + `"quantity": 1}]}`
	wireshapes.RunAnswers(t, tw.behind.base, func(t *testing.T, operation, orderID string) wireshapes.Outcome {
		t.Helper()
		method, path, sent := http.MethodPut, createPath+"/"+orderID+"/"+operation, ""
		switch upstream.Operation(operation) {
		case upstream.OpCreate:
			method, path, sent = http.MethodPost, createPath, body
		case upstream.OpPay:
			sent = payment
		case upstream.OpReject:
			sent = reject
		default: // a completion has no body
		}
		got := tw.do(method, path, sent, tw.shop...)
		out := wireshapes.Outcome{
			Answer:  wireshapes.Answer{Status: got.status, ContentType: got.header.Get("Content-Type"), Body: string(got.body)},
			Refused: got.status >= http.StatusMultipleChoices,
		}
		if ref := got.header.Get("Larder-Order-Ref"); method == http.MethodPost && !out.Refused {
			record, err := tw.journal.Record(t.Context(), []string{"main"}, ref)
			if err != nil {
				t.Fatal(err)
			}
			out.OrderID = record.OrderID
		}
		return out
	})
}
