-- accept ends the pause of a connection's orders: the present records start
-- a new epoch (policy O14a). Instances that remember one of its predecessors
-- switch to it. restored.lua explains the fields of the state.
--
-- KEYS[1] the state of the connection
-- KEYS[2] every record of the connection
-- ARGV[1] the new epoch
-- ARGV[2] the epoch that the calling instance remembers, or ""
-- ARGV[3] the number of predecessors to keep
--
-- result 1 accepted, 0 orders were not paused
local kept = redis.call("HMGET", KEYS[1], "epoch", "predecessors", "paused", "disputed")
if not kept[3] then
  return 0
end
local seen, words = {}, {}
for word in string.gmatch((kept[2] or "") .. " " .. (kept[4] or "") .. " " .. ARGV[2] .. " " .. (kept[1] or ""), "%S+") do
  if not seen[word] then
    seen[word] = true
    words[#words + 1] = word
  end
end
local from = math.max(1, #words - tonumber(ARGV[3]) + 1)
redis.call("HSET", KEYS[1], "epoch", ARGV[1], "format", "3", "predecessors", table.concat(words, " ", from))
redis.call("HDEL", KEYS[1], "paused", "disputed")
redis.call("HINCRBY", KEYS[1], "mark", "1")
return 1
