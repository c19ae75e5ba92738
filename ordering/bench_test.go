package ordering_test

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	"larder/internal/menu"
	"larder/internal/sandbox"
	"larder/internal/upstream"
	"larder/ordering"
)

// BenchmarkValidate judges, prices and maps 5 lines with 5 modifiers on a
// generated menu of 5,000 dishes (goal: under 10 µs).
func BenchmarkValidate(b *testing.B) {
	g := sandbox.Generate{Restaurants: 1, Products: 5000, Seed: 1}
	v, err := menu.Decode(g.Menu(0))
	if err != nil {
		b.Fatal(err)
	}
	id := menu.RestaurantID(g.RestaurantID(0))
	catalogue := menu.Compile(v, id, menu.DefaultSettings())
	body := fiveLines(b, catalogue)
	validator := ordering.NewValidator(ordering.Config{}, noon)
	req := ordering.Request{Restaurant: id, Native: true, Version: 1, Catalogue: catalogue, Body: body, WireCase: upstream.WireDocument}
	if verdict, err := validator.Validate(req); err != nil || !verdict.Valid {
		b.Fatalf("%s: %+v, %v", body, verdict, err)
	}
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := validator.Validate(req); err != nil {
			b.Fatal(err)
		}
	}
}

// fiveLines makes an order of 5 dishes with 5 modifiers in all, of the first
// dishes that take that many.
func fiveLines(b *testing.B, c *menu.Catalogue) []byte {
	b.Helper()
	type entry map[string]any
	var dishes []entry
	modifiers := 0
	for i := range c.Products() {
		p := menu.Index(i)
		if len(dishes) == 5 {
			break
		}
		var chosen []entry
		ok := c.Orderable(p)
		if s := c.ProductScheme(p); s != menu.None {
			for _, limit := range c.Limits(s) {
				for _, m := range c.Members(limit.Group) {
					in := c.Ingredient(m)
					if limit.Min == 1 && c.IngredientAvailable(m) && c.IngredientScheme(m) == menu.None && len(c.GroupsOf(m)) == 1 {
						chosen = append(chosen, entry{"ID": in.ExternalID, "name": in.Name, "price": in.Price, "quantity": 1})
						break
					}
				}
				ok = ok && (limit.Min == 0 || (limit.Min == 1 && len(chosen) > 0))
			}
		}
		left := 5 - modifiers - len(chosen)
		if !ok || left < 0 || (len(dishes) == 4 && left > 0) || (len(chosen) == 0 && len(dishes) > 0) {
			continue
		}
		product := c.Product(p)
		dish := entry{"ID": product.ExternalID, "name": product.Name, "price": product.Price, "quantity": 1, "ingredients": chosen}
		if trial := body(b, append(slices.Clip(dishes), dish)); valid(b, c, trial) {
			dishes, modifiers = append(dishes, dish), modifiers+len(chosen)
		}
	}
	if len(dishes) != 5 || modifiers != 5 {
		b.Fatalf("found %d dishes with %d modifiers", len(dishes), modifiers)
	}
	return body(b, dishes)
}

func body(b *testing.B, dishes any) []byte {
	b.Helper()
	text, err := json.Marshal(map[string]any{
		"comment": "no onions, please", "persons": 2, "dishList": dishes, "expeditionType": "delivery",
		"expectedAt": noon().Add(time.Hour), "paymentTypeID": "card",
		"guest":   map[string]any{"email": "guest@example.com", "phone": "+10000000000", "firstName": "Ann", "lastName": "Lee"},
		"address": map[string]any{"street": "Main street", "cityName": "Springfield", "houseNumber": "12", "lat": 55.75, "lon": 37.61, "floor": 3},
	})
	if err != nil {
		b.Fatal(err)
	}
	return text
}

func valid(b *testing.B, c *menu.Catalogue, body []byte) bool {
	b.Helper()
	verdict, err := ordering.NewValidator(ordering.Config{}, noon).Validate(ordering.Request{Native: true, Catalogue: c, Body: body})
	return err == nil && verdict.Valid
}
