package compat

import (
	"cmp"
	"context"
	"net/http"

	"github.com/gin-gonic/gin"

	"larder/httpapi/auth"
	"larder/httpapi/respond"
	"larder/httpapi/visible"
	"larder/internal/directory"
	"larder/internal/jsontext"
	"larder/internal/setting"
	"larder/internal/upstream"
	"larder/ordering"
)

// Path begins the paths of the compatible API: the ordering service's own
// interface, so that a program that speaks it changes its base URL and nothing
// else. The token endpoint, which both APIs share, stands outside.
const Path = "/orders/api/"

// RejectionReasons answers GET /orders/api/v1/RejectionReasons.
func (h *Handlers) RejectionReasons(c *gin.Context) error {
	connection, err := visible.OnlyConnection(h.deps.Directory, auth.CallerOf(c), visible.ByClient)
	if err != nil {
		return err
	}
	return h.deps.Reasons(c, connection)
}

// restaurantOfQuery reads ?restaurantId=, its name in any spelling.
func restaurantOfQuery(c *gin.Context) (string, error) {
	asked := ""
	for name, values := range c.Request.URL.Query() {
		if jsontext.FoldName(name) != "restaurantid" {
			continue
		}
		for _, value := range values {
			if asked != "" && value != "" && value != asked {
				return "", respond.InvalidParameter("restaurantId", "is given twice, with different values")
			}
			asked = cmp.Or(value, asked)
		}
	}
	return asked, nil
}

// Menu answers GET /orders/api/v1/menu/view: the menu view as the
// ordering service published it, with every field that larder does not know. A
// body, which some clients send, is not read.
func (h *Handlers) Menu(c *gin.Context) error {
	named, err := restaurantOfQuery(c)
	if err != nil {
		return err
	}
	return h.deps.View(c, named)
}

// RefusalErrors is what stands in the `errors` of a refusal on the compatible
// API.
type RefusalErrors string

// The two ways of http.compat.refusal_errors.
const (
	RefusalViolations RefusalErrors = "violations" // everything that is wrong, with paths and codes
	RefusalNone       RefusalErrors = "none"       // null, as in all cases that the interface shows
)

// Config is `http.compat`: what larder's own refusals look like on the
// compatible API. What the ordering service says passes through as it is (policy
// O15).
type Config struct {
	// RefusalStatus is the status of an order, payment or rejection that breaks rules: 400 to 499.
	RefusalStatus int `yaml:"refusal_status"`
	// RefusalErrors is violations or none; msg tells what is wrong in either case.
	RefusalErrors RefusalErrors `yaml:"refusal_errors"`
}

// SetDefaults fills what is not set.
func (cfg *Config) SetDefaults() {
	cfg.RefusalStatus = cmp.Or(cfg.RefusalStatus, http.StatusUnprocessableEntity)
	cfg.RefusalErrors = cmp.Or(cfg.RefusalErrors, RefusalViolations)
}

// Check reports what is wrong with the section.
func (cfg Config) Check() (errs []error) {
	if cfg.RefusalStatus < 400 || cfg.RefusalStatus > 499 {
		errs = append(errs, setting.Errorf("http.compat.refusal_status",
			"%d is not between 400 and 499: the order was not placed, and sending it again does not help", cfg.RefusalStatus))
	}
	return append(errs, setting.OneOf("http.compat.refusal_errors", cfg.RefusalErrors, RefusalViolations, RefusalNone))
}

// Handlers answer the compatible API.
type Handlers struct{ deps Deps }

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
	Note func(c *gin.Context, call respond.OrderCall, result ordering.Result, err error)
}

// Engine places and changes orders; *ordering.Orders is one.
type Engine interface {
	Place(ctx context.Context, order ordering.PlaceRequest) (ordering.Result, error)
	Change(ctx context.Context, change ordering.ChangeRequest) (ordering.Result, error)
}

// New makes the handlers.
func New(deps Deps) *Handlers { return &Handlers{deps: deps} }
