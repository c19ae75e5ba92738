package cache_test

import (
	"testing"

	"larder/internal/testkit/cachetest"
	"larder/internal/testkit/topology"
)

func TestMain(m *testing.M) {
	topology.Main(m)
}

const bistro = cachetest.Bistro

var noon = cachetest.Noon()
