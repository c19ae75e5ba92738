// Package cli is the command line as a client of a running larder: order, menu,
// sync, status, init, check and config, and what every command shares: flags, the
// environment, output, completion, errors and hints.
//
// Nothing reaches a terminal but through Printer, which escapes control characters
// (policy H9). Run turns the error of a command into an exit status, one message with
// what to do next, or the JSON of both.
//
// The program (cmd/larder) makes the Environment, adds its own commands to Root and
// calls Run. The demo (internal/demo) shares flags and output, and the forms in which
// the commands read orders and menus. The package never starts a daemon or a
// sandbox: a command calls a running larder, or reads files. Only check, init and
// menu diff ask Redis or an ordering service themselves.
package cli
