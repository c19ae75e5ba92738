package compat_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"larder.local/httpapi"
	"larder.local/internal/sandbox"
	"larder.local/internal/testkit/apitest"
	"larder.local/internal/testkit/wireshapes"
	"larder.local/internal/upstream"
	"larder.local/ordering"
	menusync "larder.local/sync"
)

// newShapes is an instance with the restaurant and the default menu of the tables of shapes.
func newShapes(t *testing.T, changes ...func(*apitest.Plan)) *apitest.CompatFixture {
	t.Helper()
	tw := &apitest.CompatFixture{Behind: apitest.NewSandbox(t, "main", apitest.Bistro)}
	for _, restaurant := range []string{wireshapes.Restaurant, sandbox.DefaultMenu} {
		apitest.Do(t, http.MethodPut, tw.Behind.Base+"/sandbox/menus/"+restaurant, string(wireshapes.Menu())).Is(t, http.StatusOK)
	}
	tw.Fixture = apitest.New(t, append([]func(*apitest.Plan){func(p *apitest.Plan) {
		p.HTTP.Rate, p.Unsynced = httpapi.RateConfig{}, true
		p.Services = map[string]ordering.Service{"main": tw.Behind}
		p.Sync = func(deps *menusync.Deps) {
			deps.Connections[0].Source = tw.Behind.Client
			deps.Restaurants[1].ID = wireshapes.Restaurant
		}
	}}, changes...)...)
	tw.SyncOnce(wireshapes.Restaurant)
	tw.SyncOnce("@main")
	tw.KeepReasons()
	tw.Shop = tw.As(apitest.ClientShop)
	return tw
}

// The shapes that public clients send to such ordering services are accepted, and arrive at the
// ordering service in the interface's format.
func TestWireShapes(t *testing.T) {
	t.Parallel()
	tw := newShapes(t)
	wireshapes.Run(t, wireshapes.Target{
		BaseURL:      tw.URL,
		AuthURL:      tw.URL,
		ClientID:     apitest.ClientShop,
		ClientSecret: apitest.Secret(apitest.ClientShop),
		Sent: func(t *testing.T, orderID string) []byte {
			t.Helper()
			var sent struct{ Body json.RawMessage }
			apitest.Do(t, http.MethodGet, tw.Behind.Base+"/sandbox/orders/"+orderID, "").Is(t, http.StatusOK).Into(t, &sent)
			return sent.Body
		},
	})
}

// Responses of such ordering services are passed through unchanged.
func TestWireShapesOfResponses(t *testing.T) {
	t.Parallel()
	tw := newShapes(t)
	body := strings.NewReplacer(`"e1"`, `"1001001"`, `"price": 199.9, `, "").Replace(apitest.POSOrder())
	body = body[:strings.Index(body, `"name": "Margherita", `)] + `"quantity": 1}]}`
	wireshapes.RunAnswers(t, tw.Behind.Base, func(t *testing.T, operation, orderID string) wireshapes.Outcome {
		t.Helper()
		method, path, sent := http.MethodPut, apitest.CreatePath+"/"+orderID+"/"+operation, ""
		switch upstream.Operation(operation) {
		case upstream.OpCreate:
			method, path, sent = http.MethodPost, apitest.CreatePath, body
		case upstream.OpPay:
			sent = apitest.Payment
		case upstream.OpReject:
			sent = apitest.Reject
		default: // a completion has no body
		}
		got := tw.Do(method, path, sent, tw.Shop...)
		out := wireshapes.Outcome{
			Answer:  wireshapes.Answer{Status: got.Status, ContentType: got.Header.Get("Content-Type"), Body: string(got.Body)},
			Refused: got.Status >= http.StatusMultipleChoices,
		}
		if ref := got.Header.Get("Larder-Order-Ref"); method == http.MethodPost && !out.Refused {
			record, err := tw.Journal.Record(t.Context(), []string{"main"}, ref)
			if err != nil {
				t.Fatal(err)
			}
			out.OrderID = record.OrderID
		}
		return out
	})
}
