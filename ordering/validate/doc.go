// Package validate decides whether an order, or a change of one, may be sent to the ordering
// service, and creates the body to send.
//
// Its one invariant: an order that it accepts is valid for the catalogue that it was checked against. Every
// dish and ingredient is known and available, every group of every chosen scheme is within its limits, every
// price is the catalogue's, and every mandatory field is present. For an invalid body it returns all
// violations at once, each with a JSON Pointer into the client's own body.
//
// A body is decoded into an Order, Payments or a Rejection: the fields with their positions. Its canonical form, for the
// fingerprint, is written from the text. A Validator checks an Order against a catalogue in steps: checkDishes finds what the menu
// has for each line, and counts the groups of each list (assign), price returns the totals, checkFields checks the other
// fields, and upstreamOrder returns the body to send. An order with more levels than usual is decoded again if its
// catalogue has a different depth limit. A violation has the offset of its value; its JSON Pointer is found in the body
// when the violations are listed (notes).
//
// ordering uses the package before it places or changes an order; httpapi uses it for the validate
// route. It reads no journal and calls no service. For the same order and catalogue, the result
// depends only on the clock. The package is safe for concurrent use, unless a type says otherwise.
package validate
