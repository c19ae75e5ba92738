package validate

import (
	"encoding/json"
	"testing"
	"time"

	"larder/internal/menu"
	"larder/internal/testkit/ordertest"
	"larder/ordering/violation"
)

// BenchmarkDecode decodes 5 lines with 5 modifiers each. It compares larder's decoder with
// encoding/json and a plain struct (decision 0030). Larder's decoder validates the whole
// body, and records the position and kind of every value.
func BenchmarkDecode(b *testing.B) {
	sent, err := ordertest.FiveLines(time.Now().Add(time.Hour))
	if err != nil {
		b.Fatal(err)
	}
	b.Run("cursor", func(b *testing.B) {
		o := &decodedOrder{}
		b.SetBytes(int64(len(sent.Body)))
		b.ReportAllocs()
		for b.Loop() {
			var notes violation.List
			if err := o.decode(Input{Body: sent.Body, V1: true}, menu.DefaultMaxDepth, &notes); err != nil || o.dishCount != 5 {
				b.Fatalf("%d dishes, %v", o.dishCount, err)
			}
			o.clear()
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
