// Package menus answers reads of menus, products, changes, restaurants and rejection reasons.
// It selects the body and its encoding, and compares the client's ETag.
//
// The handlers behind net/http and the handler of the fast path use the same functions and
// return the same bytes. Encoded bodies come from the replica. httpapi registers both.
// The package never writes, and never reads a menu or a dish from Redis if it is in memory.
package menus
