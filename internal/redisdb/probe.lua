-- probe writes what expires and, where asked, publishes: proof that Redis takes
-- what the other scripts do. What refuses the write is the script's error.
--
-- KEYS[1]  a key of the probe's own
-- ARGV[1]  its life in milliseconds
-- ARGV[2…] channels to publish to; none = the write alone
--
-- result {} or {channel, the error of publishing to it}
redis.call("SET", KEYS[1], "1", "PX", ARGV[1])
for i = 2, #ARGV do
  local reply = redis.pcall("PUBLISH", ARGV[i], "probe")
  if type(reply) == "table" and reply.err then
    return {ARGV[i], reply.err}
  end
end
return {}
