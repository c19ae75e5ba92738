package cache

import (
	"embed"

	"github.com/redis/go-redis/v9"
)

//go:embed *.lua
var luaFiles embed.FS

// The Lua scripts. The keys of each share one hash tag (see Keys).
var (
	publishScript     = redis.NewScript(lua("fenced.lua") + lua("publish.lua"))     //nolint:gochecknoglobals // constant
	raiseFloorScript  = redis.NewScript(lua("raisefloor.lua"))                      //nolint:gochecknoglobals // constant
	updateStopsScript = redis.NewScript(lua("fenced.lua") + lua("updatestops.lua")) //nolint:gochecknoglobals // constant
	releaseScript     = redis.NewScript(lua("release.lua"))                         //nolint:gochecknoglobals // constant
	confirmScript     = redis.NewScript(lua("confirm.lua"))                         //nolint:gochecknoglobals // constant
	sweepScript       = redis.NewScript(lua("sweep.lua"))                           //nolint:gochecknoglobals // constant
)

func lua(name string) string {
	text, err := luaFiles.ReadFile(name)
	if err != nil {
		panic(err) // it is embedded
	}
	return string(text)
}

// CheckedLua is a Lua function, checked(current, at, ahead, outcome): it notes with
// Keys.Current when the version was confirmed and how the last run ended
// (policy S3), for the script that ends a run.
func CheckedLua() string { return lua("checked.lua") }
