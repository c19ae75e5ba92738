package cache

import (
	"embed"

	"larder/internal/redisdb"
)

//go:embed *.lua
var luaFiles embed.FS

// The Lua scripts. All keys of one script have the same hash tag, as a cluster requires (see Keys).
var (
	publishScript     = redisdb.Script(luaFiles, "publish.lua", redisdb.Lua(luaFiles, "fenced.lua"))
	raiseFloorScript  = redisdb.Script(luaFiles, "raisefloor.lua")
	updateStopsScript = redisdb.Script(luaFiles, "updatestops.lua", redisdb.Lua(luaFiles, "fenced.lua"))
	releaseScript     = redisdb.Script(luaFiles, "release.lua")
	confirmScript     = redisdb.Script(luaFiles, "confirm.lua")
	sweepScript       = redisdb.Script(luaFiles, "sweep.lua")
)

// CheckedLua returns the source of the Lua function checked(current, at, ahead, outcome), for the script that finishes a run.
// checked stores two fields in Keys.Current: the time of the last confirmation, and the outcome of the last run (policy S3).
func CheckedLua() string { return redisdb.Lua(luaFiles, "checked.lua") }
