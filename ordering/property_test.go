package ordering_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"net/http/httptest"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"larder/internal/menu"
	"larder/internal/sandbox"
	"larder/internal/upstream"
	"larder/ordering"
)

// draft is a small menu made at random, as JSON, with what an order is made of.
type draft struct {
	Products    []draftItem   `json:"products"`
	Schemes     []draftScheme `json:"ingredientsSchemes"`
	Groups      []draftGroup  `json:"ingredientsGroups"`
	Ingredients []draftItem   `json:"ingredients"`
}

type draftItem struct {
	ID         string      `json:"id"`
	ExternalID string      `json:"externalId"`
	Name       string      `json:"name"`
	Price      json.Number `json:"price"`
	SchemeID   string      `json:"schemeId,omitempty"`
	Measure    any         `json:"measure"`
}

type draftScheme struct {
	ID     string       `json:"id"`
	Groups []draftLimit `json:"ingredientsGroups"`
}

type draftLimit struct {
	ID  string `json:"id"`
	Min int    `json:"minCount"`
	Max int    `json:"maxCount"`
}

type draftGroup struct {
	ID          string   `json:"id"`
	Name        string   `json:"name"`
	Ingredients []string `json:"ingredients"`
}

func number(i int) string { return string(rune('a' + i)) }

// drawMenu: the later a scheme, the deeper it may be nested; ingredients stand
// in any number of groups.
func drawMenu(t *rapid.T) draft {
	var d draft
	price := func() json.Number {
		return json.Number(fmt.Sprintf("%d.%03d", rapid.IntRange(0, 300).Draw(t, "price"), rapid.IntRange(0, 999).Draw(t, "mils")))
	}
	const ingredients, groups, schemes, products = 6, 5, 4, 4
	for i := range ingredients {
		in := draftItem{ID: "i" + number(i), ExternalID: "ei" + number(i), Name: "I" + number(i), Price: price()}
		if i < 2 && rapid.Bool().Draw(t, "part") {
			in.SchemeID = "s" + number(2+i)
		}
		d.Ingredients = append(d.Ingredients, in)
	}
	for i := range groups {
		g := draftGroup{ID: "g" + number(i), Name: "G" + number(i)}
		for k := range ingredients {
			if rapid.IntRange(0, 2).Draw(t, "member") == 0 {
				g.Ingredients = append(g.Ingredients, "i"+number(k))
			}
		}
		d.Groups = append(d.Groups, g)
	}
	for i := range schemes {
		s := draftScheme{ID: "s" + number(i)}
		for k := range groups {
			if rapid.Bool().Draw(t, "group") {
				limit := draftLimit{ID: "g" + number(k), Min: rapid.IntRange(0, 1).Draw(t, "min")}
				if rapid.Bool().Draw(t, "limited") {
					limit.Max = limit.Min + rapid.IntRange(0, 2).Draw(t, "room")
				}
				s.Groups = append(s.Groups, limit)
			}
		}
		d.Schemes = append(d.Schemes, s)
	}
	for i := range products {
		p := draftItem{ID: "p" + number(i), ExternalID: "ep" + number(i), Name: "P" + number(i), Price: price()}
		if i > 0 {
			p.SchemeID = "s" + number(i-1)
		}
		if i%2 == 0 {
			p.Measure = map[string]any{"value": 1, "unit": "kg"}
		}
		d.Products = append(d.Products, p)
	}
	return d
}

// drawIngredients makes a list of ingredients, mostly such as the scheme takes.
func (d *draft) drawIngredients(t *rapid.T, scheme string, depth int) []map[string]any {
	var list []map[string]any
	pick := func(id string) {
		entry := map[string]any{"ID": id}
		if rapid.Bool().Draw(t, "counted") {
			entry["quantity"] = rapid.IntRange(1, 2).Draw(t, "units")
		}
		i := int(id[1] - 'a')
		if d.Ingredients[i].SchemeID != "" && depth < 1 && rapid.Bool().Draw(t, "nested") {
			entry["ingredients"] = d.drawIngredients(t, d.Ingredients[i].SchemeID, depth+1)
		}
		list = append(list, entry)
	}
	for i := range d.Schemes {
		if d.Schemes[i].ID != scheme {
			continue
		}
		for _, limit := range d.Schemes[i].Groups {
			members := d.Groups[int(limit.ID[1]-'a')].Ingredients
			for range rapid.IntRange(0, 2-depth).Draw(t, "of") {
				if len(members) > 0 {
					pick(rapid.SampledFrom(members).Draw(t, "member"))
				}
			}
		}
	}
	if rapid.IntRange(0, 5).Draw(t, "stray") == 0 {
		pick("i" + number(rapid.IntRange(0, len(d.Ingredients)-1).Draw(t, "which")))
	}
	return list
}

func (d *draft) drawOrder(t *rapid.T) []byte {
	var dishes []map[string]any
	for range rapid.IntRange(1, 3).Draw(t, "dishes") {
		p := rapid.SampledFrom(d.Products).Draw(t, "dish")
		dish := map[string]any{"ID": p.ID, "quantity": rapid.IntRange(1, 3).Draw(t, "quantity")}
		if rapid.Bool().Draw(t, "by externalId") {
			dish["ID"] = p.ExternalID
		}
		if p.Measure != nil {
			dish["quantity"] = json.Number(fmt.Sprintf("0.%03d", rapid.IntRange(1, 999).Draw(t, "grams")))
		}
		dish["ingredients"] = d.drawIngredients(t, p.SchemeID, 0)
		dishes = append(dishes, dish)
	}
	body, err := json.Marshal(map[string]any{
		"dishList": dishes, "expeditionType": rapid.SampledFrom([]string{"pickup", "delivery"}).Draw(t, "type"),
		"expectedAt": "2026-05-01T15:30:00+03:00", "paymentTypeID": "card", "guest": map[string]any{"phone": "12345"},
		"address": map[string]any{"street": "S", "cityName": "C", "houseNumber": "1"},
	})
	if err != nil {
		t.Fatal(err)
	}
	return body
}

// ratTotal reckons the total of what is sent by fractions (policy P1).
func (d *draft) ratTotal(t *rapid.T, sent []byte) *big.Rat {
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

// stand is a sandbox with the real client before it.
func stand(t *testing.T) (*sandbox.Sandbox, *upstream.Client) {
	t.Helper()
	box := sandbox.New(sandbox.Config{ClientID: "demo", ClientSecret: "demo-secret", Clock: noon})
	server := httptest.NewServer(box.Handler())
	t.Cleanup(func() {
		server.Close()
		box.Close()
	})
	return box, connect(t, server.URL)
}

// refusal returns the reasons that the sandbox refused an order for; empty when
// it took it.
func refusal(err error) string {
	if answer, ok := errors.AsType[*upstream.Error](err); ok {
		return answer.Error() + " " + string(answer.Body)
	}
	if err != nil {
		return err.Error()
	}
	return ""
}

// TestWhatIsAcceptedIsRight: random orders on random menus; the sandbox, which
// checks by a check of its own, must take every order that the Validator lets
// through, for the total that the Validator returns.
func TestWhatIsAcceptedIsRight(t *testing.T) {
	t.Parallel()
	box, client := stand(t)
	validator := ordering.NewValidator(ordering.DefaultValidatorConfig(), noon)
	h := newHarness(t, ordering.DefaultConfig(), through(client))
	accepted := 0
	rapid.Check(t, func(rt *rapid.T) {
		d := drawMenu(rt)
		view, err := json.Marshal(d)
		if err != nil {
			rt.Fatal(err)
		}
		box.SetMenu(string(restaurant), view)
		req := ordering.Request{
			Restaurant: restaurant, V1: true, Catalogue: compile(t, string(view), menu.DefaultSettings()), FieldCase: upstream.FieldCaseDocument,
		}
		for range 5 {
			req.Body = d.drawOrder(rt)
			result, err := validator.Validate(req)
			if err != nil {
				rt.Fatal(err)
			}
			if !result.Valid {
				continue
			}
			accepted++
			want := d.ratTotal(rt, result.Order)
			if got := result.Total.Decimal.Rat(); got.Cmp(want) != 0 {
				rt.Fatalf("total %s of %s; by fractions %s", got.RatString(), req.Body, want.RatString())
			}
			h.card = req.Catalogue
			placed, err := h.Place(t.Context(), placing(func(p *ordering.PlaceRequest) { p.Body, p.Key = req.Body, "" }))
			if answer := placed.Call.Answer; answer != nil && bytes.Contains(answer.Body, []byte("too many ways to assign")) {
				continue // the sandbox tries all ways, and gives up where they are too many to check
			}
			if err != nil || placed.Record.State != ordering.StatePlaced {
				rt.Fatalf("larder let through %s\nas %s\non the menu %s\nbut: %+v, %v", req.Body, result.Order, view, placed.Call.Answer, err)
			}
		}
	})
	if accepted == 0 {
		t.Error("no order was accepted: the property held of nothing")
	}
	t.Logf("%d orders accepted", accepted)
}

// TestAgreesWithTheSandbox: of orders in the service's own form, larder refuses
// those that the sandbox refuses, and no other.
func TestAgreesWithTheSandbox(t *testing.T) {
	t.Parallel()
	box, client := stand(t)
	validator := ordering.NewValidator(ordering.DefaultValidatorConfig(), noon)
	taken, refused := 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		d := drawMenu(rt)
		view, err := json.Marshal(d)
		if err != nil {
			rt.Fatal(err)
		}
		box.SetMenu(string(restaurant), view)
		catalogue := compile(t, string(view), menu.DefaultSettings())
		for range 5 {
			p := rapid.SampledFrom(d.Products).Draw(rt, "dish")
			list := d.drawIngredients(rt, p.SchemeID, 1)
			for _, entry := range list {
				entry["ID"] = fmt.Sprintf("e%v", entry["ID"])
			}
			if list == nil {
				list = []map[string]any{}
			}
			body, err := json.Marshal(map[string]any{
				"restaurantID": restaurant, "expeditionType": "pickup", "expectedAt": "2026-05-01T15:30:00Z", "paymentTypeID": "card",
				"dishList": []any{map[string]any{"ID": p.ExternalID, "quantity": 1, "ingredients": list}},
			})
			if err != nil {
				rt.Fatal(err)
			}
			result, err := validator.Validate(ordering.Request{Restaurant: restaurant, V1: true, Catalogue: catalogue, Body: body})
			if err != nil {
				rt.Fatal(err)
			}
			_, err = client.CreateOrder(t.Context(), body)
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
		t.Errorf("%d orders taken, %d refused: the property held of nothing", taken, refused)
	}
}
