package ordering

import "larder.local/ordering/validate"

// Canonical returns the canonical form of a body.
func Canonical(body []byte) ([]byte, error) {
	order, err := validate.DecodeOrder(validate.Input{Body: body}, nil)
	return order.Canonical(), err
}

// ErrUnknownConnection is errUnknownConnection.
var ErrUnknownConnection = errUnknownConnection
