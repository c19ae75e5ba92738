package sandbox

import (
	"iter"
	"net/http"
	"time"
)

type tokenBook struct{}
type menuStore struct{}
type orderBook struct{}
type faultList struct{}
type counters struct{}

func (s *Sandbox) router() http.Handler { return http.NotFoundHandler() }

// SetMenu .
func (s *Sandbox) SetMenu(restaurantID string, raw []byte) {}

// SetGenerated .
func (s *Sandbox) SetGenerated(g Generate) {}

// Bistro .
func Bistro(restaurantID, imageBase string) []byte { return []byte("{}") }

// Generate .
type Generate struct {
	Restaurants, Products int
	Seed                  int64
	ChainSize             int
	ImageBase             string
}

// Menus .
func (g Generate) Menus() iter.Seq2[string, []byte] { return func(func(string, []byte) bool) {} }

// RestaurantID .
func (g Generate) RestaurantID(i int) string { return "" }

// Menu .
func (g Generate) Menu(i int) []byte { return nil }

// Orderer makes valid orders for one menu.
type Orderer struct{}

// OrderOptions .
type OrderOptions struct {
	Lines       int
	Delivery    bool
	ExternalIDs bool
	ExpectedAt  time.Time
}

// NewOrderer .
func NewOrderer(raw []byte, restaurantID string, seed int64) (*Orderer, error) { return nil, nil }

// Next .
func (o *Orderer) Next(opt OrderOptions) []byte { return nil }
