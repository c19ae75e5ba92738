-- updatestops stores the stop lists that the ordering service publishes with the
-- current version, if they do not change the menu of this restaurant: no new version,
-- no notice. It refuses and changes nothing if another publisher was first (policy
-- S2). All keys share the restaurant's hash tag.
--
-- KEYS[1] current  hash, the restaurant's current version
-- KEYS[2] fence    hash {fence, run}; see fenced.lua
-- KEYS[3] staged stop values, which expire
-- KEYS[4] the version's stop values
-- KEYS[5] published hash; see mirror.lua
-- ARGV[1] publisher: "fencing number run"; see fenced.lua
-- ARGV[2] version that must be current
-- ARGV[3] size of the stop values in bytes
-- ARGV[4 ..]  fields and values of current
--
-- result {"ok"}
--        {"fenced", stored fencing number}
--        {"stale", current version}
--        {"incomplete", staged key} it has expired: stage it again
local refused = fenced(KEYS[2], ARGV[1], KEYS[1], ARGV[2])
if refused then
  return refused
end
if redis.call("STRLEN", KEYS[3]) ~= tonumber(ARGV[3]) then
  return {"incomplete", KEYS[3]}
end
redis.call("RENAME", KEYS[3], KEYS[4])
redis.call("PERSIST", KEYS[4])
for i = 4, #ARGV, 2 do
  redis.call("HSET", KEYS[1], ARGV[i], ARGV[i + 1])
end
mirror(KEYS[1], KEYS[5])
return {"ok"}
