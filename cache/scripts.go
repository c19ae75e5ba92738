package cache

import (
	"embed"

	"larder/internal/redisdb"
)

//go:embed *.lua
var luaFiles embed.FS

// The Lua scripts. The keys of each share one hash tag (see Keys).
var (
	publishScript     = redisdb.Script(luaFiles, "publish.lua", redisdb.Lua(luaFiles, "fenced.lua"))
	raiseFloorScript  = redisdb.Script(luaFiles, "raisefloor.lua")
	updateStopsScript = redisdb.Script(luaFiles, "updatestops.lua", redisdb.Lua(luaFiles, "fenced.lua"))
	releaseScript     = redisdb.Script(luaFiles, "release.lua")
	confirmScript     = redisdb.Script(luaFiles, "confirm.lua")
	sweepScript       = redisdb.Script(luaFiles, "sweep.lua")
)

// CheckedLua returns a Lua function, checked(current, at, ahead, outcome), for the script that finishes a
// run. It writes to Keys.Current when the version was confirmed and how the last run ended (policy S3).
func CheckedLua() string { return redisdb.Lua(luaFiles, "checked.lua") }
