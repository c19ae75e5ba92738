package upstream_test

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	"larder.local/internal/upstream"
)

func TestReadResponseBody(t *testing.T) {
	t.Parallel()
	for body, want := range map[string][4]string{
		`{"result":{"orderID":"765"}}`:                               {"765"},
		`{"result":{"orderId":9007199254740993}}`:                    {"9007199254740993"},
		`{"Result":{"order_id":"x"}}`:                                {"x"},
		`{"orderid":5}`:                                              {"5"},
		`{"orderID":"bare","result":{"orderID":"inner"}}`:            {""}, // nobody knows which of them is meant
		`{"orderID":"765","order_id":"766"}`:                         {""},
		`{"result":{"orderID":"765","orderid":765}}`:                 {"765"},
		`{"orderID":765,"result":{"orderID":"765"}}`:                 {"765"},
		`{"orderID":0,"result":{"orderID":"765"}}`:                   {"765"},
		`{"orderID":"bare","result":{}}`:                             {"bare"},
		`{"result":{"orderID":null}}`:                                {""},
		`{"result":{"orderID":{}}}`:                                  {""},
		`{"result":"text"}`:                                          {""},
		`{"code":"c","msg":"m","requestID":7,"errors":null}`:         {"", "c", "m", "7"},
		`{"Code":404,"MSG":"m","request_id":"r","errors":[{"a":1}]}`: {"", "404", "m", "r"},
		`{"code":{},"msg":[]}`:                                       {},
		`["code"]`:                                                   {},
		`<html>`:                                                     {},
	} {
		var got [4]string
		var isJSON bool
		got[0], got[1], got[2], got[3], isJSON = upstream.ReadResponseBody([]byte(body))
		if got != want || isJSON != json.Valid([]byte(body)) {
			t.Errorf("ReadResponseBody(%s) = %q, JSON %v, want %q", body, got, isJSON, want)
		}
	}
}

func FuzzReadResponseBody(f *testing.F) {
	for _, seed := range []string{
		`{"result":{"orderID":"765"}}`, `{"result":{"orderId":9007199254740993}}`, "\ufeff{}", `<html>`, "",
		`{"code":"pos_close_order","msg":"not paid","requestId":"r","errors":null}`, `{"result":[`, `[[[[]]]]`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		orderID, code, msg, requestID, isJSON := upstream.ReadResponseBody(body)
		if !isJSON && orderID+code+msg+requestID != "" {
			t.Errorf("ReadResponseBody(%q) found %q %q %q %q, but the body is not JSON", body, orderID, code, msg, requestID)
		}
	})
}

func FuzzReadReasons(f *testing.F) {
	for _, seed := range []string{
		`{"result":[{"ID":"1","reason":"late","type":"simple","isPossibleDelete":true}]}`,
		`[{"id":1}]`, `{"result":null}`, `{"result":[7]}`, `null`, `{`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		reasons, err := upstream.ReadReasons(body)
		if err != nil {
			if !errors.Is(err, upstream.ErrResponse) {
				t.Errorf("ReadReasons(%q) = %v, want ErrResponse", body, err)
			}
			return
		}
		encoded, err := json.Marshal(reasons)
		if err != nil {
			t.Fatal(err)
		}
		again, err := upstream.ReadReasons(encoded)
		if err != nil || len(again) != len(reasons) {
			t.Errorf("ReadReasons(%s) = %v, %v, want %v again", encoded, again, err, reasons)
		}
	})
}

func FuzzReadTokenReply(f *testing.F) {
	for _, seed := range []string{
		`{"access_token":"abc","expires_in":3600}`, `{"access_token":"h.eyJleHAiOjF9.s"}`,
		`{"result":{"access_token":"abc","expires_in":"9e9"}}`, `{"expires_in":-1}`, `{"error":"invalid_client"}`,
	} {
		f.Add([]byte(seed))
	}
	now := time.Unix(1_800_000_000, 0)
	f.Fuzz(func(t *testing.T, body []byte) {
		token, lifetime := upstream.ReadTokenReply(body, now)
		if lifetime <= 0 || lifetime > 365*24*time.Hour {
			t.Errorf("ReadTokenReply(%q) = %q for %s, want more than 0 and at most a year", body, token, lifetime)
		}
	})
}
