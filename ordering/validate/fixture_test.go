package validate_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/shopspring/decimal"

	"larder.local/internal/menu"
	"larder.local/internal/testkit/menutest"
	"larder.local/internal/upstream"
	"larder.local/ordering/validate"
)

// validateBody validates a body on the v1 API with the default rules.
func validateBody(tb testing.TB, body string) *validated {
	tb.Helper()
	return check(tb, validate.DefaultConfig(), v1(tb, body))
}

func v1(tb testing.TB, body string) validate.Request {
	tb.Helper()
	return validate.Request{
		Restaurant: menutest.Restaurant,
		Version:    42,
		Catalogue:  menutest.Compile(tb, menutest.Card, menu.DefaultSettings()),
		Input: validate.Input{
			Body:      []byte(body),
			V1:        true,
			Language:  "en",
			FieldCase: upstream.FieldCaseDocument,
		},
	}
}

// validated is the result of Check with the lines that only AppendResult returns.
type validated struct {
	*validate.Result

	Lines []struct {
		Path, ID, Name         string
		Quantity, Price, Total decimal.NullDecimal
	}
	JSON []byte
}

func check(tb testing.TB, cfg validate.Config, req validate.Request) *validated {
	tb.Helper()
	body := req.Body
	req.Body = bytes.Clone(body)
	validator := validate.New(cfg, menutest.Noon)
	order, err := validate.DecodeOrder(req.Input, nil)
	if err != nil {
		tb.Fatalf("DecodeOrder(%s): %v", body, err)
	}
	found, err := validator.Check(order, req)
	if err != nil {
		tb.Fatalf("Check(%s): %v", body, err)
	}
	written, err := validator.AppendResult(nil, req)
	if err != nil {
		tb.Fatal(err)
	}
	result := checkWritten(tb, found, written)
	for i := range req.Body { // a result shares no memory with the body
		req.Body[i] = 'X'
	}
	return result
}

// checkWritten checks that the JSON of AppendResult equals the result of Check.
func checkWritten(tb testing.TB, found *validate.Result, written []byte) *validated {
	tb.Helper()
	result := &validated{Result: found, JSON: written}
	shape := struct {
		Valid      bool
		Version    int64
		Total      decimal.NullDecimal
		Lines      any
		Violations json.RawMessage
		More       bool
		Order      json.RawMessage
	}{Lines: &result.Lines}
	if err := json.Unmarshal(written, &shape); err != nil {
		tb.Fatalf("%s: %v", written, err)
	}
	order, violations := "null", []byte("[]")
	if found.Order != nil {
		order = string(found.Order)
	}
	if len(found.Violations) > 0 {
		var err error
		if violations, err = json.Marshal(found.Violations); err != nil {
			tb.Fatal(err)
		}
	}
	if shape.Valid != found.Valid || shape.Version != found.Version || shape.More != found.More ||
		shape.Total.Valid != found.Total.Valid || !shape.Total.Decimal.Equal(found.Total.Decimal) ||
		!bytes.Equal(shape.Violations, violations) || string(shape.Order) != order {
		tb.Errorf("written %s\nresult %+v", written, found)
	}
	return result
}

func brokenOf(tb testing.TB, v *validated) []menutest.Broken {
	tb.Helper()
	return menutest.BrokenIn(tb, v.Violations)
}
