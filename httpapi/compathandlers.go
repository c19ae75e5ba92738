package httpapi

import (
	"context"

	"github.com/gin-gonic/gin"

	"larder/internal/directory"
	"larder/internal/menu"
	"larder/internal/upstream"
	"larder/ordering"
)

// compatHandlers answer the compatible API.
type compatHandlers struct{ compatDeps }

// compatDeps is what the handlers work with. What the other interface does too
// is a function: both do the same.
type compatDeps struct {
	Orders    compatEngine
	Directory *directory.Directory
	// FieldCase returns how the orders of a connection are spelt.
	FieldCase func(connection string) upstream.FieldCase
	// View and Reasons answer with a menu view and with the reasons of a connection.
	View    func(c *gin.Context, restaurant string) error
	Reasons func(c *gin.Context, connection string) error
	// Note counts and logs what came of placing or changing an order.
	Note func(c *gin.Context, call compatCall, result ordering.Result, err error)
}

// compatEngine places and changes orders; *ordering.Orders is one.
type compatEngine interface {
	Place(ctx context.Context, order ordering.PlaceRequest) (ordering.Result, error)
	Change(ctx context.Context, change ordering.ChangeRequest) (ordering.Result, error)
}

// compatCall is what a request wants of an order, for the log and the metrics.
type compatCall struct {
	Operation  ordering.Operation
	Connection string
	Restaurant menu.RestaurantID // of a placing request
	OrderID    string            // of a changing one
}

// newCompatHandlers makes the handlers.
func newCompatHandlers(deps compatDeps) *compatHandlers { return &compatHandlers{compatDeps: deps} }
