package sync

import (
	"embed"

	"github.com/redis/go-redis/v9"

	"larder/cache"
	"larder/sync/runlog"
)

//go:embed acquire.lua renew.lua finish.lua start.lua
var luaFiles embed.FS

// The Lua scripts. Each is one step on the keys of one restaurant.
// They get a bool as 1 or 0.
var (
	acquireScript = redis.NewScript(lua("acquire.lua"))                                          //nolint:gochecknoglobals // constant
	renewScript   = redis.NewScript(lua("renew.lua"))                                            //nolint:gochecknoglobals // constant
	finishScript  = redis.NewScript(cache.CheckedLua() + runlog.AppendLua() + lua("finish.lua")) //nolint:gochecknoglobals // constant
	startScript   = redis.NewScript(lua("start.lua"))                                            //nolint:gochecknoglobals // constant
)

func lua(name string) string {
	text, err := luaFiles.ReadFile(name)
	if err != nil {
		panic(err) // it is embedded
	}
	return string(text)
}
