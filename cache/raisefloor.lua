-- raisefloor notes that an instance serves a version of a restaurant that Redis has
-- lost: it raises the floor to that version (policy S2a). It does nothing where
-- Redis has the version, a later one, or a floor as high.
--
-- KEYS[1] current  hash, the restaurant's current version
-- KEYS[2] fence    hash whose field floor is the highest version lost
-- ARGV[1] version that is served, or the floor that its instance knows of where
--         that is higher
-- ARGV[2] content of the version that is served
-- ARGV[3] when it was pulled, as the field syncedAt of current
--
-- result {floor, 1 raised | 0 as it was}
local stored = redis.call("HMGET", KEYS[1], "version", "content", "syncedAt")
local version, served = tonumber(stored[1] or "0"), tonumber(ARGV[1])
local floor = tonumber(redis.call("HGET", KEYS[2], "floor") or "0")
if floor >= served or version > served
    or version == served and stored[2] == ARGV[2] and stored[3] == ARGV[3] then
  return {floor, 0}
end
redis.call("HSET", KEYS[2], "floor", ARGV[1])
return {served, 1}
