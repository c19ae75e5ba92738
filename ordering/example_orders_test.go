package ordering_test

import (
	"context"
	"fmt"
	"time"

	"larder.local/internal/menu"
	"larder.local/internal/testkit/journaltest"
	"larder.local/internal/upstream"
	"larder.local/ordering"
	"larder.local/ordering/validate"
)

// oneMenu is the menu of the only restaurant.
type oneMenu struct{ catalogue *menu.Catalogue }

func (m oneMenu) Current(context.Context, menu.RestaurantID, string) (int64, *menu.Catalogue, error) {
	return 42, m.catalogue, nil
}

// An order is placed once, even if the request is repeated with the same key. Then it is
// paid and completed.
func ExampleOrders() {
	view, err := menu.Decode([]byte(`{"products": [{"id": "soup", "externalId": "1002", "name": "Soup", "price": 199.9}]}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	clock := func() time.Time { return time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC) }
	service := &fakeService{} // an ordering service in memory that accepts everything
	orders := ordering.NewOrders(ordering.DefaultConfig(), ordering.Deps{
		Validator:  validate.New(validate.DefaultConfig(), clock),
		Catalogues: oneMenu{menu.Compile(view, "bistro", menu.DefaultSettings())},
		Services:   map[string]ordering.Service{"main": service},
		Journal:    journaltest.NewMemory(clock, journaltest.LongRetention()),
		Clock:      clock,
	})
	ctx := context.Background()
	for range 2 {
		order, err := validate.DecodeOrder(validate.Input{
			V1: true,
			Body: []byte(`{"dishList": [{"ID": "soup", "quantity": 1}], "expeditionType": "pickup",
				"expectedAt": "2026-05-01T18:30:00+03:00", "paymentTypeID": "card"}`),
		}, nil)
		if err != nil {
			fmt.Println(err)
			return
		}
		got, err := orders.Place(ctx, ordering.PlaceRequest{
			Restaurant: "bistro",
			Order:      order,
			Connection: "main",
			Client:     "storefront",
			Key:        "basket-17",
		})
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(got.Record.OrderID, got.Record.State, got.Record.Total.Decimal, "replayed:", got.Replayed)
	}
	for _, change := range []ordering.ChangeRequest{
		{Operation: upstream.OpPay, Input: validate.Input{Body: []byte(`[{"code": "c-1", "amount": "199.90", "paidAt": "2026-05-01T12:00:00+03:00"}]`)}},
		{Operation: upstream.OpComplete},
	} {
		change.V1, change.Connection, change.Client, change.OrderID = true, "main", "storefront", "765"
		got, err := orders.Change(ctx, change)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(got.Record.OrderID, got.Record.State, "paid:", got.Record.Paid)
	}
	fmt.Println("calls of the service:", len(service.calls()))
	// Output:
	// 765 placed 199.9 replayed: false
	// 765 placed 199.9 replayed: true
	// 765 placed paid: true
	// 765 closed paid: true
	// calls of the service: 3
}
