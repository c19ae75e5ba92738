-- takeover moves a restaurant's menu to a source that has none (policy O16): the menu
-- that an older larder has stored without a source, or the menu of a former source.
-- The first source that asks gets the former, so all sources can ask at any time.
--
-- KEYS[1] published hash, the documented current version
-- KEYS[2] sources   set of tags
-- KEYS[3 .. 7]      of the source: current, history, validator, findings, fence
-- KEYS[8 .. 12]     the same without a source
-- KEYS[13 ..]       the same of each former source
-- ARGV[1] source
-- ARGV[2] its tag
-- ARGV[3] format of the versions
--
-- result 1 the source has a menu, 0 it has none
if redis.call("EXISTS", KEYS[3]) == 1 then
  return 1
end
local function take(command, from)
  for i = 1, 3 do
    if redis.call("EXISTS", KEYS[from + i]) == 1 then
      redis.call(command, KEYS[from + i], KEYS[3 + i])
    end
  end
  local floor = redis.call("HGET", KEYS[from + 4], "floor")
  if floor then
    redis.call("HSET", KEYS[7], "floor", floor)
  end
  redis.call("HSET", KEYS[3], "source", ARGV[1])
  redis.call("SADD", KEYS[2], ARGV[2])
  return 1
end
local stored = redis.call("HMGET", KEYS[1], "form", "source")
if stored[1] == ARGV[3] and not stored[2] then
  redis.call("HSET", KEYS[1], "source", ARGV[1])
  redis.call("COPY", KEYS[1], KEYS[3])
  return take("RENAME", 8)
end
for from = 13, #KEYS, 5 do
  if redis.call("HGET", KEYS[from], "form") == ARGV[3] then
    redis.call("COPY", KEYS[from], KEYS[3])
    return take("COPY", from)
  end
end
return 0
