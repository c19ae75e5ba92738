package validate_test

import (
	"sync"
	"testing"
	"time"

	"larder.local/internal/testkit/menutest"
	"larder.local/internal/testkit/ordertest"
	"larder.local/internal/upstream"
	"larder.local/ordering/validate"
)

// BenchmarkValidate validates and prices an order of 5 lines with 5 modifiers each on a
// generated menu of 5,000 dishes (goal: under 3 µs).
func BenchmarkValidate(b *testing.B) { benchmarkValidate(b, fiveLines) }

// BenchmarkValidateShared is BenchmarkValidate with modifiers that are each in two groups,
// so that counting them needs a search.
func BenchmarkValidateShared(b *testing.B) { benchmarkValidate(b, sharedGroups) }

// BenchmarkValidateWritten is BenchmarkValidate for the validate route: it writes the
// result's JSON into an existing buffer.
func BenchmarkValidateWritten(b *testing.B) {
	validator, req := ready(b, fiveLines)
	room, err := validator.AppendResult(nil, req)
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(req.Body)))
	b.ReportAllocs()
	for b.Loop() {
		if room, err = validator.AppendResult(room[:0], req); err != nil {
			b.Fatal(err)
		}
	}
}

// The orders, created once.
var (
	fiveLines    = sync.OnceValues(func() (ordertest.Order, error) { return ordertest.FiveLines(menutest.Noon().Add(time.Hour)) })
	sharedGroups = sync.OnceValues(func() (ordertest.Order, error) { return ordertest.SharedGroups(menutest.Noon().Add(time.Hour)) })
)

// ready returns a validator and a valid order.
func ready(b *testing.B, draw func() (ordertest.Order, error)) (*validate.Validator, validate.Request) {
	b.Helper()
	order, err := draw()
	if err != nil {
		b.Fatal(err)
	}
	validator := validate.New(validate.DefaultConfig(), menutest.Noon)
	req := validate.Request{
		Restaurant: order.Restaurant,
		Version:    1,
		Catalogue:  order.Catalogue,
		Input:      validate.Input{Body: order.Body, V1: true, FieldCase: upstream.FieldCaseDocument},
	}
	if result, err := validator.Order(req); err != nil || !result.Valid {
		b.Fatalf("%s: %+v, %v", order.Body, result, err)
	}
	return validator, req
}

func benchmarkValidate(b *testing.B, draw func() (ordertest.Order, error)) {
	b.Helper()
	validator, req := ready(b, draw)
	b.SetBytes(int64(len(req.Body)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := validator.Order(req); err != nil {
			b.Fatal(err)
		}
	}
}
