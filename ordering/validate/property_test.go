package validate_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"larder.local/internal/menu"
	"larder.local/internal/testkit/menutest"
	"larder.local/internal/upstream"
	"larder.local/ordering/validate"
)

// refusal returns the reasons of the sandbox for refusing an order. It is empty if the
// sandbox accepted the order.
func refusal(err error) string {
	if answer, ok := errors.AsType[*upstream.Error](err); ok {
		return answer.Error() + " " + string(answer.Body)
	}
	if err != nil {
		return err.Error()
	}
	return ""
}

// Larder and the sandbox reject the same orders, if the orders are in the service's own
// format.
func TestAgreesWithTheSandbox(t *testing.T) {
	t.Parallel()
	box, client := menutest.Sandbox(t)
	cfg := validate.DefaultConfig()
	cfg.PriceDigits = 3 // as the prices of the menus: the sandbox does not know policy P4
	validator := validate.New(cfg, menutest.Noon)
	taken, refused := 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		d := menutest.DrawMenu(rt)
		view, err := json.Marshal(d)
		if err != nil {
			rt.Fatal(err)
		}
		box.SetMenu(string(menutest.Restaurant), view)
		catalogue := menutest.Compile(t, string(view), menu.DefaultSettings())
		for range 5 {
			p := rapid.SampledFrom(d.Products).Draw(rt, "dish")
			list := d.DrawIngredients(rt, p.SchemeID, 1)
			for _, entry := range list {
				entry["ID"] = fmt.Sprintf("e%v", entry["ID"])
			}
			if list == nil {
				list = []map[string]any{}
			}
			body, err := json.Marshal(map[string]any{
				"restaurantID": menutest.Restaurant, "expeditionType": "pickup", "expectedAt": "2026-05-01T15:30:00Z", "paymentTypeID": "card",
				"dishList": []any{map[string]any{"ID": p.ExternalID, "quantity": 1, "ingredients": list}},
			})
			if err != nil {
				rt.Fatal(err)
			}
			result, err := validator.Order(validate.Request{
				Restaurant: menutest.Restaurant, Catalogue: catalogue, Input: validate.Input{V1: true, Body: body},
			})
			if err != nil {
				rt.Fatal(err)
			}
			_, err = client.Write(t.Context(), upstream.WriteRequest{Operation: upstream.OpCreate, Body: body})
			if result.Valid != (err == nil) {
				rt.Fatalf("%s\non the menu %s\nlarder: %+v\nthe sandbox: %s", body, view, result.Violations, refusal(err))
			}
			if result.Valid {
				taken++
			} else {
				refused++
			}
		}
	})
	if taken == 0 || refused == 0 {
		t.Errorf("%d orders accepted, %d refused: nothing was tested", taken, refused)
	}
}
