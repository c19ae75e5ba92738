-- release ends the hold of a rollback (policy S7a). It needs no lease: a run that has
-- read the hold before publishes only stop lists.
--
-- KEYS[1] current  hash, the restaurant's current version
-- KEYS[2] published hash; see mirror.lua
--
-- result {held version, "released" | "next_change"}, or {} if there is no hold
local current = KEYS[1]
if redis.call("EXISTS", current) == 0 and not redis.call("HGET", KEYS[2], "source") then
  current = KEYS[2] -- of an older version of larder (policy O20)
end
if redis.call("HGET", current, "held") ~= "1" then
  return {}
end
local found = redis.call("HMGET", current, "version", "hold")
redis.call("HDEL", current, "held", "hold", "holdOf")
mirror(KEYS[1], KEYS[2])
return {found[1] or "", found[2] or ""}
