package menus_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"larder.local/internal/testkit/apitest"
)

// formOf reads a product with its groups, as the JSON text of each field.
func formOf(t *testing.T, w *apitest.Fixture, id string) map[string]json.RawMessage {
	t.Helper()
	var product map[string]json.RawMessage
	w.Get("/v1/restaurants/bistro/products/"+url.PathEscape(id)).Is(t, http.StatusOK).Into(t, &product)
	delete(product, "version")
	return product
}

func formsOf(t *testing.T, w *apitest.Fixture, query string) (forms []map[string]json.RawMessage, next string) {
	t.Helper()
	var page struct {
		Result []map[string]json.RawMessage
		Next   *string
	}
	got := w.Get("/v1/restaurants/bistro/products"+query).Is(t, http.StatusOK)
	if err := json.Unmarshal(got.Body, &page); err != nil {
		t.Fatalf("%v in %.200s", err, got.Body)
	}
	if page.Next != nil {
		next = *page.Next
	}
	return page.Result, next
}

func TestProductsExpandedAreThoseOfTheSingleReads(t *testing.T) {
	t.Parallel()
	w := apitest.New(t)
	forms, _ := formsOf(t, w, "?expand=groups")
	if len(forms) != 5 {
		t.Fatalf("%d products, want 5", len(forms))
	}
	for _, form := range forms {
		var id string
		if err := json.Unmarshal(form["id"], &id); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(formOf(t, w, id), form); diff != "" {
			t.Errorf("%s: alone (-) and in the list (+):\n%s", id, diff)
		}
	}
	if !strings.Contains(string(forms[0]["groups"]), `"Garlic"`) {
		t.Errorf("groups %s", forms[0]["groups"])
	}
	w.Get("/v1/restaurants/bistro/products?expand=all").Refused(t, http.StatusBadRequest, "invalid_parameter")
}

func TestProductsByIDs(t *testing.T) {
	t.Parallel()
	w := apitest.New(t)
	w.PublishAgain(strings.Replace(apitest.FullMenu, `"id": "p4"`, `"id": "p,4"`, 1))
	most := "?ids=" + strings.Repeat("p1,", 499) + "p3"
	for query, want := range map[string][]string{
		"?ids=p3,p1":                {"p1", "p3"},
		"?ids=p3&ids=p1,p1":         {"p1", "p3"},
		"?ids=p%2C4":                {"p,4"},
		"?ids=p%2C4&ids=p5,none":    {"p,4", "p5"},
		"?ids=none":                 {},
		"?ids=p1,p5&available=true": {"p1"},
		"?ids=p%2F2+%2B%25":         {"p/2 +%"},
		"?expand=groups&ids=p1,p3":  {"p1", "p3"},
		most:                        {"p1", "p3"},
	} {
		if got, _ := productIDs(t, w, query); !cmp.Equal(got, want) {
			t.Errorf("%.40q: got %v, want %v", query, got, want)
		}
	}
	w.Get("/v1/restaurants/bistro/products?ids="+strings.Repeat("p1,", 500)+"p3").Refused(t, http.StatusBadRequest, "invalid_parameter")
}

// A page with groups has at most 1,500 options and groups, or one product that is cut there.
func TestProductsExpandedHaveBoundedPages(t *testing.T) {
	t.Parallel()
	w := apitest.New(t, apitest.AnyMenu)
	var products, schemes, groups, ingredients []string
	for i, options := range []int{749, 749, 1, 5_000, 0} { // with the group, the first two fill a page
		var members []string
		for k := range options {
			id := fmt.Sprintf("i%d-%d", i, k)
			members = append(members, `"`+id+`"`)
			ingredients = append(ingredients, fmt.Sprintf(`{"id":"%s","externalId":"%s","name":"Option","price":1}`, id, id))
		}
		products = append(products, fmt.Sprintf(`{"id":"p%d","externalId":"e%d","name":"Dish","price":1,"schemeId":"s%d"}`, i, i, i))
		schemes = append(schemes, fmt.Sprintf(`{"id":"s%d","ingredientsGroups":[{"id":"g%d"}]}`, i, i))
		groups = append(groups, fmt.Sprintf(`{"id":"g%d","name":"Group","ingredients":[%s]}`, i, strings.Join(members, ",")))
	}
	w.PublishAgain(fmt.Sprintf(`{"products":[%s],"ingredientsSchemes":[%s],"ingredientsGroups":[%s],"ingredients":[%s]}`,
		strings.Join(products, ","), strings.Join(schemes, ","), strings.Join(groups, ","), strings.Join(ingredients, ",")))
	type product struct {
		ID        string
		Options   int
		Truncated bool
	}
	var pages [][]product
	for next := ""; len(pages) < 9; {
		var forms []map[string]json.RawMessage
		forms, next = formsOf(t, w, "?expand=groups&cursor="+next)
		var page []product
		for _, form := range forms {
			page = append(page, product{
				ID:        strings.Trim(string(form["id"]), `"`),
				Options:   strings.Count(string(form["groups"]), `"Option"`),
				Truncated: string(form["truncated"]) == "true",
			})
		}
		pages = append(pages, page)
		if next == "" {
			break
		}
	}
	want := [][]product{{{"p0", 749, false}, {"p1", 749, false}}, {{"p2", 1, false}}, {{"p3", 1_499, true}}, {{"p4", 0, false}}}
	if diff := cmp.Diff(want, pages); diff != "" {
		t.Errorf("pages (-want +got):\n%s", diff)
	}
	if alone := formOf(t, w, "p3"); strings.Count(string(alone["groups"]), `"Option"`) != 5_000 || alone["truncated"] != nil {
		t.Errorf("p3 alone has %d options", strings.Count(string(alone["groups"]), `"Option"`))
	}
}
