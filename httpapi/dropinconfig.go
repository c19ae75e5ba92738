package httpapi

import (
	"net/http"

	"larder/internal/setting"
)

// RefusalErrors says what stands in the `errors` of a refusal on the drop-in
// face.
type RefusalErrors string

// The two ways of http.compat.refusal_errors.
const (
	RefusalViolations RefusalErrors = "violations" // everything that is wrong, with paths and codes
	RefusalNone       RefusalErrors = "none"       // null, as in all cases that the interface shows
)

// CompatConfig is `http.compat`: what larder's own refusals look like on the
// drop-in face. What the ordering service says passes through as it is (policy
// O15).
type CompatConfig struct {
	// RefusalStatus is the status of an order, payment or rejection that breaks rules: 400 to 499.
	RefusalStatus int `yaml:"refusal_status"`
	// RefusalErrors is violations or none; msg tells what is wrong in either case.
	RefusalErrors RefusalErrors `yaml:"refusal_errors"`
}

// SetDefaults fills what is not set.
func (cfg *CompatConfig) SetDefaults() {
	if cfg.RefusalStatus == 0 {
		cfg.RefusalStatus = http.StatusUnprocessableEntity
	}
	if cfg.RefusalErrors == "" {
		cfg.RefusalErrors = RefusalViolations
	}
}

// check reports what is wrong with the section.
func (cfg CompatConfig) check() (errs []error) {
	if cfg.RefusalStatus < 400 || cfg.RefusalStatus > 499 {
		errs = append(errs, setting.Errorf("http.compat.refusal_status", "%d is not between 400 and 499: the order was not placed, and sending it again does not help", cfg.RefusalStatus))
	}
	switch cfg.RefusalErrors {
	case RefusalViolations, RefusalNone:
	default:
		errs = append(errs, setting.Errorf("http.compat.refusal_errors", "%q is none of violations, none", string(cfg.RefusalErrors)))
	}
	return errs
}
