-- source returns the source of a connection's records without one, and sets it if it is missing (policy O16).
--
-- KEYS[1] the state of the connection, which commit.lua explains
-- KEYS[2] every record of the connection
-- ARGV[1] the source to set, or "" to set none
--
-- result the source, or "" if it is missing
if ARGV[1] ~= "" then
  redis.call("HSETNX", KEYS[1], "source", ARGV[1])
end
return redis.call("HGET", KEYS[1], "source") or ""
