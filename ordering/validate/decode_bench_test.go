package validate

import (
	"encoding/json"
	"testing"
	"time"

	"larder.local/internal/menu"
	"larder.local/internal/testkit/ordertest"
)

// BenchmarkDecode decodes 5 lines with 5 modifiers each. It compares larder's decoder with
// encoding/json and a plain struct (decision 0015). Larder's decoder validates the whole
// body, and records the position and kind of every value.
func BenchmarkDecode(b *testing.B) {
	sent, err := ordertest.FiveLines(time.Now().Add(2 * time.Hour))
	if err != nil {
		b.Fatal(err)
	}
	b.Run("cursor", func(b *testing.B) {
		b.SetBytes(int64(len(sent.Body)))
		b.ReportAllocs()
		for b.Loop() {
			o := &Order{}
			err := o.decode(newDecoder(Input{Body: sent.Body, V1: true}), menu.DefaultMaxDepth, nil)
			if err != nil || len(o.dishes.all) != 5 {
				b.Fatalf("%d dishes, %v", len(o.dishes.all), err)
			}
		}
	})
	b.Run("encoding-json", func(b *testing.B) {
		b.SetBytes(int64(len(sent.Body)))
		b.ReportAllocs()
		for b.Loop() {
			var o ordertest.Bound
			if err := json.Unmarshal(sent.Body, &o); err != nil || len(o.DishList) != 5 {
				b.Fatalf("%d dishes, %v", len(o.DishList), err)
			}
		}
	})
}
