package metrics_test

import (
	"testing"

	"larder/internal/testkit/apicoverage"
)

func TestMain(m *testing.M) { apicoverage.Main(m) }
