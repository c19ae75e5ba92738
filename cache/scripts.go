package cache

import (
	_ "embed" // the scripts

	"github.com/redis/go-redis/v9"
)

var (
	//go:embed publish.lua
	publishSource string
	//go:embed restate.lua
	restateSource string
	//go:embed checked.lua
	checkedSource string
	//go:embed release.lua
	releaseSource string
	//go:embed touch.lua
	touchSource string
	//go:embed sweep.lua
	sweepSource string
)

// scripts are the Lua scripts; the keys of each share one hash tag (trap 4).
type scripts struct {
	publish, restate, checked, release, touch, sweep *redis.Script
}

func newScripts() scripts {
	return scripts{
		publish: redis.NewScript(publishSource),
		restate: redis.NewScript(restateSource),
		checked: redis.NewScript(checkedSource),
		release: redis.NewScript(releaseSource),
		touch:   redis.NewScript(touchSource),
		sweep:   redis.NewScript(sweepSource),
	}
}
