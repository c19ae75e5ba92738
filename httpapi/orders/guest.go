package orders

import (
	"slices"
	"strings"

	"larder/httpapi/respond"
	"larder/internal/jsontext"
	"larder/ordering"
	"larder/ordering/violation"
)

// checkPublicOrder holds an order without a token to the payment types that
// the configuration leaves to guests (policy H3). It reports the first violation
// only: a body can repeat the field thousands of times (policy H7).
func (h *Handlers) checkPublicOrder(body []byte, language string) error {
	allowed := h.GuestPayments
	var violations []violation.Violation
	reader := jsontext.NewReader(string(body), respond.MaxDepth)
	for name := range reader.Members() {
		if violations != nil || jsontext.FoldName(name) != "paymenttypeid" {
			continue
		}
		if kind, ok := reader.Text(); ok && !slices.Contains(allowed, kind) {
			violations = append(violations, violation.New("/"+name, violation.ValueNotAllowed, violation.Params{"allowed": allowed}, language))
		}
	}
	if err := reader.Err(); err != nil || violations == nil {
		return err
	}
	return &respond.Problem{
		Code: respond.CodeValidationFailed, Violations: violations,
		Msg: "without a token only these payment types are taken: " + strings.Join(allowed, ", ") + "; see errors",
	}
}

// guestView is all that a guest's page may read of an order (policy H3).
type guestView struct {
	State   ordering.State `json:"state"`
	Total   respond.Number `json:"total"`
	OrderID *string        `json:"orderID"`
}
