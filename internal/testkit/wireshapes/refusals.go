package wireshapes

import (
	"net/http"
	"strings"
	"testing"
)

// refusalShapes are orders that every server refuses: each has one error that
// tolerance does not cover.
func refusalShapes() map[string]string {
	return map[string]string{
		"no JSON":         `{"dishList":[`,
		"two values":      pickup(water) + "{}",
		"an array":        `[` + pickup(water) + `]`,
		"nothing ordered": pickup(""),
		"no dishList": `{"restaurantID":"RESTAURANT","expeditionType":"pickup","expectedAt":"TIME",` +
			`"paymentTypeID":"cash"}`,
		"a comma in a price":           pickup(`{"ID":"1001001","quantity":1,"price":"99,00"}`),
		"a comma in a quantity":        pickup(`{"ID":"1001001","quantity":"1,0"}`),
		"a quantity of words":          pickup(`{"ID":"1001001","quantity":"one"}`),
		"no quantity":                  pickup(`{"ID":"1001001"}`),
		"a quantity of nothing":        pickup(`{"ID":"1001001","quantity":0}`),
		"another price":                pickup(`{"ID":"1001001","quantity":1,"price":98.99}`),
		"a dish that is not there":     pickup(`{"ID":"1001009","quantity":1}`),
		"a combo without its part":     pickup(`{"ID":"1001003","quantity":1}`),
		"a part without its side":      pickup(`{"ID":"1001003","quantity":1,"ingredients":[{"ID":"2003","quantity":1}]}`),
		"too many sauces":              pickup(`{"ID":"1001002","quantity":1,"ingredients":[{"ID":"2001","quantity":4}]}`),
		"a time without an offset":     strings.Replace(pickup(water), "TIME", "DAY", 1),
		"no time":                      strings.Replace(pickup(water), `"expectedAt":"TIME",`, "", 1),
		"another way to pay":           strings.Replace(pickup(water), `"cash"`, `"bitcoin"`, 1),
		"another way to have it":       strings.Replace(pickup(water), `"pickup"`, `"drone"`, 1),
		"a delivery without a guest":   strings.Replace(pickup(water), `"pickup"`, `"delivery"`, 1),
		"a restaurant nobody knows":    strings.Replace(pickup(water), "RESTAURANT", "nowhere", 1),
		"an ingredient that is a dish": pickup(`{"ID":"1001002","quantity":1,"ingredients":[{"ID":"1001001","quantity":1}]}`),
	}
}

func runRefusals(t *testing.T, target Target) {
	t.Helper()
	token := login(t, target)
	for name, body := range refusalShapes() {
		t.Run(name, func(t *testing.T) {
			got := orderShape{body: body}.place(t, target, token)
			if got.status < http.StatusBadRequest || got.status >= http.StatusInternalServerError {
				t.Errorf("status %d %s, want a refusal", got.status, got.body)
			}
			wantErrorShape(t, got)
		})
	}
}
