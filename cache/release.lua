-- release ends the hold of a rollback (policy S7a). It needs no lease: a run that has
-- read the hold before publishes only stop lists.
--
-- KEYS[1] current  hash, the restaurant's current version
-- KEYS[2] published hash; see mirror.lua
--
-- result {held version, "released" | "next_change"}, or {} if there is no hold
if redis.call("HGET", KEYS[1], "held") ~= "1" then
  return {}
end
local found = redis.call("HMGET", KEYS[1], "version", "hold")
redis.call("HDEL", KEYS[1], "held", "hold", "holdOf")
mirror(KEYS[1], KEYS[2])
return {found[1] or "", found[2] or ""}
