package compare

import (
	"maps"
	"math/rand/v2"
	"slices"
	"time"
)

const (
	posError = `{"code":"ERR_EXTERNAL_ERROR_WS","msg":"not enough money","requestId":"r-1","errors":null}`
	plain    = `{"code":"pos_close_order","msg":"not paid","requestId":"r-2","errors":null}`
)

// faults are the kinds of a service's failures. The first of the list is no failure.
func faults() []fault {
	list := []fault{
		{Name: "unread", Unread: true},
		{Name: "unread always", Unread: true, Always: true},
		{Name: "closed without a response", Cut: true},
		{Name: "half a response", Response: "HTTP/1.1 201 Created\r\nContent-Type: application/json\r\nContent-Length: 200\r\n\r\n{\"result\":", Cut: true},
		{Name: "no status line", Response: "hello\r\n\r\n", Cut: true},
		{Name: "no orderID", Response: respond("201 Created", `{"result":{}}`)},
		{Name: "orderID 0", Response: respond("201 Created", `{"result":{"orderID":"0"}}`)},
		{Name: "orderID is a number", Response: "HTTP/1.1 201 Created\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n{\"result\":{\"orderID\":%d}}", Cut: true},
		{Name: "an unknown member", Response: "HTTP/1.1 201 Created\r\nConnection: close\r\n\r\n{\"result\":{\"orderID\":\"%d\",\"more\":1},\"extra\":[]}", Cut: true},
		{Name: "the orderID of another order", Response: respond("201 Created", `{"result":{"orderID":"1"}}`)},
		{Name: "a page", Response: "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 15\r\n\r\n<html>hi</html>"},
		{Name: "late", Response: respond("200 OK", `{"result":{}}`), Wait: 4500 * time.Millisecond},
	}
	for _, status := range []string{"200 OK", "204 No Content", "302 Found", "400 Bad Request", "401 Unauthorized", "403 Forbidden", "404 Not Found", "409 Conflict", "422 Unprocessable Entity", "429 Too Many Requests", "500 Internal Server Error", "502 Bad Gateway", "503 Service Unavailable", "504 Gateway Timeout"} {
		for name, body := range map[string]string{"POS": posError, "plain": plain, "empty": "", "no JSON": "busy", "success": `{"result":{}}`} {
			response := respond(status, body)
			if status[:3] == "204" {
				response = "HTTP/1.1 204 No Content\r\n\r\n"
			}
			list = append(list, fault{Name: status + ", " + name, Response: response}, fault{Name: status + ", " + name + ", always", Response: response, Always: true})
		}
	}
	slices.SortFunc(list, func(a, b fault) int { // a map has no order
		if a.Name < b.Name {
			return -1
		}
		return 1
	})
	return list
}

// fault returns what the ordering service does in the next step: mostly what it should.
// A late response takes seconds, so it is rare.
func (p *orderPlan) fault() fault {
	if p.rng.IntN(5) > 0 {
		return fault{}
	}
	f := pick(p.rng, p.faults)
	if f.Wait > 0 && p.rng.IntN(10) > 0 {
		return fault{}
	}
	return f
}

func pick[T any](rng *rand.Rand, from []T) T { return from[rng.IntN(len(from))] }

func sortedKeys[T any](m map[string]T) []string { return slices.Sorted(maps.Keys(m)) }
