// Package validate decides whether an order, or a change of one, may be sent to
// the ordering service, and makes the body that is sent.
//
// Its one invariant: what it accepts is right by the catalogue that the order was
// checked against. Every dish and ingredient is known and available, every group
// of every chosen scheme is within its limits, every price is the catalogue's,
// and every mandatory field is present. It rejects a body with all violations at
// once, each with a JSON Pointer into the client's own body.
//
// A body is decoded once, into an Order, Payments or a Rejection: the fields with
// their places, and the canonical form that a fingerprint is made of. A Validator
// checks an Order by a catalogue: checkDishes finds the dishes and counts their groups
// (assign), price computes the lines, fieldCheck checks the rest, and mapping makes
// the body that is sent. An order that nests deeper than menus usually do is decoded
// again if its catalogue has another depth.
//
// ordering checks with it what it places and changes; httpapi answers the validate
// route with it. It reads no journal and calls no service. Only the clock makes
// two results of the same order differ. It may be used by any number of
// goroutines.
package validate
