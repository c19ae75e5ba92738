-- raisefloor records that an instance serves a version that Redis has lost: it raises
-- the floor to that version (policy S2a). It does nothing if Redis has this version
-- or a later one, or if the floor is already as high.
--
-- KEYS[1] current  hash, the restaurant's current version
-- KEYS[2] fence    hash; its field floor is the highest lost version
-- ARGV[1] the served version, or the floor that the instance knows if it is higher
-- ARGV[2] content of the served version
-- ARGV[3] time of its sync, as in the field syncedAt of current
--
-- result {floor, 1 raised | 0 unchanged}
local stored = redis.call("HMGET", KEYS[1], "version", "content", "syncedAt")
local version, served = tonumber(stored[1] or "0"), tonumber(ARGV[1])
local floor = tonumber(redis.call("HGET", KEYS[2], "floor") or "0")
if floor >= served or version > served
    or version == served and stored[2] == ARGV[2] and stored[3] == ARGV[3] then
  return {floor, 0}
end
redis.call("HSET", KEYS[2], "floor", ARGV[1])
return {served, 1}
