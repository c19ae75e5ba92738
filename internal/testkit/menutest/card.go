// Package menutest has the menus that tests of orders share: one small menu with an
// order of it, random menus with random orders, and a sandbox that serves them.
//
// ordering and ordering/validate use it. It checks no orders.
package menutest

import (
	"testing"
	"time"

	"larder.local/internal/menu"
)

// Restaurant is the restaurant of the menus.
const Restaurant menu.RestaurantID = "r-1"

// Noon is the time of most tests.
func Noon() time.Time { return time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC) }

// Card is the menu of most tests. Group g-sauce is in two schemes with different
// limits; i-b is in g-one and g-two of s-twin.
const Card = `{"name":"card","categories":[{"id":"c","name":"All"}],
"products":[
 {"id":"pizza","externalId":"1001","categoryId":"c","name":"Pizza","price":500,"schemeId":"s-pizza","measure":{"value":0.4,"unit":"kg"}},
 {"id":"soup","externalId":"1002","categoryId":"c","name":"Soup","price":199.9,"measure":{"value":1,"unit":"pcs"}},
 {"id":"wok","externalId":"1003","categoryId":"c","name":"Wok","price":300,"isContainInStopList":["r-1"]},
 {"id":"cheese","externalId":"1004","categoryId":"c","name":"Cheese","price":1099.99,"measure":{"value":1,"unit":"KG"}},
 {"id":"left","externalId":"77","categoryId":"c","name":"Left","price":1},
 {"id":"right","externalId":"77","categoryId":"c","name":"Right","price":2},
 {"id":"burger","externalId":"1006","categoryId":"c","name":"Burger","price":250,"schemeId":"s-burger"},
 {"id":"combo","externalId":"1007","categoryId":"c","name":"Combo","price":400,"schemeId":"s-combo"},
 {"id":"stuck","externalId":"1008","categoryId":"c","name":"Stuck","price":10,"schemeId":"s-stuck"},
 {"id":"twin","externalId":"1009","categoryId":"c","name":"Twin","price":100,"schemeId":"s-twin"},
 {"id":"bare","categoryId":"c","name":"Bare","price":5},
 {"id":"ring","externalId":"1011","categoryId":"c","name":"Ring","price":7,"schemeId":"s-ring"},
 {"id":"odd","externalId":"1012","categoryId":"c","name":"Odd","price":"a lot"},
 {"id":"free","externalId":"1013","categoryId":"c","name":"Free","price":3,"schemeId":"s-free"}],
"ingredientsSchemes":[
 {"id":"s-pizza","ingredientsGroups":[{"id":"g-size","minCount":1,"maxCount":1},{"id":"g-sauce","minCount":0,"maxCount":3}]},
 {"id":"s-burger","ingredientsGroups":[{"id":"g-sauce","minCount":1,"maxCount":2}]},
 {"id":"s-combo","ingredientsGroups":[{"id":"g-main","minCount":1,"maxCount":2},{"id":"g-drink","minCount":1,"maxCount":0}]},
 {"id":"s-main","ingredientsGroups":[{"id":"g-sauce","minCount":1,"maxCount":2}]},
 {"id":"s-stuck","ingredientsGroups":[{"id":"g-gone","minCount":1,"maxCount":1}]},
 {"id":"s-twin","ingredientsGroups":[{"id":"g-one","minCount":1,"maxCount":1},{"id":"g-two","minCount":1,"maxCount":2}]},
 {"id":"s-ring","ingredientsGroups":[{"id":"g-ring","minCount":1,"maxCount":1}]},
 {"id":"s-free","ingredientsGroups":[{"id":"g-gone","minCount":0,"maxCount":1}]}],
"ingredientsGroups":[
 {"id":"g-size","name":"Size","ingredients":["i-small","i-large"]},
 {"id":"g-sauce","name":"Sauce","ingredients":["i-hot","i-mild"]},
 {"id":"g-main","name":"Main","ingredients":["i-burger","i-rice"]},
 {"id":"g-drink","name":"Drink","ingredients":["i-cola"]},
 {"id":"g-gone","name":"Gone","ingredients":["i-gone"]},
 {"id":"g-one","name":"One","ingredients":["i-a","i-b"]},
 {"id":"g-two","name":"Two","ingredients":["i-b","i-c"]},
 {"id":"g-ring","name":"Ring","ingredients":["i-ring"]}],
"ingredients":[
 {"id":"i-small","externalId":"21","name":"Small","price":0,"measure":{"value":0.3,"unit":"kg"}},
 {"id":"i-large","externalId":"22","name":"Large","price":150.5},
 {"id":"i-hot","externalId":"23","name":"Hot","price":25},
 {"id":"i-mild","externalId":"24","name":"Mild","price":20.25},
 {"id":"i-burger","externalId":"25","name":"Small burger","price":50,"schemeId":"s-main"},
 {"id":"i-rice","externalId":"26","name":"Rice","price":30},
 {"id":"i-cola","externalId":"27","name":"Cola","price":0},
 {"id":"i-gone","externalId":"28","name":"Truffle","price":9,"isContainInStopList":["r-1"]},
 {"id":"i-a","externalId":"31","name":"A","price":1},
 {"id":"i-b","externalId":"32","name":"B","price":2},
 {"id":"i-c","name":"C","price":3},
 {"id":"i-ring","externalId":"33","name":"Ring","price":1,"schemeId":"s-ring"},
 {"id":"i-x","externalId":"32","name":"X","price":2}]}`

// Compile compiles a menu view for Restaurant.
func Compile(tb testing.TB, view string, settings menu.Settings) *menu.Catalogue {
	tb.Helper()
	v, err := menu.Decode([]byte(view))
	if err != nil {
		tb.Fatalf("decode the menu: %v", err)
	}
	return menu.Compile(v, Restaurant, settings)
}

// Order returns a pickup order with the given dishes, otherwise valid.
func Order(dishes string) string {
	return `{"dishList":` + dishes + `,"expeditionType":"pickup","expectedAt":"2026-05-01T18:30:00+03:00","paymentTypeID":"cash"}`
}
