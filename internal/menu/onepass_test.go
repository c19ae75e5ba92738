package menu_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"larder.local/internal/jsontext"
	"larder.local/internal/menu"
	"larder.local/internal/sandbox"
)

// smallView has a value of each kind, including unusual ones.
const smallView = `{"name":"Menü","x":[1,{"y":null}],"categories":[{"id":"c","name":"All","parentId":null}],` +
	`"products":[{"id":"p","externalId":7,"categoryId":"c","name":"Soup \"hot\"","price":"1.50","schemeId":"s",` +
	`"imageUrls":["u"],"measure":{"value":0.30,"unit":"kg"},"isContainInStopList":["r",null],"proteins":1.5,"disabled":false},` +
	`{"id":"q","price":1e1,"measure":{"value":null}},5],"ingredientsSchemes":[{"id":"s","ingredientsGroups":[{"id":"g","minCount":1,"maxCount":null}]}],` +
	`"ingredientsGroups":[{"id":"g","ingredients":["i"]}],"ingredients":[{"id":"i","price":0,"isListStoped":true}]}`

// Decode reads values and validates the syntax in one pass. It must accept and reject the
// same texts as Check, with the same errors.
func TestDecodeRejectsTheSameBodiesAsCheck(t *testing.T) {
	t.Parallel()
	pieces := []string{
		"", `"`, `\`, `\u12`, "{", "}", "[", "]", ",", ":", "0", "-", ".", "e", "t", "null", " ", "\x01", "\xff",
		"\xef\xbb\xbf",
	}
	refused := 0
	for _, form := range []string{smallView, `{"result":` + smallView + `,"requestId":"1"}`} {
		for at := range len(form) + 1 {
			for _, piece := range pieces {
				for _, cut := range []int{0, 1, len(form)} {
					body := []byte(form[:at] + piece + form[min(at+cut, len(form)):])
					_, want := jsontext.Check(string(body), 64)
					_, got := menu.Decode(body)
					if _, syntax := errors.AsType[*jsontext.SyntaxError](got); !syntax {
						got = nil
					}
					if fmt.Sprint(got) != fmt.Sprint(want) {
						t.Fatalf("Decode(%q)\n got %v\nwant %v", body, got, want)
					}
					if want != nil {
						refused++
					}
				}
			}
		}
	}
	if refused < 1000 {
		t.Errorf("only %d bodies were rejected", refused)
	}
}

// A view is decoded equally from every form of a response. Unusual forms are read in several
// passes.
func TestAViewIsTheSameInEveryResponse(t *testing.T) {
	t.Parallel()
	for _, view := range []string{smallView, string(sandbox.Generate{Restaurants: 2, Products: 30, Seed: 1}.Menu(0))} {
		want, published, err := menu.DecodePublished([]byte(view))
		if err != nil {
			t.Fatal(err)
		}
		for _, answer := range []string{
			`{"result":` + view + `}`,
			` { "Result" : ` + view + ` , "requestId" : "1" } `,
			`{"requestId":"1","result":` + view + `}`,
			`{"result":{"products":5},"result":` + view + `}`,
		} {
			got, gotPublished, err := menu.DecodePublished([]byte(answer))
			if err != nil {
				t.Fatalf("%.40s…: %v", answer, err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%.40s…: %s", answer, diff)
			}
			if diff := cmp.Diff(published, gotPublished); diff != "" {
				t.Errorf("%.40s…: %s", answer, diff)
			}
		}
	}
}

// The values of an element must not depend on earlier elements, whose names and values are
// cached.
func TestElementsAreIndependent(t *testing.T) {
	t.Parallel()
	elements := []string{
		`{"id":"a","price":1.5,"measure":{"value":1,"unit":"kg"},"proteins":1}`,
		`{"price":1.50,"ID":"b","measure":{"unit":"kg","value":1.0},"fats":null}`,
		`{"id":"c","price":1.500,"calories":0,"calories":null}`,
		`{"external_id":"x","id":"d","price":"1.5","isContainInStopList":true,"isListStoped":false}`,
		`{}`,
	}
	alone := func(element string) menu.Product {
		view, err := menu.Decode([]byte(`{"products":[` + element + `]}`))
		if err != nil {
			t.Fatal(err)
		}
		return view.Products[0]
	}
	for _, first := range elements {
		for _, second := range elements {
			view, err := menu.Decode([]byte(`{"products":[` + first + `,` + second + `]}`))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]menu.Product{alone(first), alone(second)}, slices.Clip(view.Products)); diff != "" {
				t.Errorf("%s,%s: %s", first, second, diff)
			}
		}
	}
}
