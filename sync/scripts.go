package sync

import (
	_ "embed" // the scripts

	"github.com/redis/go-redis/v9"

	"larder/cache"
)

var (
	//go:embed acquire.lua
	acquireSource string
	//go:embed renew.lua
	renewSource string
	//go:embed finish.lua
	finishSource string
	//go:embed keeprun.lua
	keepRunSource string
	//go:embed lost.lua
	lostSource string
	//go:embed start.lua
	startSource string
	//go:embed batchdone.lua
	batchDoneSource string
)

// scripts are the Lua scripts; each is one step on the keys of one restaurant,
// or of one batch.
type scripts struct {
	acquire, renew, finish, lost, start *redis.Script
	batchDone                           *redis.Script
}

func newScripts() scripts {
	return scripts{
		acquire: redis.NewScript(acquireSource),
		renew:   redis.NewScript(renewSource),
		finish:  redis.NewScript(cache.CheckedLua() + keepRunSource + finishSource),
		lost:    redis.NewScript(keepRunSource + lostSource),
		start:   redis.NewScript(startSource),

		batchDone: redis.NewScript(batchDoneSource),
	}
}
