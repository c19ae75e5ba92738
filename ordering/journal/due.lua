-- due returns the overdue calls and expired records of a connection, by Redis's clock.
--
-- KEYS[1] open    sorted set, "created/ref call" by deadline in milliseconds
-- KEYS[2] expiry  sorted set, "created/ref" by the time at which the record expires
-- KEYS[3] the state of the connection, which commit.lua explains
-- ARGV[1] the maximum number of each
--
-- result, empty if the records have another format: {calls whose deadline has passed, records that have expired, now in milliseconds}
local time = redis.call("TIME")
local now = string.format("%.0f", tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000))
local kept = redis.call("HMGET", KEYS[3], "epoch", "format")
if kept[1] and kept[2] ~= "2" then
  return {{}, {}, now}
end
return {
  redis.call("ZRANGEBYSCORE", KEYS[1], "-inf", now, "LIMIT", "0", ARGV[1]),
  redis.call("ZRANGEBYSCORE", KEYS[2], "-inf", now, "LIMIT", "0", ARGV[1]),
  now,
}
