package wireshapes

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// orderShape is an order as a client sends it. In body, RESTAURANT, TIME and DAY
// are placeholders for the restaurant, for a time two hours from now with an
// offset, and for the same time without one.
type orderShape struct {
	body   string
	header map[string]string
	path   string // "" for the interface's
	// dishes is larder's reading of dishList: dish, quantity, and each ingredient
	// with its quantity, all by their externalId.
	dishes []string
	// fields are the other fields of the body that larder sends, by path, as text.
	fields map[string]string
}

// pickup adds the interface's mandatory fields to dishes.
func pickup(dishes string, more ...string) string {
	return `{"restaurantID":"RESTAURANT","expeditionType":"pickup","expectedAt":"TIME","paymentTypeID":"cash",` +
		strings.Join(append(more, `"dishList":[`+dishes+`]`), ",") + `}`
}

const (
	water = `{"ID":"1001001","quantity":1}`
	wet   = "1001001 x1"
)

// headShapes are spellings of everything but the dishes.
func headShapes() map[string]orderShape {
	return map[string]orderShape{
		"the interface's words": {
			body: `{"comment":"call first","restaurantID":"RESTAURANT","persons":2,"dishList":[` + water + `],"expeditionType":"delivery",
 "expectedAt":"TIME","paymentTypeID":"cash","changeFrom":1000.5,
 "guest":{"email":"g@example.test","phone":"+10005550100","firstName":"Guest","lastName":"One"},
 "address":{"postcode":"1","street":"Main Street","comment":"","lat":55.75,"lon":37.61,"cityID":"c","cityName":"Springfield","floor":3,
  "houseNumber":"1","apartmentNumber":"2","entrance":"3","subway":"Centre","fullAddress":"Springfield, Main Street, 1"}}`,
			dishes: []string{wet},
			fields: map[string]string{
				"persons": "2", "changeFrom": "1000.5", "guest.phone": "+10005550100", "address.lat": "55.75", "address.floor": "3",
			},
		},
		"camel case throughout": {
			body: `{"restaurantId":"RESTAURANT","expeditionType":"pickup","expectedAt":"TIME","paymentTypeId":"card",` +
				`"dishList":[{"id":"1001001","quantity":1}]}`,
			dishes: []string{wet}, fields: map[string]string{"restaurantID": Restaurant, "paymentTypeID": "card"},
		},
		"Pascal case": {
			body: `{"RestaurantId":"RESTAURANT","ExpeditionType":"pickup","ExpectedAt":"TIME","PaymentTypeId":"online",` +
				`"DishList":[{"Id":"1001001","Quantity":1}]}`,
			dishes: []string{wet}, fields: map[string]string{"restaurantID": Restaurant, "paymentTypeID": "online"},
		},
		"underscores": {
			body: `{"restaurant_id":"RESTAURANT","expedition_type":"pickup","expected_at":"TIME",` +
				`"payment_type_id":"cash","dish_list":[{"id":"1001001","quantity":1}]}`,
			dishes: []string{wet}, fields: map[string]string{"restaurantID": Restaurant},
		},
		"numbers as text": {
			body: `{"restaurantID":"RESTAURANT","expeditionType":"delivery","expectedAt":"TIME","paymentTypeID":"cash",` +
				`"persons":"2","changeFrom":"1000.50",
 "guest":{"phone":"+10005550100"},"address":{"lat":"55.750000","lon":"37.61","floor":"3","street":"Main Street",
  "cityName":"Springfield","houseNumber":"1","fullAddress":"x"},
 "dishList":[{"ID":"1001001","price":"99.00","quantity":"2"}]}`,
			dishes: []string{"1001001 x2"}, fields: map[string]string{"persons": "2", "address.floor": "3", "address.lon": "37.61"},
		},
		"null wherever it may stand": {
			body: pickup(`{"ID":"1001001","name":null,"price":null,"measure":null,"quantity":1,"ingredients":null}`,
				`"comment":null,"persons":null,"changeFrom":null,"address":null,"guest":{"phone":"+10005550100",`+
					`"email":null,"firstName":null,"lastName":null}`),
			dishes: []string{wet}, fields: map[string]string{"guest.phone": "+10005550100"},
		},
		"fields that nobody knows": {
			body: pickup(water, `"useLoyalty":false,"manualDiscounts":null,"order_source":"site",`+
				`"guest":{"phone":"+10005550100","birthday":"01-01"}`,
				`"meta":{"utm":["a",{"b":1.50}]}`),
			dishes: []string{wet}, fields: map[string]string{"order_source": "site", "guest.birthday": "01-01", "useLoyalty": "false"},
		},
		"soonest instead of a time": {
			body: `{"restaurantID":"RESTAURANT","expeditionType":"pickup","soonest":true,"paymentTypeID":"cash",` +
				`"dishList":[` + water + `]}`,
			dishes: []string{wet}, fields: map[string]string{"soonest": "true"},
		},
		"soonest false beside a time": {
			body:   pickup(water, `"soonest":false`),
			dishes: []string{wet},
			fields: map[string]string{"soonest": "false"},
		},
		"no restaurant": {
			body:   `{"expeditionType":"pickup","expectedAt":"TIME","paymentTypeID":"cash","dishList":[` + water + `]}`,
			dishes: []string{wet}, fields: map[string]string{"restaurantID": ""},
		},
		"a time in Zulu":           {body: strings.Replace(pickup(water), "TIME", "DAYZ", 1), dishes: []string{wet}},
		"a time with milliseconds": {body: strings.Replace(pickup(water), "TIME", "DAY.123+00:00", 1), dishes: []string{wet}},
		"a time with .NET's ticks": {body: strings.Replace(pickup(water), "TIME", "DAY.1234567Z", 1), dishes: []string{wet}},
		"white space":              {body: " \r\n\t" + strings.ReplaceAll(pickup(water), ",", " ,\n  ") + "\n", dishes: []string{wet}},
		"escapes and every script": {
			body:   pickup(water, `"comment":"\u041f\u0440\u0438\u0432\u0435\u0442 \ud83c\udf55 麺 \/ \"x\""`),
			dishes: []string{wet},
			fields: map[string]string{"comment": "Привет 🍕 麺 / \"x\""},
		},
		"a slash at the end": {body: pickup(water), path: pathOrders + "/", dishes: []string{wet}},
		"a charset beside the type": {
			body:   pickup(water),
			header: map[string]string{"Content-Type": "application/json;charset=utf-8"},
			dishes: []string{wet},
		},
		"a type of text": {
			body:   pickup(water),
			header: map[string]string{"Content-Type": "text/plain"},
			dishes: []string{wet},
		},
		"no content type": {body: pickup(water), header: map[string]string{"Content-Type": ""}, dishes: []string{wet}},
		"a key that nobody asked for": {
			body:   pickup(water),
			header: map[string]string{"Idempotency-Key": "wire-shapes-1"},
			dishes: []string{wet},
		},
	}
}

// dishShapes are spellings of dishes and ingredients.
func dishShapes() map[string]orderShape {
	return map[string]orderShape{
		"a dish in full": {
			body: pickup(`{"ID":"1001002","name":"Pizza","price":640.50,"measure":{"value":1,"unit":"pcs"},"quantity":1,
 "ingredients":[{"ID":"2001","name":"Garlic","price":10.5,"measure":null,"quantity":2}]}`),
			dishes: []string{"1001002 x1", "2001 x2"},
		},
		"ids of the menu": {
			body:   pickup(`{"ID":"d-pizza","quantity":1,"ingredients":[{"ID":"i-chili","quantity":1}]}`),
			dishes: []string{"1001002 x1", "2002 x1"},
		},
		"externalId and a null id": {
			body:   pickup(`{"id":null,"externalId":"1001002","quantity":1,"ingredients":[{"id":null,"externalId":"2001","quantity":1}]}`),
			dishes: []string{"1001002 x1", "2001 x1"},
		},
		"externalId alone": {
			body:   pickup(`{"externalId":"1001002","quantity":1,"ingredients":[{"externalId":"2001"}]}`),
			dishes: []string{"1001002 x1", "2001 x1"},
		},
		"both ids": {
			body: pickup(`{"id":"d-pizza","externalId":"1001002","quantity":1,"ingredients":[{"id":"i-garlic",` +
				`"externalId":"2001","quantity":1}]}`),
			dishes: []string{"1001002 x1", "2001 x1"},
		},
		"ids as numbers": {
			body:   pickup(`{"ID":1001002,"quantity":1,"ingredients":[{"ID":2001,"quantity":1}]}`),
			dishes: []string{"1001002 x1", "2001 x1"},
		},
		"an id above 2^53": {
			body:   pickup(`{"ID":9007199254740993,"quantity":1},{"ID":"900719925474099301","quantity":2}`),
			dishes: []string{"9007199254740993 x1", "9007199254740993 x2"},
		},
		"a dish without an externalId": {
			body: pickup(`{"ID":"d-bare","quantity":1}`), dishes: []string{"d-bare x1"},
		},
		"quantities as text": {
			body:   pickup(`{"ID":"1001002","quantity":"2","price":"640.5","ingredients":[{"ID":"2001","quantity":"1","price":"10.50"}]}`),
			dishes: []string{"1001002 x2", "2001 x1"},
		},
		"quantities with zeros": {
			body:   pickup(`{"ID":"1001001","quantity":2.0},{"ID":"1001001","quantity":"1.000"}`),
			dishes: []string{"1001001 x2", wet},
		},
		"half a litre":     {body: pickup(`{"ID":"1001001","quantity":0.5}`), dishes: []string{"1001001 x0.5"}},
		"no ingredients":   {body: pickup(`{"ID":"1001002","quantity":1,"ingredients":[]}`), dishes: []string{"1001002 x1"}},
		"ingredients null": {body: pickup(`{"ID":"1001002","quantity":1,"ingredients":null}`), dishes: []string{"1001002 x1"}},
		"empty ingredients inside": {
			body:   pickup(`{"ID":"1001002","quantity":1,"ingredients":[{"ID":"2001","quantity":1,"ingredients":[]}]}`),
			dishes: []string{"1001002 x1", "2001 x1"},
		},
		"an ingredient's quantity": {
			body:   pickup(`{"ID":"1001002","quantity":1,"ingredients":[{"ID":"2001"}]}`),
			dishes: []string{"1001002 x1", "2001 x1"},
		},
		"the same dish on two lines": {body: pickup(water + "," + water), dishes: []string{wet, wet}},
		"a combo, flat": {
			body: pickup(`{"ID":"1001003","price":"450.00","quantity":1,"ingredients":[{"ID":"2003","quantity":1},` +
				`{"ID":"2004","price":30,"quantity":1}]}`),
			dishes: []string{"1001003 x1", "2003 x1", "2004 x1"},
		},
		"a combo, nested": {
			body: pickup(`{"ID":"1001003","quantity":1,"ingredients":[{"ID":"2003","quantity":1,` +
				`"ingredients":[{"ID":"2004","quantity":1}]}]}`),
			dishes: []string{"1001003 x1", "2003 x1", "2004 x1"},
		},
		"a combo of two, nested": { // a child's quantity is per one of its parent
			body: pickup(`{"ID":"1001003","quantity":3,"ingredients":[{"ID":"2003","quantity":2,` +
				`"ingredients":[{"ID":"2005","quantity":1}]}]}`),
			dishes: []string{"1001003 x3", "2003 x2", "2005 x2"},
		},
		"a whole product echoed": {
			body: pickup(`{"id":"d-pizza","externalId":"1001002","categoryId":"5","name":"Pizza","price":640.5,` +
				`"schemeId":"s-sauce","description":"with basil",
 "imageUrls":["https://images.test/pizza.jpg"],"measure":{"value":1,"unit":"pcs"},"isContainInStopList":[],"calories":800,
  "energyValue":3347,
 "proteins":30,"fats":25.5,"carbohydrates":90,"quantity":1,"ingredients":[{"id":"i-garlic","externalId":"2001","name":"Garlic","price":10.5,
 "schemeId":null,"description":null,"imageUrls":null,"measure":null,"maxCountForDish":3,"quantity":1,"ingredients":[]}]}`),
			dishes: []string{"1001002 x1", "2001 x1"},
		},
		"a measure of text": {
			body:   pickup(`{"ID":"1001001","quantity":1,"measure":{"value":"0.5","unit":"liter"}}`),
			dishes: []string{wet},
		},
		"a measure of nulls": {body: pickup(`{"ID":"1001001","quantity":1,"measure":{"value":null,"unit":null}}`), dishes: []string{wet}},
		"fields of a dish": {
			body:   pickup(`{"ID":"1001001","quantity":1,"meal_id":7,"comment":"cold"}`),
			dishes: []string{wet},
			fields: map[string]string{"dishList.0.comment": "cold"},
		},
		"a price of no digit": {body: pickup(`{"ID":"1001001","quantity":1,"price":99.000}`), dishes: []string{wet}},
	}
}

// fill replaces the placeholders of restaurant and time.
func fill(body string) string {
	at := expectedAt()
	return strings.NewReplacer(
		"RESTAURANT", Restaurant, "TIME", at.Format("2006-01-02T15:04:05-07:00"), "DAY", at.UTC().Format("2006-01-02T15:04:05"),
	).Replace(body)
}

// place sends an order and returns the response.
func (s orderShape) place(t *testing.T, target Target, token map[string]string) reply {
	t.Helper()
	r := request{
		method: http.MethodPost,
		path:   pathOrders,
		body:   fill(s.body),
		header: with(token, with(map[string]string{"Content-Type": "application/json"}, s.header)),
	}
	if s.path != "" {
		r.path = s.path
	}
	return send(t, target.BaseURL, r)
}

func runOrders(t *testing.T, target Target) {
	t.Helper()
	token := login(t, target)
	for _, table := range []map[string]orderShape{headShapes(), dishShapes()} {
		for name, shape := range table {
			t.Run(name, func(t *testing.T) {
				got := shape.place(t, target, token)
				id := text(at(got.parsed, "result", "orderID"))
				if got.status != http.StatusCreated || id == "" {
					t.Fatalf("status %d %s, want 201 with result.orderID", got.status, got.body)
				}
				if target.Sent != nil {
					shape.checkSent(t, target.Sent(t, id))
				}
			})
		}
	}
}

// checkSent checks the types of the body that larder sent for the order.
func (s orderShape) checkSent(t *testing.T, sent []byte) {
	t.Helper()
	body, err := parse(sent)
	if err != nil {
		t.Fatalf("larder sent %s: %v", sent, err)
	}
	if diff := cmp.Diff(s.dishes, dishesOf(t, body)); diff != "" {
		t.Errorf("dishes of %s (-want +got):\n%s", sent, diff)
	}
	for path, want := range s.fields {
		if got := fieldOf(body, path); got != want {
			t.Errorf("%s is %q in %s, want %q", path, got, sent, want)
		}
	}
}
