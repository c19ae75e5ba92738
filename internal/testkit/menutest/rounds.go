package menutest

import "os"

// Rounds returns how often a long test repeats its steps: few in make test, and many if
// LARDER_THOROUGH is set, as in make race.
func Rounds(few, many int) int {
	if os.Getenv("LARDER_THOROUGH") == "" {
		return few
	}
	return many
}
