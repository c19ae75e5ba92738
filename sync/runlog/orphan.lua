-- orphan ends a run whose holder has disappeared (policy S8).
--
-- KEYS[1] lease   hash {run, force, alone}
-- KEYS[2] fence   hash {fence, slot, run}
-- KEYS[3] queue   hash {run, force}
-- KEYS[4] records hash, see appendrun.lua
-- KEYS[5] log     stream of finished runs, see appendrun.lua
-- ARGV[1] run id
-- ARGV[2] the record as it was read
-- ARGV[3] the record of a lost run
-- ARGV[4] maximum number of finished runs
-- ARGV[5] the time of its id, in milliseconds
-- ARGV[6] channel for a notice of the run; "" = none
-- ARGV[7] the record of a lost run in the notice
--
-- result 1 written, 0 the run is active or its record has changed
if redis.call("HGET", KEYS[1], "run") == ARGV[1] or redis.call("HGET", KEYS[3], "run") == ARGV[1] then
  return 0
end
if redis.call("HGET", KEYS[4], ARGV[1]) ~= ARGV[2] then
  return 0
end
appendrun(KEYS[4], KEYS[5], ARGV[1], ARGV[3], ARGV[5], ARGV[4], "0")
if ARGV[6] ~= "" then
  redis.call("PUBLISH", ARGV[6], "run.finished " .. ARGV[7])
end
if redis.call("HGET", KEYS[2], "run") == ARGV[1] then
  redis.call("HDEL", KEYS[2], "run")
end
return 1
