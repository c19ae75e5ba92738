package upstream_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"

	"larder.local/internal/upstream"
)

// An order is created. Completing it before it is paid is refused.
func Example() {
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/connect/token":
			_, _ = io.WriteString(w, `{"access_token":"abc","expires_in":3600}`)
		case "/orders/api/v1/orders":
			body, _ := io.ReadAll(r.Body)
			fmt.Printf("service got %s\n", body)
			w.WriteHeader(http.StatusCreated)
			_, _ = io.WriteString(w, `{"result":{"orderID":"765"}}`)
		default:
			w.WriteHeader(http.StatusInternalServerError)
			_, _ = io.WriteString(w, `{"code":"pos_close_order","msg":"not fully paid","requestId":"r1","errors":null}`)
		}
	}))
	defer service.Close()

	client, err := upstream.New(upstream.Config{
		Name:         "main",
		BaseURL:      service.URL,
		AuthURL:      service.URL,
		ClientID:     "demo",
		ClientSecret: "demo-secret",
	}, upstream.Deps{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()

	order := []byte(`{"restaurantID":"r1","dishList":[{"ID":"pos-17","name":"Soup","price":199.9,"quantity":2}]}`)
	ctx := context.Background()
	created, err := client.Write(ctx, upstream.WriteRequest{Operation: upstream.OpCreate, Body: order})
	fmt.Println("created", created.OrderID, err)

	_, err = client.Write(ctx, upstream.WriteRequest{Operation: upstream.OpComplete, OrderID: created.OrderID})
	if refusal, ok := errors.AsType[*upstream.Error](err); ok {
		fmt.Println(refusal.Code, "effect:", refusal.Effect)
	}
	// Output:
	// service got {"restaurantID":"r1","dishList":[{"ID":"pos-17","name":"Soup","price":199.9,"quantity":2}]}
	// created 765 <nil>
	// pos_close_order effect: refused
}
