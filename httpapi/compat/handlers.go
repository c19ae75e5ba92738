package compat

import (
	"context"

	"github.com/gin-gonic/gin"

	"larder/internal/directory"
	"larder/internal/menu"
	"larder/internal/upstream"
	"larder/ordering"
)

// Handlers answer the compatible API.
type Handlers struct{ Deps }

// Deps is what the handlers work with. What the other interface does too
// is a function: both do the same.
type Deps struct {
	Orders    Engine
	Directory *directory.Directory
	// FieldCases are how the orders of each connection are spelt.
	FieldCases map[string]upstream.FieldCase
	// View and Reasons answer with a menu view and with the reasons of a connection.
	View    func(c *gin.Context, restaurant string) error
	Reasons func(c *gin.Context, connection string) error
	// Note counts and logs what came of placing or changing an order.
	Note func(c *gin.Context, call Call, result ordering.Result, err error)
}

// Engine places and changes orders; *ordering.Orders is one.
type Engine interface {
	Place(ctx context.Context, order ordering.PlaceRequest) (ordering.Result, error)
	Change(ctx context.Context, change ordering.ChangeRequest) (ordering.Result, error)
}

// Call is what a request wants of an order, for the log and the metrics.
type Call struct {
	Operation  ordering.Operation
	Connection string
	Restaurant menu.RestaurantID // of a placing request
	OrderID    string            // of a changing one
}

// New makes the handlers.
func New(deps Deps) *Handlers { return &Handlers{Deps: deps} }
