package cache

import (
	"embed"

	"larder.local/internal/redisdb"
)

//go:embed *.lua
var luaFiles embed.FS

// The Lua scripts. All keys of one script have the same hash tag, as a cluster requires (see Keys).
var (
	publishScript     = redisdb.Script(luaFiles, "publish.lua", redisdb.Lua(luaFiles, "fenced.lua"))
	takeOverScript    = redisdb.Script(luaFiles, "takeover.lua")
	raiseFloorScript  = redisdb.Script(luaFiles, "raisefloor.lua")
	updateStopsScript = redisdb.Script(luaFiles, "updatestops.lua", redisdb.Lua(luaFiles, "fenced.lua"), redisdb.Lua(luaFiles, "mirror.lua"))
	releaseScript     = redisdb.Script(luaFiles, "release.lua", redisdb.Lua(luaFiles, "mirror.lua"))
	confirmScript     = redisdb.Script(luaFiles, "confirm.lua")
	sweepScript       = redisdb.Script(luaFiles, "sweep.lua")
	restrictScript    = redisdb.Script(luaFiles, "restrict.lua")
	quarantineScript  = redisdb.Script(luaFiles, "quarantine.lua")
)

// CheckedLua returns the source of the Lua functions checked(current, at, ahead, outcome) and mirror(current, published), for
// the script that finishes a run. checked stores two fields in Keys.Current: the time of the last confirmation, and the outcome
// of the last run (policy S3). mirror copies them to Keys.Published.
func CheckedLua() string {
	return redisdb.Lua(luaFiles, "checked.lua") + redisdb.Lua(luaFiles, "mirror.lua")
}
