// Package configs is larder's configuration: one struct composed of each
// room's own Config, read from one YAML file and the environment.
//
// Load does everything between the file and a configuration that can be
// relied on: defaults, the file (strict: an unknown key is an error), the
// LARDER_… environment over it, secrets from files and ${NAME}, and the checks
// of every room and between rooms. It reports all problems at once, each with
// file, line and column (or the variable's name) and what to do about it.
//
// The package starts nothing and opens no connection. cmd/larder is its caller.
package configs
