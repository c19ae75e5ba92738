package validate_test

import (
	"fmt"
	"os"
	"testing"

	"larder.local/internal/testkit/leaktest"
	"larder.local/internal/testkit/menutest"
)

func TestMain(m *testing.M) {
	if err := menutest.ShortenForMutants(""); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	leaktest.Main(m)
}
