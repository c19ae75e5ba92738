package menu_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/shopspring/decimal"
	"pgregory.net/rapid"

	"larder.local/internal/jsontext"
	"larder.local/internal/menu"
)

// decimals draws numbers of both signs, with few and many digits and places. Some are above
// the limits of Decode.
func decimals() *rapid.Generator[decimal.Decimal] {
	return rapid.Custom(func(t *rapid.T) decimal.Decimal {
		digits := rapid.StringMatching(`-?[1-9][0-9]{0,24}`).Draw(t, "digits")
		exponent := rapid.Int32Range(-30, 20).Draw(t, "exponent")
		units, err := decimal.NewFromString(digits)
		if err != nil {
			t.Fatal(err)
		}
		return rapid.SampledFrom([]decimal.Decimal{
			{},
			decimal.New(0, -2), units.Shift(exponent),
			decimal.New(int64(exponent), exponent),
		}).Draw(t, "number")
	})
}

func drawMeasure(t *rapid.T) *menu.Measure {
	if rapid.Bool().Draw(t, "weightless") {
		return nil
	}
	return &menu.Measure{Value: decimals().Draw(t, "measure"), Unit: rapid.StringN(0, 4, -1).Draw(t, "unit")}
}

// written formats a value with its exact places: 1.0 is not 1.
func written(d decimal.Decimal) string {
	return d.Coefficient().String() + "e" + decimal.NewFromInt32(d.Exponent()).String()
}

// An entry returns the values of the view exactly.
func TestEntriesReturnTheViewsValues(t *testing.T) {
	t.Parallel()
	texts := rapid.OneOf(rapid.String(), rapid.Just(strings.Repeat("long ", 4000)))
	rapid.Check(t, func(t *rapid.T) {
		dish := menu.Product{
			ID:           "d" + texts.Draw(t, "id"),
			ExternalID:   rapid.OneOf(texts, rapid.Just(someGUID)).Draw(t, "externalId"),
			Name:         texts.Draw(t, "name"),
			Price:        decimals().Draw(t, "price"),
			PriceInvalid: rapid.Bool().Draw(t, "bad"),
			Description:  texts.Draw(t, "description"),
			ImageURLs:    rapid.SliceOf(texts).Draw(t, "images"),
			Measure:      drawMeasure(t),
		}
		nutrition := "null"
		if rapid.Bool().Draw(t, "nutritious") {
			n := menu.Nutrition{Calories: decimal.NullDecimal{Decimal: decimals().Draw(t, "calories"), Valid: true}}
			n.Fats = decimal.NullDecimal{Decimal: decimals().Draw(t, "fats"), Valid: rapid.Bool().Draw(t, "fat")}
			dish.Nutrition = &n
			fats := "null"
			if n.Fats.Valid {
				fats = string(jsontext.NumberOf(n.Fats.Decimal).Append(nil))
			}
			nutrition = `{"calories":` + string(jsontext.NumberOf(n.Calories.Decimal).Append(nil)) +
				`,"energyValue":null,"proteins":null,"fats":` + fats + `,"carbohydrates":null}`
		}
		other := menu.Ingredient{
			ID:           dish.ID,
			ExternalID:   dish.ExternalID,
			Name:         dish.Name,
			Price:        dish.Price,
			PriceInvalid: dish.PriceInvalid,
			Description:  dish.Description,
			ImageURLs:    dish.ImageURLs,
			Measure:      dish.Measure,
		}
		beside := menu.Product{ID: "beside", Name: "Beside"}
		c := menu.Compile(&menu.View{Products: []menu.Product{beside, dish, beside}, Ingredients: []menu.Ingredient{other}}, "r",
			menu.DefaultSettings())
		p, _ := c.Products().ByID(dish.ID)
		i, _ := c.Ingredients().ByID(dish.ID)
		for _, e := range []menu.Entry{c.Products().At(p), c.Ingredients().At(i)} {
			if e.ID() != dish.ID || e.ExternalID() != dish.ExternalID || e.Name() != dish.Name {
				t.Errorf("texts of %q are %q, %q, %q", dish.ID, e.ID(), e.ExternalID(), e.Name())
			}
			if e.PriceInvalid() != dish.PriceInvalid || written(e.Price()) != written(dish.Price) {
				t.Errorf("price = %s, bad %t, want %s, %t", written(e.Price()), e.PriceInvalid(), written(dish.Price), dish.PriceInvalid)
			}
			if m := e.Measure(); (m == nil) != (dish.Measure == nil) || e.HasMeasure() != (m != nil) {
				t.Errorf("measure = %v, want %v", m, dish.Measure)
			} else if m != nil && (m.Unit != dish.Measure.Unit || written(m.Value) != written(dish.Measure.Value)) {
				t.Errorf("measure = %s %q, want %s %q", written(m.Value), m.Unit, written(dish.Measure.Value), dish.Measure.Unit)
			}
		}
		type drawn struct {
			ID, Description string
			ImageURLs       []string
			Nutrition       json.RawMessage
		}
		want := drawn{
			ID:          dish.ID,
			Description: dish.Description,
			ImageURLs:   append([]string{}, dish.ImageURLs...),
			Nutrition:   json.RawMessage(nutrition),
		}
		var answer struct {
			Result struct{ Products, Ingredients []drawn }
		}
		if err := json.Unmarshal(c.AppendMenu(nil, menu.Head{}), &answer); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, answer.Result.Products[p]); diff != "" {
			t.Errorf("details of the dish (-want +got):\n%s", diff)
		}
		answer.Result.Ingredients[i].Nutrition = want.Nutrition // ingredients have no nutrition
		if diff := cmp.Diff(want, answer.Result.Ingredients[i]); diff != "" {
			t.Errorf("details of the ingredient (-want +got):\n%s", diff)
		}
	})
}

// Orders read entries several hundred thousand times per second.
func TestReadingAnEntryDoesNotAllocate(t *testing.T) { //nolint:paralleltest // it counts allocations
	c := menu.Compile(&menu.View{Products: []menu.Product{{ID: "d1", ExternalID: "7", Name: "Soup", Price: decimal.New(150, -2)}}}, "r",
		menu.DefaultSettings())
	size := 0
	if n := testing.AllocsPerRun(100, func() {
		p := c.Products().ByExternalID("7")[0]
		e := c.Products().At(p)
		size += len(e.ID()) + len(e.ExternalID()) + len(e.Name())
		if e.PriceInvalid() || e.HasMeasure() {
			size++
		}
	}); n != 0 || size == 0 {
		t.Errorf("reading takes %v allocations", n)
	}
}
