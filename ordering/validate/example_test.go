package validate_test

import (
	"fmt"
	"time"

	"larder.local/internal/menu"
	"larder.local/internal/upstream"
	"larder.local/ordering/validate"
)

// An order without a sauce is rejected with the reason and its position. With the sauce it
// is priced and converted to the ordering service's identifiers.
func Example() {
	view, err := menu.Decode([]byte(`{
		"products": [{"id": "burger", "externalId": "1001", "name": "Burger", "price": 250, "schemeId": "s"}],
		"ingredientsSchemes": [{"id": "s", "ingredientsGroups": [{"id": "g", "minCount": 1, "maxCount": 2}]}],
		"ingredientsGroups": [{"id": "g", "name": "Sauce", "ingredients": ["hot"]}],
		"ingredients": [{"id": "hot", "externalId": "2001", "name": "Hot sauce", "price": 25.5}]}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	clock := func() time.Time { return time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC) }
	validator := validate.New(validate.DefaultConfig(), clock)
	for _, ingredients := range []string{`[]`, `[{"ID": "hot"}]`} {
		order, err := validate.DecodeOrder(validate.Input{
			V1: true, FieldCase: upstream.FieldCaseDocument,
			Body: []byte(`{"dishList": [{"ID": "burger", "quantity": 2, "ingredients": ` + ingredients + `}],
				"expeditionType": "pickup", "expectedAt": "2026-05-01T18:30:00+03:00", "paymentTypeID": "cash"}`),
		}, nil)
		if err != nil {
			fmt.Println(err)
			return
		}
		result, err := validator.Check(order, validate.Request{
			Restaurant: "bistro", Version: 42, Catalogue: menu.Compile(view, "bistro", menu.DefaultSettings()),
		})
		if err != nil {
			fmt.Println(err)
			return
		}
		for _, v := range result.Violations {
			fmt.Println(v.Path, v.Code, v.Msg)
		}
		fmt.Println("valid:", result.Valid, "total:", result.Total.Decimal)
		if result.Valid {
			fmt.Println(string(result.Order))
		}
	}
	// Output:
	// /dishList/0/ingredients group_min Sauce: choose 1 more (1 to 2; 0 chosen)
	// valid: false total: 500
	// valid: true total: 551
	// {"restaurantID":"bistro","dishList":[{"ID":"1001","name":"Burger","price":250,"quantity":2,"ingredients":[{"ID":"2001","name":"Hot sauce","price":25.5,"quantity":1}]}],"expeditionType":"pickup","expectedAt":"2026-05-01T18:30:00+03:00","paymentTypeID":"cash"}
}
