package menutest

import (
	"flag"
	"os"
)

// ShortenForMutants makes the tests quick enough to be run once for each mutant,
// when LARDER_MUTATION is set: properties are tried on fewer examples, and the
// tests that the pattern skip matches are left out. What only they notice counts
// as not noticed.
func ShortenForMutants(skip string) error {
	if os.Getenv("LARDER_MUTATION") == "" {
		return nil
	}
	flag.Parse()
	if err := flag.Set("rapid.checks", "25"); err != nil {
		return err
	}
	return flag.Set("test.skip", skip)
}
