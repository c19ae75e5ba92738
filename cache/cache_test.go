package cache_test

import (
	"testing"

	"larder.local/internal/testkit/cachetest"
	"larder.local/internal/testkit/topology"
)

func TestMain(m *testing.M) {
	topology.Main(m)
}

const bistro = cachetest.Bistro

var noon = cachetest.Noon()
