-- prune takes an order out of the lists when its record is gone. One that is
-- still there although its time has come is looked at again in a minute.
--
-- KEYS[1]    the order's record
-- KEYS[2]    expiry  sorted set, "created/ref" by the time at which the record expires
-- KEYS[3 ..] every other sorted set of "created/ref"
-- ARGV[1]    "created/ref"
--
-- result 1 taken out, 0 the record is there
if redis.call("EXISTS", KEYS[1]) == 1 then
  local time = redis.call("TIME")
  redis.call("ZADD", KEYS[2], "XX", string.format("%.0f", (tonumber(time[1]) + 60) * 1000), ARGV[1])
  return 0
end
for i = 2, #KEYS do
  redis.call("ZREM", KEYS[i], ARGV[1])
end
return 1
