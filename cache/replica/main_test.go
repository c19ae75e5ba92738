package replica

import (
	"os"
	"testing"

	"larder.local/internal/testkit/cachetest"
	"larder.local/internal/testkit/topology"
)

func TestMain(m *testing.M) {
	if url := os.Getenv(publisherOf); url != "" {
		os.Exit(publisher(url))
	}
	topology.Main(m)
}

const bistro = cachetest.Bistro

var noon = cachetest.Noon()
