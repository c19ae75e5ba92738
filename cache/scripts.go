package cache

import (
	_ "embed" // the scripts

	"github.com/redis/go-redis/v9"
)

var (
	//go:embed publish.lua
	publishSource string
	//go:embed fenced.lua
	fencedSource string
	//go:embed restate.lua
	restateSource string
	//go:embed checked.lua
	checkedSource string
	//go:embed raise.lua
	raiseSource string
	//go:embed release.lua
	releaseSource string
	//go:embed touch.lua
	touchSource string
	//go:embed sweep.lua
	sweepSource string
)

// scripts are the Lua scripts. The keys of each share one hash tag (see Keys).
type scripts struct {
	publish, raise, restate, release, touch, sweep *redis.Script
}

func newScripts() scripts {
	return scripts{
		publish: redis.NewScript(fencedSource + publishSource),
		raise:   redis.NewScript(raiseSource),
		restate: redis.NewScript(fencedSource + restateSource),
		release: redis.NewScript(releaseSource),
		touch:   redis.NewScript(touchSource),
		sweep:   redis.NewScript(sweepSource),
	}
}

// CheckedLua is a Lua function, checked(current, at, ahead, outcome): it notes with
// Keys.Current when the version was confirmed and how the last run ended
// (policy S3), for the script that ends a run.
func CheckedLua() string { return checkedSource }
