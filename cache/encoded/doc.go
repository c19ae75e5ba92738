// Package encoded keeps response bodies of menus in the content encodings that clients accept: identity, gzip,
// brotli and zstd.
//
// Invariant: a Representation never changes, and all encodings of a body have the ETag of the identity body.
// Bodies keeps them within a limit of bytes and builds each once for all concurrent readers. VersionBodies
// removes the bodies of a version together, so that none stays in memory after its version.
//
// Package cache/replica builds and keeps bodies; package httpapi chooses the encoding of a response. This
// package never reads a catalogue, writes no JSON, and knows neither routes nor Redis.
package encoded
