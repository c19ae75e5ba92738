-- finish ends a run: its record goes from those at work to those that are
-- finished, its lease is released, the oldest record is removed, and what the
-- run says of the current version is noted with it.
--
-- KEYS[1] lease   hash {run, force, alone}
-- KEYS[2] fence   hash {fence, slot, run}
-- KEYS[3] records hash, see appendrun.lua
-- KEYS[4] log     stream of finished runs, see appendrun.lua
-- KEYS[5] current hash, the restaurant's current version
-- ARGV[1] run id
-- ARGV[2] its record
-- ARGV[3] how many finished runs are kept
-- ARGV[4] the time of its id, in milliseconds
-- ARGV[5] channel that is notified of the run; "" = none
-- ARGV[6] its record as it is published
-- ARGV[7] time at which the current version was confirmed; "" = it was not
-- ARGV[8] outcome to note with the current version; "" = none
-- ARGV[9] a time after ARGV[7]; see checked.lua
-- ARGV[10] 1 = the run may be folded; see appendrun.lua
--
-- result 1 written
--        0 the run had been declared lost and keeps that record
--        2 nothing done: what was confirmed is not there any more
local own = redis.call("HGET", KEYS[2], "run") == ARGV[1]
if own and ARGV[8] ~= "" and checked(KEYS[5], ARGV[7], ARGV[9], ARGV[8]) == 0 and ARGV[7] ~= "" then
  return 2
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
