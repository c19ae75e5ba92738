package journal

import (
	_ "embed" // the scripts

	"github.com/redis/go-redis/v9"
)

var (
	//go:embed commit.lua
	commitSource string
	//go:embed read.lua
	readSource string
	//go:embed due.lua
	dueSource string
	//go:embed prune.lua
	pruneSource string
	//go:embed accept.lua
	acceptSource string
)

// scripts are the Lua scripts. The keys of each share one hash tag, because a
// cluster refuses a script whose keys are in several slots.
type scripts struct {
	commit, read, due, prune, accept *redis.Script
}

func newScripts() scripts {
	return scripts{
		commit: redis.NewScript(commitSource),
		read:   redis.NewScript(readSource),
		due:    redis.NewScript(dueSource),
		prune:  redis.NewScript(pruneSource),
		accept: redis.NewScript(acceptSource),
	}
}
