-- finish writes a run's last record, releases its lease and forgets the
-- restaurant's oldest records.
--
-- KEYS[1] lease   hash {run, force, alone}
-- KEYS[2] turn    hash {fence, slot, run}
-- KEYS[3] records hash run id -> record; run id .. ":by" -> joiners
-- KEYS[4] order   sorted set of run ids, all with score 0
-- ARGV[1] run id
-- ARGV[2] its record
-- ARGV[3] how many records are kept
-- ARGV[4] channel that is told of the run; "" = none
--
-- result 1 written, 0 the run had been declared lost and keeps that record
if redis.call("HGET", KEYS[1], "run") == ARGV[1] then
  redis.call("DEL", KEYS[1])
end
if redis.call("HGET", KEYS[2], "run") ~= ARGV[1] then
  return 0
end
redis.call("HDEL", KEYS[2], "run")
redis.call("HSET", KEYS[3], ARGV[1], ARGV[2])
if ARGV[4] ~= "" then
  redis.call("PUBLISH", ARGV[4], "run.finished " .. ARGV[2])
end
local over = redis.call("ZCARD", KEYS[4]) - tonumber(ARGV[3])
if over > 0 then
  -- At most 100 at once: a lowered limit must not block the server.
  for _, id in ipairs(redis.call("ZRANGE", KEYS[4], 0, math.min(over, 100) - 1)) do
    redis.call("HDEL", KEYS[3], id, id .. ":by")
    redis.call("ZREM", KEYS[4], id)
  end
end
return 1
