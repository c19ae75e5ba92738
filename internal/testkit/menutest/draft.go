package menutest

import (
	"encoding/json"
	"fmt"

	"pgregory.net/rapid"
)

// Draft is a small random menu as JSON, with the data for its orders.
type Draft struct {
	Products    []DraftItem   `json:"products"`
	Schemes     []DraftScheme `json:"ingredientsSchemes"`
	Groups      []DraftGroup  `json:"ingredientsGroups"`
	Ingredients []DraftItem   `json:"ingredients"`
}

// DraftItem is a dish or an ingredient.
type DraftItem struct {
	ID         string      `json:"id"`
	ExternalID string      `json:"externalId"`
	Name       string      `json:"name"`
	Price      json.Number `json:"price"`
	SchemeID   string      `json:"schemeId,omitempty"`
	Measure    any         `json:"measure"`
}

// DraftScheme is a scheme of groups.
type DraftScheme struct {
	ID     string       `json:"id"`
	Groups []DraftLimit `json:"ingredientsGroups"`
}

// DraftLimit is a group of a scheme with its limits; Max 0 means no maximum.
type DraftLimit struct {
	ID  string `json:"id"`
	Min int    `json:"minCount"`
	Max int    `json:"maxCount"`
}

// DraftGroup is a group of ingredients.
type DraftGroup struct {
	ID          string   `json:"id"`
	Name        string   `json:"name"`
	Ingredients []string `json:"ingredients"`
}

func letter(i int) string { return string(rune('a' + i)) }

// DrawMenu draws a menu. Later schemes may be nested deeper; ingredients are in any
// number of groups.
func DrawMenu(t *rapid.T) Draft {
	var d Draft
	price := func() json.Number {
		return json.Number(fmt.Sprintf("%d.%03d", rapid.IntRange(0, 300).Draw(t, "price"), rapid.IntRange(0, 999).Draw(t, "mils")))
	}
	const ingredients, groups, schemes, products = 6, 5, 4, 4
	for i := range ingredients {
		in := DraftItem{
			ID:         "i" + letter(i),
			ExternalID: "ei" + letter(i),
			Name:       "I" + letter(i),
			Price:      price(),
		}
		if i < 2 && rapid.Bool().Draw(t, "part") {
			in.SchemeID = "s" + letter(2+i)
		}
		d.Ingredients = append(d.Ingredients, in)
	}
	for i := range groups {
		g := DraftGroup{ID: "g" + letter(i), Name: "G" + letter(i)}
		for k := range ingredients {
			if rapid.IntRange(0, 2).Draw(t, "member") == 0 {
				g.Ingredients = append(g.Ingredients, "i"+letter(k))
			}
		}
		d.Groups = append(d.Groups, g)
	}
	for i := range schemes {
		s := DraftScheme{ID: "s" + letter(i)}
		for k := range groups {
			if rapid.Bool().Draw(t, "group") {
				limit := DraftLimit{ID: "g" + letter(k), Min: rapid.IntRange(0, 1).Draw(t, "min")}
				if rapid.Bool().Draw(t, "limited") {
					limit.Max = limit.Min + rapid.IntRange(0, 2).Draw(t, "room")
				}
				s.Groups = append(s.Groups, limit)
			}
		}
		d.Schemes = append(d.Schemes, s)
	}
	for i := range products {
		p := DraftItem{
			ID:         "p" + letter(i),
			ExternalID: "ep" + letter(i),
			Name:       "P" + letter(i),
			Price:      price(),
		}
		if i > 0 {
			p.SchemeID = "s" + letter(i-1)
		}
		if i%2 == 0 {
			p.Measure = map[string]any{"value": 1, "unit": "kg"}
		}
		d.Products = append(d.Products, p)
	}
	return d
}

// DrawIngredients draws a list of ingredients, most of which the scheme accepts.
func (d *Draft) DrawIngredients(t *rapid.T, scheme string, depth int) []map[string]any {
	var list []map[string]any
	pick := func(id string) {
		entry := map[string]any{"ID": id}
		if rapid.Bool().Draw(t, "counted") {
			entry["quantity"] = rapid.IntRange(1, 2).Draw(t, "units")
		}
		i := int(id[1] - 'a')
		if d.Ingredients[i].SchemeID != "" && depth < 1 && rapid.Bool().Draw(t, "nested") {
			entry["ingredients"] = d.DrawIngredients(t, d.Ingredients[i].SchemeID, depth+1)
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
		pick("i" + letter(rapid.IntRange(0, len(d.Ingredients)-1).Draw(t, "which")))
	}
	return list
}

// DrawOrder draws an order of one to three dishes, as a client sends it.
func (d *Draft) DrawOrder(t *rapid.T) []byte {
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
		dish["ingredients"] = d.DrawIngredients(t, p.SchemeID, 0)
		dishes = append(dishes, dish)
	}
	body, err := json.Marshal(map[string]any{
		"dishList": dishes, "expeditionType": rapid.SampledFrom([]string{"pickup", "delivery"}).Draw(t, "type"),
		"expectedAt": "2026-05-01T16:30:00+03:00", "paymentTypeID": "card", "guest": map[string]any{"phone": "12345"},
		"address": map[string]any{"street": "S", "cityName": "C", "houseNumber": "1"},
	})
	if err != nil {
		t.Fatal(err)
	}
	return body
}
