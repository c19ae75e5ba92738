// Package cli contains the commands that are clients of a running daemon (order, menu, sync, status), the commands
// init, check and config, and what all commands share: flags, the environment, output, completion, errors and hints.
//
// All output to a terminal goes through Printer, which escapes control characters (policy H9). Run converts
// the error of a command into an exit status, and one message with a hint or one JSON object.
//
// cmd/larder creates the Environment, adds its own commands to Root and calls Run. cmd/larder/demo
// uses the flags, the output and the types of orders and menus. The package never starts a daemon
// or a sandbox. Only check, init and menu diff connect to Redis or an ordering service directly.
package cli
