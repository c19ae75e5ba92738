package validate_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"larder.local/internal/menu"
	"larder.local/internal/testkit/menutest"
	"larder.local/ordering/validate"
	"larder.local/ordering/violation"
)

// clashing is a menu in which ids of one item are the externalIds of another.
const clashing = `{"products":[
	{"id":"1","externalId":"2","name":"Soup","price":10,"schemeId":"s"},
	{"id":"3","externalId":"1","name":"Lobster","price":20,"schemeId":"s"},
	{"id":"4","externalId":"5","name":"Tea","price":2,"schemeId":"t"},
	{"id":"6","externalId":"7","name":"Left","price":3},{"id":"7","externalId":"7","name":"Right","price":3}],
	"ingredientsSchemes":[{"id":"s","ingredientsGroups":[{"id":"g"}]},{"id":"t","ingredientsGroups":[{"id":"h"}]}],
	"ingredientsGroups":[{"id":"g","name":"G","ingredients":["11","13"]},{"id":"h","name":"H","ingredients":["11"]}],
	"ingredients":[{"id":"11","externalId":"12","name":"Salt","price":1},{"id":"13","externalId":"11","name":"Caviar","price":90},
	{"id":"21","externalId":"30","name":"A","price":1},{"id":"22","externalId":"30","name":"B","price":1}]}`

// O3: which dish or ingredient a line means, on both APIs. The sandbox knows items by their externalId.
func TestWhichItemIsMeant_O3(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		line       string
		compat, v1 string // the externalIds that are sent, or the code of the violation
	}{
		"an id and another's externalId":         {`{"ID":"1","quantity":1}`, "1", "2"},
		"as a number":                            {`{"ID":1,"quantity":1}`, "1", "2"},
		"only an id":                             {`{"ID":"3","quantity":1}`, "1", "1"},
		"only an externalId":                     {`{"ID":"2","quantity":1}`, "2", "2"},
		"the externalId agrees on one API":       {`{"ID":"1","externalId":"1","quantity":1}`, "1", "id_conflict"},
		"the externalId of the other":            {`{"ID":"1","externalId":"2","quantity":1}`, "id_conflict", "2"},
		"id and externalId of one item":          {`{"ID":"3","externalId":"1","quantity":1}`, "1", "1"},
		"id and externalId of two items":         {`{"ID":"4","externalId":"2","quantity":1}`, "id_conflict", "id_conflict"},
		"an externalId that nobody has":          {`{"ID":"4","externalId":"99","quantity":1}`, "id_conflict", "id_conflict"},
		"an empty externalId":                    {`{"ID":"4","externalId":"","quantity":1}`, "5", "5"},
		"two spellings of ID, one item":          {`{"ID":"5","id":"4","quantity":1}`, "5", "5"},
		"two spellings of ID, two items":         {`{"ID":"5","id":"3","quantity":1}`, "id_conflict", "id_conflict"},
		"the name of the other":                  {`{"ID":"1","name":"Lobster","quantity":1}`, "1", "id_conflict"},
		"the name of the first":                  {`{"ID":"1","name":" soup ","quantity":1}`, "id_conflict", "2"},
		"another name":                           {`{"ID":"1","name":"Suppe","quantity":1}`, "1", "2"},
		"the price of the other":                 {`{"ID":"1","price":20,"quantity":1}`, "1", "id_conflict"},
		"the price of the first":                 {`{"ID":"1","price":10.00,"quantity":1}`, "id_conflict", "2"},
		"a shared externalId that is an id":      {`{"ID":"7","quantity":1}`, "7", "7"},
		"an ingredient":                          {`{"ID":"4","quantity":1,"ingredients":[]}`, "5", "5"},
		"an ingredient with a clash":             {`{"ID":"2","quantity":1,"ingredients":[{"ID":"11"}]}`, "2 11", "2 12"},
		"an ingredient that the dish has":        {`{"ID":"5","quantity":1,"ingredients":[{"ID":"11"}]}`, "5 12", "5 12"},
		"an ingredient with the name of another": {`{"ID":"2","quantity":1,"ingredients":[{"ID":"11","name":"Caviar"}]}`, "2 11", "id_conflict"},
		"the name of one that is not offered":    {`{"ID":"5","quantity":1,"ingredients":[{"ID":"11","name":"Caviar"}]}`, "id_conflict", "id_conflict"},
		"the price of one that is not offered":   {`{"ID":"5","quantity":1,"ingredients":[{"ID":"11","price":90}]}`, "id_conflict", "id_conflict"},
		"an ingredient with two ids":             {`{"ID":"2","quantity":1,"ingredients":[{"ID":"11","externalId":"12"}]}`, "id_conflict", "2 12"},
		"an id that nobody has":                  {`{"ID":"salad","quantity":1}`, "dish_not_in_menu", "dish_not_in_menu"},
		"both with the number":                   {`{"ID":1,"externalId":2,"quantity":1}`, "id_conflict", "2"},
		"an externalId as a number":              {`{"ID":3,"externalId":1,"quantity":1}`, "1", "1"},
		"null and an externalId":                 {`{"ID":null,"externalId":"1","quantity":1}`, "1", "1"},
		"a price that fits neither":              {`{"ID":"1","price":15,"quantity":1}`, "price_changed", "price_changed"},
		"the name of one, the price of another":  {`{"ID":"1","name":"Soup","price":20,"quantity":1}`, "id_conflict", "id_conflict"},
		"the name of another, without a clash":   {`{"ID":"4","name":"Lobster","quantity":1}`, "5", "5"},
		"an ingredient of no group, by its id":   {`{"ID":"5","quantity":1,"ingredients":[{"ID":"12"}]}`, "5 12", "5 12"},
		"an ingredient with the other's id":      {`{"ID":"2","quantity":1,"ingredients":[{"ID":"11","id":"13"}]}`, "2 11", "id_conflict"},
		"an ingredient with a dish's id":         {`{"ID":"2","quantity":1,"ingredients":[{"ID":"4"}]}`, "ingredient_not_in_menu", "ingredient_not_in_menu"},
		"an ingredient with a shared externalId": {`{"ID":"2","quantity":1,"ingredients":[{"ID":"30"}]}`, "external_id_ambiguous", "external_id_ambiguous"},
	} {
		for _, onV1 := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, v1 %v", name, onV1), func(t *testing.T) {
				t.Parallel()
				req := v1(t, menutest.Order("["+tc.line+"]"))
				req.V1, req.Catalogue = onV1, menutest.Compile(t, clashing, menu.DefaultSettings())
				got, want := check(t, validate.DefaultConfig(), req), tc.compat
				if onV1 {
					want = tc.v1
				}
				if said := meantBy(t, got); said != want {
					t.Errorf("%s means %q, want %q: %v", tc.line, said, want, got.Violations)
				}
			})
		}
	}
}

// O3: the violation names both items.
func TestIDConflictNamesBoth_O3(t *testing.T) {
	t.Parallel()
	req := v1(t, menutest.Order(`[{"ID":"1","quantity":1,"name":"Lobster"}]`))
	req.Catalogue = menutest.Compile(t, clashing, menu.DefaultSettings())
	got := brokenOf(t, check(t, validate.DefaultConfig(), req))
	want := []menutest.Broken{{"/dishList/0", violation.IDConflict, `{"externalId":"1","id":"1","ids":["1","3"],"names":["Soup","Lobster"]}`}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("violations (-want +got):\n%s", diff)
	}
}

// meantBy returns the ids that would be sent, or the code of the first violation.
func meantBy(t *testing.T, v *validated) string {
	t.Helper()
	if !v.Valid {
		return string(v.Violations[0].Code)
	}
	var ids []string
	for part := range strings.SplitSeq(string(v.Order), `"ID":"`) {
		id, _, _ := strings.Cut(part, `"`)
		ids = append(ids, id)
	}
	return strings.Join(ids[1:], " ")
}
