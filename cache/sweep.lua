-- sweep removes a content that no history contains, unless it was confirmed recently.
--
-- KEYS[1] content  hash {view, settings, named, indexed}
-- KEYS[2 ..]       the content's other keys
-- ARGV[1] milliseconds since the epoch: a content confirmed later stays
--
-- result 1 removed, 0 not removed
local named = tonumber(redis.call("HGET", KEYS[1], "named") or "0")
if named > tonumber(ARGV[1]) then
  return 0
end
for i = 1, #KEYS do
  redis.call("UNLINK", KEYS[i])
end
return 1
