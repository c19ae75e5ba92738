package validate

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"larder.local/internal/menu"
	"larder.local/internal/testkit/ordertest"
)

// JSON Pointers are created only for violations. Decoding a valid order allocates the order, its decoder, its text, and
// each list.
func TestDecode_ValidOrderWithoutPointers(t *testing.T) { //nolint:paralleltest // it counts allocations
	sent, err := ordertest.FiveLines(time.Now().Add(2 * time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	allocations := testing.AllocsPerRun(100, func() {
		o := &Order{}
		err := o.decode(newDecoder(Input{Body: sent.Body, V1: true}), menu.DefaultMaxDepth, nil)
		if err != nil || len(o.dishes.all) != 5 {
			t.Errorf("%d dishes, %v", len(o.dishes.all), err)
		}
	})
	t.Logf("%g", allocations)
	if allocations > 13 {
		t.Errorf("decoding an order takes %g allocations, want at most 13", allocations)
	}
}

// The last restaurant counts. The first payment type that a guest may not use is returned.
func TestDecodeOrder_FieldsForEarlySteps(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]struct{ restaurant, payment string }{
		`{}`: {},
		`{"restaurantID":" ","x":{"restaurantID":"no"}}`:                         {},
		`{"restaurantID":7}`:                                                     {restaurant: "7"},
		`{"RestaurantId":"a","restaurantID":null}`:                               {restaurant: "a"},
		`{"restaurantID":"a","RESTAURANTID":"b"}`:                                {restaurant: "b"},
		`{"restaurantID":"a","restaurantid":[]}`:                                 {},
		`{"paymentTypeID":"cash"}`:                                               {},
		`{"paymentTypeID":1,"PaymentTypeId":""}`:                                 {payment: "PaymentTypeId"},
		`{"paymentTypeID":"online","paymenttypeid":"cash","PAYMENTTYPEID":"no"}`: {payment: "paymentTypeID"},
		`[{"paymentTypeID":"online"}]`:                                           {},
	} {
		o, err := DecodeOrder(Input{Body: []byte(body)}, []string{"cash"})
		if err != nil || o.Restaurant() != want.restaurant || o.RefusedPayment() != want.payment {
			t.Errorf("%s: restaurant %q, payment %q, %v; want %+v", body, o.Restaurant(), o.RefusedPayment(), err, want)
		}
	}
}

// An order that is nested deeper than usual is validated with the depth limit of its
// catalogue.
func TestCheck_DepthOfTheCatalogue(t *testing.T) {
	t.Parallel()
	view, err := menu.Decode([]byte(`{"products":[{"id":"d","price":1}]}`))
	if err != nil {
		t.Fatal(err)
	}
	const levels = 8
	body := strings.Repeat(`{"ID":"d","quantity":1,"ingredients":[`, levels) + strings.Repeat("]}", levels)
	in := Input{Body: []byte(`{"dishList":[` + body + `]}`), V1: true}
	for _, depth := range []int{1, levels - 2, levels - 1, levels} {
		v := New(DefaultConfig(), time.Now)
		req := Request{Restaurant: "r", Catalogue: menu.Compile(view, "r", menu.Settings{MaxDepth: depth}), Input: in}
		want, err := v.Order(req)
		if err != nil {
			t.Fatal(err)
		}
		order, err := DecodeOrder(in, nil)
		if err != nil {
			t.Fatal(err)
		}
		got, err := v.Check(order, req)
		if err != nil || !reflect.DeepEqual(got.Violations, want.Violations) {
			t.Errorf("depth %d: %+v, %v\nwant %+v", depth, got.Violations, err, want.Violations)
		}
	}
}
