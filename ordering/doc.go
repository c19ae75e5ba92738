// Package ordering decides whether an order may go to the kitchen, and sends
// it there.
//
// Its one invariant: what it lets through is right by the catalogue the order
// was checked against: every dish and ingredient known and available, every
// group of every chosen scheme within its limits, every price the catalogue's,
// every mandatory field there. What it refuses, it refuses with every reason
// at once, each with a JSON Pointer into the client's own body.
//
// The Validator is pure but for its clock and may be used by any number of
// goroutines. The Placer validates and then makes the one call that creates
// the order; it never makes that call twice. The package knows the menu and
// the wire types of the ordering service, and neither HTTP routing nor Redis.
package ordering
