package viewtest

import (
	"fmt"
	"strings"
)

// Menu returns a plain menu view of n dishes in 50 schemes. A dish costs half a
// unit more than price returns.
func Menu(n int, price func(dish int) int) []byte {
	var b strings.Builder
	b.WriteString(`{"name":"Generated","categories":[{"id":"c","name":"All"}],"products":[`)
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"id":"5f0c9a51-77aa-4c0a-8d7e-%012d","externalId":"%d","categoryId":"c","name":"Dish number %d",`+
			`"price":%d.5,"schemeId":"s%d","description":"Slow cooked, number %d, with a sauce of the day and bread.",`+
			`"imageUrls":["/img/%d.svg"]}`,
			i, 1000+i, i, price(i), i%50, i, i)
	}
	b.WriteString(`],"ingredientsSchemes":[`)
	for i := range 50 {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"id":"s%d","ingredientsGroups":[{"id":"g","minCount":0,"maxCount":%d}]}`, i, i)
	}
	b.WriteString(`],"ingredientsGroups":[{"id":"g","name":"Sauce","ingredients":["i"]}],"ingredients":[{"id":"i",` +
		`"externalId":"x","name":"Salsa","price":1}]}`)
	return []byte(b.String())
}
