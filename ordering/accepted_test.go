package ordering_test

import (
	"bytes"
	"encoding/json"
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"larder.local/internal/menu"
	"larder.local/internal/testkit/menutest"
	"larder.local/internal/upstream"
	"larder.local/ordering"
	"larder.local/ordering/validate"
)

// ratTotal computes the total of the sent order with fractions (policy P1).
func ratTotal(t *rapid.T, d *menutest.Draft, sent []byte) *big.Rat {
	var body struct {
		DishList []struct {
			ID          string
			Quantity    json.Number
			Ingredients []struct {
				ID       string
				Quantity json.Number
			}
		}
	}
	if err := json.Unmarshal(sent, &body); err != nil {
		t.Fatalf("%s: %v", sent, err)
	}
	rat := func(n json.Number) *big.Rat {
		r, ok := new(big.Rat).SetString(n.String())
		if !ok || strings.ContainsAny(n.String(), "eE") {
			t.Fatalf("number %s in %s", n, sent)
		}
		return r
	}
	total := new(big.Rat)
	for _, dish := range body.DishList {
		line := rat(d.Products[int(dish.ID[2]-'a')].Price)
		for _, in := range dish.Ingredients {
			line.Add(line, new(big.Rat).Mul(rat(d.Ingredients[int(in.ID[2]-'a')].Price), rat(in.Quantity)))
		}
		line.Mul(line, rat(dish.Quantity))
		hundredths := line.Mul(line, big.NewRat(100, 1))
		hundredths.Add(hundredths, big.NewRat(1, 2))
		whole := new(big.Int).Div(hundredths.Num(), hundredths.Denom())
		total.Add(total, new(big.Rat).SetFrac(whole, big.NewInt(100)))
	}
	return total
}

// TestAcceptedOrdersAreValid places random orders on random menus. The sandbox has its own
// implementation of the checks. It must accept every order that the Validator accepts, and
// compute the same total.
func TestAcceptedOrdersAreValid(t *testing.T) {
	t.Parallel()
	box, client := menutest.Sandbox(t)
	validator := validate.New(validate.DefaultConfig(), menutest.Noon)
	h := newHarness(t, ordering.DefaultConfig(), through(client))
	accepted := 0
	rapid.Check(t, func(rt *rapid.T) {
		d := menutest.DrawMenu(rt)
		view, err := json.Marshal(d)
		if err != nil {
			rt.Fatal(err)
		}
		box.SetMenu(string(menutest.Restaurant), view)
		req := validate.Request{
			Restaurant: menutest.Restaurant, Catalogue: menutest.Compile(t, string(view), menu.DefaultSettings()),
			Input: validate.Input{V1: true, FieldCase: upstream.FieldCaseDocument},
		}
		for range 5 {
			req.Body = d.DrawOrder(rt)
			order, err := validate.DecodeOrder(req.Input, nil)
			if err != nil {
				rt.Fatal(err)
			}
			result, err := validator.Check(order, req)
			if err != nil {
				rt.Fatal(err)
			}
			if !result.Valid {
				continue
			}
			accepted++
			want := ratTotal(rt, &d, result.Order)
			if got := result.Total.Decimal.Rat(); got.Cmp(want) != 0 {
				rt.Fatalf("total %s of %s; by fractions %s", got.RatString(), req.Body, want.RatString())
			}
			h.card = req.Catalogue
			placed, err := h.Place(t.Context(), placing(func(p *placeRequest) { p.Body, p.Key = req.Body, "" }))
			if answer := placed.Call.Answer; answer != nil && bytes.Contains(answer.Body, []byte("too many ways to assign")) {
				continue // the sandbox tries all assignments and gives up if there are too many
			}
			if err != nil || placed.Record.State != ordering.StatePlaced {
				rt.Fatalf("larder accepted %s\nsent %s\nfor the menu %s\nthe sandbox: %+v, %v", req.Body, result.Order, view, placed.Call.Answer, err)
			}
		}
	})
	if accepted == 0 {
		t.Error("no order was accepted: nothing was tested")
	}
	t.Logf("%d orders accepted", accepted)
}
