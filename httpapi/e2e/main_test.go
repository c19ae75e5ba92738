// Package e2e_test has the tests that span several packages below httpapi.
package e2e_test

import (
	"testing"

	"larder.local/internal/testkit/apicoverage"
)

func TestMain(m *testing.M) { apicoverage.Main(m) }
