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
// goroutines. Orders takes an order through its life: it places, pays,
// completes and rejects it, each at most once.
//
// The way of a call is short, and the same for all four: what was asked for is
// looked up by its key (a replay is answered at once, whatever the menu says
// now), checked, begun in the Journal, made, ended in the Journal, and told
// from the Record. So nothing leaves that is not on record, nothing is sent
// twice, and the second answer is the first one's equal. An ending that the
// Journal does not take waits for it; Orders.Run writes it, and moves calls
// that nobody ended to unknown, which a person settles by Orders.Resolve. What
// is known for certain of a call, and what is not, the Outcome tells (policy
// O8).
//
// The package knows the menu and the wire types of the ordering service, and
// neither HTTP routing nor Redis. It logs neither bodies nor keys nor guests.
package ordering
