-- due returns the overdue calls and expired records of a connection, by Redis's clock.
--
-- KEYS[1] the state of the connection, which restored.lua explains
-- KEYS[2] orders  sorted set of every record
-- KEYS[3] open    sorted set, "created/ref call" by deadline in milliseconds
-- KEYS[4] expiry  sorted set, "created/ref" by the time at which the record expires
-- ARGV[1] the maximum number of each
--
-- result {calls whose deadline has passed, records that have expired, now in milliseconds}
local time = redis.call("TIME")
local now = string.format("%.0f", tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000))
return {
  redis.call("ZRANGEBYSCORE", KEYS[3], "-inf", now, "LIMIT", "0", ARGV[1]),
  redis.call("ZRANGEBYSCORE", KEYS[4], "-inf", now, "LIMIT", "0", ARGV[1]),
  now,
}
