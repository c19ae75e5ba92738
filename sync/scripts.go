package sync

import (
	"embed"

	"github.com/redis/go-redis/v9"

	"larder/cache"
)

//go:embed *.lua
var luaFiles embed.FS

// The Lua scripts. Each is one step on the keys of one restaurant or of one batch.
var ( //nolint:gochecknoglobals // constants
	acquireScript   = redis.NewScript(lua("acquire.lua"))
	renewScript     = redis.NewScript(lua("renew.lua"))
	finishScript    = redis.NewScript(cache.CheckedLua() + lua("appendrun.lua") + lua("finish.lua"))
	orphanScript    = redis.NewScript(lua("appendrun.lua") + lua("orphan.lua"))
	startScript     = redis.NewScript(lua("start.lua"))
	batchDoneScript = redis.NewScript(lua("batchdone.lua"))
)

func lua(name string) string {
	text, err := luaFiles.ReadFile(name)
	if err != nil {
		panic(err) // it is embedded
	}
	return string(text)
}
