package validate_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"testing"

	"larder.local/internal/jsontext"
	"larder.local/internal/menu"
	"larder.local/internal/testkit/menutest"
	"larder.local/internal/upstream"
	"larder.local/ordering/validate"
)

// FuzzValidate tests any body. It must not cause a panic. A second call and AppendResult must
// have the same result. The pointers of violations must be well formed.
func FuzzValidate(f *testing.F) {
	for _, dishes := range []string{
		`[{"ID":"pizza","quantity":"1","price":500,"ingredients":[{"ID":"i-small"},{"ID":"i-hot","quantity":9,"groupId":"g-x"}]}]`,
		`[{"ID":"combo","quantity":2,"ingredients":[{"ID":"i-cola"},{"ID":"i-burger","quantity":2,"ingredients":[{"ID":"i-hot"}]}]}]`,
		`[{"ID":"ring","quantity":1,"ingredients":[{"ID":"i-ring","ingredients":[{"ID":"i-ring"}]}]}]`,
		`[{"ID":"twin","quantity":1,"ingredients":[{"ID":"i-b","quantity":3},{"ID":"i-a"}]},{"externalId":77},{"ID":"cheese","quantity":0.5}]`,
		`[null,{"quantity":"1,5"},{"ID":[]}]`, `{}`,
	} {
		f.Add([]byte(menutest.Order(dishes)), true)
		f.Add([]byte(menutest.Order(dishes)), false)
	}
	f.Add([]byte("\xef\xbb\xbf{\"guest\":{\"phone\":1},\"address\":{\"lat\":\"1e5\"},\"soonest\":true,\"x\":{\"y\":[1e3]}}"), false)
	validator := validate.New(validate.DefaultConfig(), menutest.Noon)
	catalogue := menutest.Compile(f, menutest.Card, menu.DefaultSettings())
	f.Fuzz(func(t *testing.T, body []byte, isV1 bool) {
		req := validate.Request{
			Restaurant: menutest.Restaurant, Catalogue: catalogue, Input: validate.Input{V1: isV1, FieldCase: upstream.FieldCaseDocument},
		}
		req.Body = bytes.Clone(body)
		written, writeErr := validator.AppendResult([]byte("before"), req)
		first, err := validator.Order(req)
		if (err == nil) != (writeErr == nil) {
			t.Fatalf("Validate: %v; AppendResult: %v", err, writeErr)
		}
		for i := range req.Body { // a result shares no memory with the body
			req.Body[i] = 'X'
		}
		req.Body = body
		if err != nil {
			if _, ok := errors.AsType[*jsontext.SyntaxError](err); !ok {
				t.Fatalf("error %T: %v", err, err)
			}
			return
		}
		order, err := validate.DecodeOrder(req.Input, nil)
		if err != nil {
			t.Fatalf("DecodeOrder: %v", err)
		}
		again, err := validator.Check(order, req)
		if err != nil {
			t.Fatalf("the second time: %v", err)
		}
		text, found := bytes.CutPrefix(written, []byte("before"))
		if !found {
			t.Fatalf("AppendResult changed the existing bytes: %s", written)
		}
		checkWritten(t, first, text)
		checkWritten(t, again, text)
		if first.Valid && !json.Valid(first.Order) {
			t.Fatalf("sent %s", first.Order)
		}
		for _, v := range first.Violations {
			if v.Path != "" && v.Path[0] != '/' {
				t.Fatalf("pointer %q", v.Path)
			}
		}
	})
}

// FuzzUnknownField forwards any value. What is sent is JSON, and is sent again without a change.
func FuzzUnknownField(f *testing.F) {
	for _, seed := range []string{`{"a":[1e3,-0.5,"\"1e5\\"]}`, ` "x" `, `1E-2`, `[]`, `null`, `{`, "\ufeff1", "\"\x01\xff\""} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, value string) {
		first, err := validate.ReadRejection(validate.Input{Body: []byte(`{"x":` + value + `}`)})
		if err != nil {
			return // not JSON
		}
		sent := first.Upstream()
		second, err := validate.ReadRejection(validate.Input{Body: sent})
		if err != nil || !json.Valid(sent) {
			t.Fatalf("%q became %s: %v", value, sent, err)
		}
		if again := second.Upstream(); !bytes.Equal(again, sent) {
			t.Errorf("%q became %s, which became %s", value, sent, again)
		}
	})
}
