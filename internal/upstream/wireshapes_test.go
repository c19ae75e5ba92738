package upstream_test

import (
	"errors"
	"net/http/httptest"
	"testing"
	"time"

	"larder.local/internal/sandbox"
	"larder.local/internal/testkit/wireshapes"
	"larder.local/internal/upstream"
)

// Every known shape of a service's response is decoded correctly, and its body is kept
// unchanged.
func TestWireShapesOfResponses(t *testing.T) {
	t.Parallel()
	box := sandbox.New(sandbox.Config{})
	box.SetMenu(sandbox.DefaultMenu, wireshapes.Menu())
	server := httptest.NewServer(box.Handler())
	t.Cleanup(server.Close)
	cfg := config(server.URL)
	cfg.ClientID, cfg.ClientSecret = "demo", "demo-secret"
	client := connect(t, cfg)
	order := []byte(`{"expeditionType":"pickup","expectedAt":"` + time.Now().Add(time.Hour).Format(time.RFC3339) +
		`","paymentTypeID":"cash","dishList":[{"ID":"1001001","quantity":1}]}`)
	wireshapes.RunAnswers(t, server.URL, func(t *testing.T, operation, orderID string) wireshapes.Outcome {
		t.Helper()
		var (
			created upstream.Answer
			answer  upstream.Answer
			err     error
		)
		switch upstream.Operation(operation) {
		case upstream.OpCreate:
			created, err = client.CreateOrder(t.Context(), order)
			answer = upstream.Answer{Status: created.Status, ContentType: created.ContentType, Body: created.Body}
		case upstream.OpPay:
			answer, err = client.Pay(t.Context(), orderID, []byte(`[]`))
		case upstream.OpComplete:
			answer, err = client.Complete(t.Context(), orderID)
		default:
			answer, err = client.Reject(t.Context(), orderID, []byte(`{}`))
		}
		var refused *upstream.Error
		if errors.As(err, &refused) {
			answer = upstream.Answer{Status: refused.Status, ContentType: refused.ContentType, Body: refused.Body}
			if refused.Effect != upstream.EffectNone && refused.Effect != upstream.EffectRefused {
				t.Errorf("%s = %v: effect %s, want none or refused", operation, err, refused.Effect)
			}
		}
		return wireshapes.Outcome{
			Answer:  wireshapes.Answer{Status: answer.Status, ContentType: answer.ContentType, Body: string(answer.Body)},
			OrderID: created.OrderID, Refused: refused != nil && refused.Effect == upstream.EffectRefused,
		}
	})
}
