-- finish ends a run: its record goes, packed, from those at work to those that
-- are finished, its lease is released, and the oldest record is forgotten.
--
-- KEYS[1] lease   hash {run, force, alone}
-- KEYS[2] turn    hash {fence, slot, run}
-- KEYS[3] records hash run id -> record; run id .. ":by" -> joiners
-- KEYS[4] log     stream of finished runs: r = packed, by = joiners
-- ARGV[1] run id
-- ARGV[2] its record, packed
-- ARGV[3] how many finished runs are kept
-- ARGV[4] the time of its id, in milliseconds
-- ARGV[5] channel that is told of the run; "" = none
-- ARGV[6] its record as it is told
--
-- result 1 written, 0 the run had been declared lost and keeps that record
if redis.call("HGET", KEYS[1], "run") == ARGV[1] then
  redis.call("DEL", KEYS[1])
end
if redis.call("HGET", KEYS[2], "run") ~= ARGV[1] then
  return 0
end
redis.call("HDEL", KEYS[2], "run")
keeprun(KEYS[3], KEYS[4], ARGV[1], ARGV[2], ARGV[4], ARGV[3])
if ARGV[5] ~= "" then
  redis.call("PUBLISH", ARGV[5], "run.finished " .. ARGV[6])
end
return 1
