-- quarantine keeps the quarantined menu of a restaurant in place of an earlier one, or
-- only removes that (policy S4a). A menu without restaurants goes, then the oldest
-- menus until all fit.
--
-- KEYS[1] owners hash restaurant's key -> menu
-- KEYS[2] views  hash menu -> its compressed view
-- KEYS[3] ages   sorted set of menus, by the microsecond when they were stored
-- KEYS[4] counts hash menu -> number of its restaurants; "" -> bytes of all views
-- ARGV[1] restaurant's key
-- ARGV[2] menu; "" = none
-- ARGV[3] its compressed view; "" = it is not known
-- ARGV[4] maximum bytes of all views
--
-- result 1 the menu is kept, 0 it is not, 2 it was removed because newer ones needed its space
local function remove(menu)
  redis.call("HINCRBY", KEYS[4], "", 0 - redis.call("HSTRLEN", KEYS[2], menu)) -- never "-0"
  redis.call("HDEL", KEYS[2], menu)
  redis.call("ZREM", KEYS[3], menu)
end
local kept = redis.call("HEXISTS", KEYS[2], ARGV[2])
local before = redis.call("HGET", KEYS[1], ARGV[1])
if ARGV[2] ~= "" and ARGV[3] == "" and kept == 0 then
  return before == ARGV[2] and 2 or 0
end
if before and before ~= ARGV[2] then
  redis.call("HDEL", KEYS[1], ARGV[1])
  if redis.call("HINCRBY", KEYS[4], before, -1) < 1 then
    redis.call("HDEL", KEYS[4], before)
    remove(before)
  end
end
if ARGV[2] == "" then
  return 0
end
if before ~= ARGV[2] then
  redis.call("HSET", KEYS[1], ARGV[1], ARGV[2])
  redis.call("HINCRBY", KEYS[4], ARGV[2], 1)
end
if kept == 0 then
  redis.call("HSET", KEYS[2], ARGV[2], ARGV[3])
  local now = redis.call("TIME")
  redis.call("ZADD", KEYS[3], string.format("%.0f", now[1] * 1000000 + now[2]), ARGV[2])
  local all = redis.call("HINCRBY", KEYS[4], "", #ARGV[3])
  while all > tonumber(ARGV[4]) do
    local oldest = redis.call("ZRANGE", KEYS[3], 0, 0)[1]
    if not oldest then
      break
    end
    remove(oldest)
    all = tonumber(redis.call("HGET", KEYS[4], ""))
  end
end
return 1
