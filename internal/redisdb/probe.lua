-- probe writes a key that expires, to test that Redis accepts the commands of the
-- other scripts. A rejected write is an error of the script.
--
-- KEYS[1]  a key of the probe
-- ARGV[1]  its expiry in milliseconds
local now = redis.call("TIME")
redis.call("SET", KEYS[1], "1", "PXAT", string.format("%.0f", now[1] * 1000 + ARGV[1])) -- needs Redis 6.2, as commit.lua
return 1
