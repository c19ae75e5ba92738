-- prune removes an order from the lists if its record does not exist any more. If the
-- record still exists, prune sets the time of the next check: when the record
-- expires, or in a minute if it has no expiry.
--
-- KEYS[1]    the state of the connection
-- KEYS[2]    orders  sorted set of "created/ref" of every record
-- KEYS[3]    expiry  sorted set, "created/ref" by the time at which the record expires
-- KEYS[4 ..] every other sorted set of "created/ref", and last the order's record
-- ARGV[1]    "created/ref"
--
-- result 1 removed, 0 the record exists
local left = redis.call("PTTL", KEYS[#KEYS])
if left ~= -2 then
  if left == -1 then
    left = 60000
  end
  local time = redis.call("TIME")
  local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
  redis.call("ZADD", KEYS[3], "XX", string.format("%.0f", now + left + 1), ARGV[1])
  return 0
end
for i = 2, #KEYS - 1 do
  redis.call("ZREM", KEYS[i], ARGV[1])
end
return 1
