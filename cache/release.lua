-- release lifts the hold of a rollback (policy S7a). It needs no lease: a run
-- in flight that still believes in the hold publishes nothing but stop lists.
--
-- KEYS[1] current  hash, the restaurant's current version
--
-- result {version that was held, "released" | "next_change"}, or {} where
-- nothing was held
if redis.call("HGET", KEYS[1], "held") ~= "1" then
  return {}
end
local found = redis.call("HMGET", KEYS[1], "version", "hold")
redis.call("HDEL", KEYS[1], "held", "hold", "holdOf")
return {found[1] or "", found[2] or ""}
