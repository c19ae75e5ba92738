package validate_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"larder/internal/menu"
	"larder/internal/testkit/menutest"
	"larder/internal/upstream"
	"larder/ordering/validate"
)

// An order is checked again as at the time of the first check. Prices of the menu that differ are violations, also of
// lines without a price; everything else shows in what would be sent.
func TestRecheck(t *testing.T) {
	t.Parallel()
	const nested = `[{"ID":"soup","quantity":1},{"ID":"combo","quantity":1,"ingredients":[
 {"ID":"i-burger","ingredients":[{"ID":"i-hot"}]},{"ID":"i-cola"}]}]`
	body := `{"dishList":` + nested + `,"expeditionType":"pickup","soonest":true,"paymentTypeID":"cash"}`
	before := menutest.Compile(t, menutest.Card, menu.DefaultSettings())
	for name, tc := range map[string]struct {
		old, new string // in the menu
		want     string // the violations
		equal    bool   // what would be sent is what was sent
	}{
		"the same menu":            {"", "", "", true},
		"another price of a dish":  {`"name":"Soup","price":199.9`, `"name":"Soup","price":210`, "/dishList/0/price price_changed 199.9 210", false},
		"of a nested ingredient":   {`"name":"Hot","price":25`, `"name":"Hot","price":26.5`, "/dishList/1/ingredients/0/ingredients/0/price price_changed 25 26.5", false},
		"another price, not of it": {`"name":"Wok","price":300`, `"name":"Wok","price":301`, "", true},
		"a stopped dish":           {`"name":"Soup","price":199.9`, `"name":"Soup","price":199.9,"isContainInStopList":["r-1"]`, "/dishList/0 dish_unavailable", false},
		"another externalId":       {`"externalId":"1002"`, `"externalId":"2002"`, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			now := menutest.Noon()
			validator := validate.New(validate.DefaultConfig(), func() time.Time { return now })
			order, err := validate.DecodeOrder(validate.Input{Body: []byte(body), V1: true, FieldCase: upstream.FieldCaseDocument}, nil)
			if err != nil {
				t.Fatal(err)
			}
			request := validate.Request{Restaurant: menutest.Restaurant, Catalogue: before, At: now}
			first, err := validator.Check(order, request)
			if err != nil || !first.Valid {
				t.Fatalf("the first check: %+v, %v", first, err)
			}
			now = now.Add(2 * time.Second) // soonest would be another time
			request.Catalogue = menutest.Compile(t, strings.Replace(menutest.Card, tc.old, tc.new, 1), menu.DefaultSettings())
			got, err := validator.Recheck(order, request, before)
			if err != nil {
				t.Fatal(err)
			}
			var found []string
			for _, v := range got.Violations {
				text := v.Path + " " + string(v.Code)
				if v.Code == "price_changed" {
					text += fmt.Sprintf(" %v %v", v.Params["sent"], v.Params["current"])
				}
				found = append(found, text)
			}
			if strings.Join(found, "; ") != tc.want || bytes.Equal(got.Order, first.Order) != tc.equal {
				t.Errorf("violations %q, want %q; would send %s after %s", found, tc.want, got.Order, first.Order)
			}
		})
	}
}
