package validate_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"larder.local/internal/menu"
	"larder.local/internal/testkit/menutest"
	"larder.local/internal/upstream"
	"larder.local/ordering/validate"
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

// Only the lines that count are compared: those of a list that is sent twice count once. Lines that are deeper than usual
// are compared too, if the menu allows them.
func TestRecheck_ComparesAllLinesThatCount_O18(t *testing.T) {
	t.Parallel()
	const levels = menu.DefaultMaxDepth + 2
	chain := `{"products":[{"id":"d","externalId":"1","price":1,"schemeId":"s0"},{"id":"twice","externalId":"2","price":1,"schemeId":"s7"}]`
	var schemes, groups, parts []string
	for i := range levels {
		schemes = append(schemes, fmt.Sprintf(`{"id":"s%d","ingredientsGroups":[{"id":"g%d","minCount":1,"maxCount":1}]}`, i, i))
		groups = append(groups, fmt.Sprintf(`{"id":"g%d","ingredients":["p%d"]}`, i, i))
		parts = append(parts, fmt.Sprintf(`{"id":"p%d","externalId":"1%d","price":%d,"schemeId":"s%d"}`, i, i, 10+i, i+1))
	}
	chain += fmt.Sprintf(`,"ingredientsSchemes":[%s],"ingredientsGroups":[%s],"ingredients":[%s]}`,
		strings.Join(schemes, ","), strings.Join(groups, ","), strings.Join(parts, ","))
	deep := ""
	for i := levels - 1; i >= 0; i-- {
		deep = fmt.Sprintf(`"ingredients":[{"ID":"p%d",%s}]`, i, strings.TrimSuffix(deep, ","))
		deep = strings.ReplaceAll(deep, ",}", "}")
	}
	settings := menu.DefaultSettings()
	settings.MaxDepth = levels
	for name, tc := range map[string]struct{ dish, old, new, want string }{
		"the deepest line": {
			`{"ID":"d","quantity":1,` + deep + `}`, `"price":17`, `"price":18`,
			"/dishList/0" + strings.Repeat("/ingredients/0", levels) + "/price",
		},
		"a list that is sent twice": {
			`{"ID":"twice","quantity":1,"ingredients":[{"ID":"p7"}],"ingredients":[{"ID":"p7"}]}`, `"price":17`, `"price":18`,
			"/dishList/0/ingredients/0/price",
		},
		"an item that is not ordered": {`{"ID":"twice","quantity":1,"ingredients":[{"ID":"p7"}],"ingredients":[{"ID":"p7"}]}`, `"price":10`, `"price":9`, ""},
	} {
		body := `{"dishList":[` + tc.dish + `],"expeditionType":"pickup","soonest":true,"paymentTypeID":"cash"}`
		validator := validate.New(validate.DefaultConfig(), menutest.Noon)
		order, err := validate.DecodeOrder(validate.Input{Body: []byte(body), V1: true}, nil)
		if err != nil {
			t.Fatal(err)
		}
		before := menutest.Compile(t, chain, settings)
		request := validate.Request{Restaurant: menutest.Restaurant, Catalogue: menutest.Compile(t, strings.Replace(chain, tc.old, tc.new, 1), settings)}
		got, err := validator.Recheck(order, request, before)
		if err != nil || !got.Valid {
			t.Fatalf("%s: %+v, %v", name, got, err)
		}
		var paths []string
		for _, v := range got.Violations {
			paths = append(paths, v.Path)
		}
		if strings.Join(paths, " ") != tc.want {
			t.Errorf("%s: prices changed at %q, want %q", name, paths, tc.want)
		}
	}
}
