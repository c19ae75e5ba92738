-- orphan ends a run whose holder has disappeared (policy S8).
--
-- KEYS[1] lease   hash {run, force, alone}
-- KEYS[2] fence   hash {fence, slot, run}
-- KEYS[3] queue   hash {run, force}
-- KEYS[4] records hash, see appendrun.lua
-- KEYS[5] log     stream of finished runs, see appendrun.lua
-- ARGV[1..7] the lost run; see appendrun.lua
-- ARGV[8] the record as it was read
--
-- result 1 written, 0 the run is active or its record has changed
if redis.call("HGET", KEYS[1], "run") == ARGV[1] or redis.call("HGET", KEYS[3], "run") == ARGV[1] then
  return 0
end
if redis.call("HGET", KEYS[4], ARGV[1]) ~= ARGV[8] then
  return 0
end
appendrun(KEYS[4], KEYS[5])
if redis.call("HGET", KEYS[2], "run") == ARGV[1] then
  redis.call("HDEL", KEYS[2], "run")
end
return 1
