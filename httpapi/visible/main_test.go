package visible_test

import (
	"testing"

	"larder.local/internal/testkit/apicoverage"
)

func TestMain(m *testing.M) { apicoverage.Main(m) }
