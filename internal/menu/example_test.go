package menu_test

import (
	"fmt"

	"larder.local/internal/menu"
)

// A view with a number as id and a text as price is accepted. The dish that is stopped in
// this restaurant is listed, but not available.
func Example() {
	view, err := menu.Decode([]byte(`{"result":{"products":[
		{"id":7,"name":"Soup","price":"199.90","isContainInStopList":["r1"]}]}}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	catalogue := menu.Compile(view, "r1", menu.DefaultSettings())
	soup, _ := catalogue.Products().ByID("7")
	fmt.Println(catalogue.Products().At(soup).Name(), catalogue.Products().At(soup).Price(), catalogue.Reasons(soup))
	for _, finding := range menu.Lint(view, "r1", menu.DefaultSettings())[:2] {
		fmt.Println(finding.Code, finding.IDs["field"])
	}
	// Output:
	// Soup 199.9 [{stopped }]
	// id_not_text products[].id
	// number_as_text products[].price
}
