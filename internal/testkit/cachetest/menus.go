package cachetest

import (
	"fmt"
	"strings"
)

// MenuJSON returns a small menu whose dishes all cost price: dishes d0 to dN-1 with
// POS identifiers. The first is a combo, the last two share an externalId.
func MenuJSON(dishes int, price int64, stopped ...string) []byte {
	var b strings.Builder
	b.WriteString(`{"name":"Menu","categories":[{"id":"c","name":"All","parentId":null}],"products":[`)
	for i := range dishes {
		if i > 0 {
			b.WriteByte(',')
		}
		scheme, stop := "null", "[]"
		if i == 0 {
			scheme = `"s"`
		}
		for _, id := range stopped {
			if id == fmt.Sprintf("d%d", i) {
				stop = `["bistro","grill"]`
			}
		}
		fmt.Fprintf(&b, `{"id":"d%d","externalId":"pos%d","categoryId":"c","name":"Dish %d","price":%d,"schemeId":%s,`+
			`"description":"","imageUrls":[],"measure":null,"isContainInStopList":%s}`,
			i, min(i, dishes-2), i, price, scheme, stop)
	}
	b.WriteString(`],"ingredientsSchemes":[{"id":"s","ingredientsGroups":[{"id":"g","minCount":1,"maxCount":2},{"id":"h",` +
		`"minCount":0,"maxCount":0}]}],
"ingredientsGroups":[{"id":"g","name":"Sauce \"hot\"","ingredients":["i1","i2"]},{"id":"h","name":"Extra","ingredients":["i2"]}],
"ingredients":[{"id":"i1","externalId":"x1","name":"Salsa","price":0.5},{"id":"i2","externalId":"x2","name":"Чили","price":0}]}`)
	return []byte(b.String())
}

// ChainMenu returns a menu whose dish b has the given stop fields.
func ChainMenu(stop string) []byte {
	return []byte(`{"requestId":"7","result":{"name":"Chain","spicy":null,"products":[{"price":"1.50","ID":"a","externalId":"x"},` +
		`{"id":"b","price":2.00` + stop + `}]}}`)
}
