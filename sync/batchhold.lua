-- batchhold makes one replica the one that does a batch, for a while.
--
-- KEYS[1] hold  string: who does the batch, expires when it vanishes
-- KEYS[2] batch hash, see docs/redis.md
-- ARGV[1] who asks
-- ARGV[2] for how many milliseconds; 0 = gives it up
--
-- result 1 held by who asks (or given up), 0 held by another, -1 no such batch
local holder = redis.call("GET", KEYS[1])
if holder and holder ~= ARGV[1] then
  return 0
end
if ARGV[2] == "0" then
  redis.call("DEL", KEYS[1])
  return 1
end
if redis.call("EXISTS", KEYS[2]) == 0 then
  return -1
end
redis.call("SET", KEYS[1], ARGV[1], "PX", ARGV[2])
return 1
