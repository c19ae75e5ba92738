package cache

import (
	"embed"

	"larder/internal/redisdb"
)

//go:embed *.lua
var luaFiles embed.FS

// The Lua scripts. The keys of each share one hash tag (see Keys).
var (
	publishScript     = redisdb.Script(luaFiles, "publish.lua", redisdb.Lua(luaFiles, "fenced.lua"))     //nolint:gochecknoglobals // constant
	raiseFloorScript  = redisdb.Script(luaFiles, "raisefloor.lua")                                       //nolint:gochecknoglobals // constant
	updateStopsScript = redisdb.Script(luaFiles, "updatestops.lua", redisdb.Lua(luaFiles, "fenced.lua")) //nolint:gochecknoglobals // constant
	releaseScript     = redisdb.Script(luaFiles, "release.lua")                                          //nolint:gochecknoglobals // constant
	confirmScript     = redisdb.Script(luaFiles, "confirm.lua")                                          //nolint:gochecknoglobals // constant
	sweepScript       = redisdb.Script(luaFiles, "sweep.lua")                                            //nolint:gochecknoglobals // constant
)

// CheckedLua is a Lua function, checked(current, at, ahead, outcome): it notes with
// Keys.Current when the version was confirmed and how the last run ended
// (policy S3), for the script that ends a run.
func CheckedLua() string { return redisdb.Lua(luaFiles, "checked.lua") }
