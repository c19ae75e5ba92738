-- probe writes a key that expires and publishes to channels, to test that Redis
-- accepts the commands of the other scripts. A rejected write is an error of the script.
--
-- KEYS[1]  a key of the probe
-- ARGV[1]  its expiry in milliseconds
-- ARGV[2…] channels; none = only write
--
-- result {} or {channel, error of publishing to it}
local now = redis.call("TIME")
redis.call("SET", KEYS[1], "1", "PXAT", string.format("%.0f", now[1] * 1000 + ARGV[1])) -- needs Redis 6.2, as commit.lua
for i = 2, #ARGV do
  local reply = redis.pcall("PUBLISH", ARGV[i], "probe")
  if type(reply) == "table" and reply.err then
    return {ARGV[i], reply.err}
  end
end
return {}
