-- finish ends a run. It moves the record to the finished runs and removes the oldest
-- one, releases the lease, and updates the state of the current version.
--
-- KEYS[1] lease   hash {run, force, alone}
-- KEYS[2] fence   hash {fence, slot, run}
-- KEYS[3] records hash, see appendrun.lua
-- KEYS[4] log     stream of finished runs, see appendrun.lua
-- KEYS[5] current hash, the restaurant's current version
-- KEYS[6] published hash; see mirror.lua
-- ARGV[1..7] the run; see appendrun.lua
-- ARGV[8] time at which the current version was confirmed; "" = not confirmed
-- ARGV[9] outcome for the current version; "" = none
-- ARGV[10] a time after ARGV[8]; see checked.lua
--
-- result 1 written
--        0 the run was declared lost and keeps that record
--        2 nothing changed: the confirmed version does not exist
local own = redis.call("HGET", KEYS[2], "run") == ARGV[1]
if own and ARGV[9] ~= "" and checked(KEYS[5], ARGV[8], ARGV[10], ARGV[9]) == 0 and ARGV[8] ~= "" then
  return 2
end
if own then
  mirror(KEYS[5], KEYS[6])
end
if redis.call("HGET", KEYS[1], "run") == ARGV[1] then
  redis.call("DEL", KEYS[1])
end
if not own then
  return 0
end
redis.call("HDEL", KEYS[2], "run")
appendrun(KEYS[3], KEYS[4])
return 1
