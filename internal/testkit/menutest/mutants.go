package menutest

import (
	"flag"
	"os"
)

// ShortenForMutants shortens the tests for one run per mutant if LARDER_MUTATION is
// set: properties use fewer examples, and tests that match the pattern skip are
// omitted. A mutant that only these tests notice counts as not noticed.
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
