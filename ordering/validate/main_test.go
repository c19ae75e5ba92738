package validate_test

import (
	"fmt"
	"os"
	"testing"

	"larder/internal/testkit/leaktest"
	"larder/internal/testkit/menutest"
)

func TestMain(m *testing.M) {
	if err := menutest.ShortenForMutants(""); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	leaktest.Main(m)
}
