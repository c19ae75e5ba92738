-- finish ends a run. It moves the record to the finished runs and removes the oldest
-- one, releases the lease, and updates the state of the current version.
--
-- KEYS[1] lease   hash {run, force, alone}
-- KEYS[2] fence   hash {fence, slot, run}
-- KEYS[3] records hash, see appendrun.lua
-- KEYS[4] log     stream of finished runs, see appendrun.lua
-- KEYS[5] current hash, the restaurant's current version
-- KEYS[6] published hash; see mirror.lua
-- ARGV[1] run id
-- ARGV[2] its record
-- ARGV[3] maximum number of finished runs
-- ARGV[4] the time of its id, in milliseconds
-- ARGV[5] channel for a notice of the run; "" = none
-- ARGV[6] its record in the notice
-- ARGV[7] time at which the current version was confirmed; "" = not confirmed
-- ARGV[8] outcome for the current version; "" = none
-- ARGV[9] a time after ARGV[7]; see checked.lua
-- ARGV[10] 1 = the run may be folded; see appendrun.lua
--
-- result 1 written
--        0 the run was declared lost and keeps that record
--        2 nothing changed: the confirmed version does not exist
local own = redis.call("HGET", KEYS[2], "run") == ARGV[1]
if own and ARGV[8] ~= "" and checked(KEYS[5], ARGV[7], ARGV[9], ARGV[8]) == 0 and ARGV[7] ~= "" then
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
appendrun(KEYS[3], KEYS[4], ARGV[1], ARGV[2], ARGV[4], ARGV[3], ARGV[10])
if ARGV[5] ~= "" then
  redis.call("PUBLISH", ARGV[5], "run.finished " .. ARGV[6])
end
return 1
