-- renew extends a lease if its holder still has it.
--
-- KEYS[1] lease hash {run, force, alone}
-- ARGV[1] run id
-- ARGV[2] expiry of the lease in milliseconds
--
-- result 1 renewed, 0 the lease is lost
if redis.call("HGET", KEYS[1], "run") ~= ARGV[1] then
  return 0
end
redis.call("PEXPIRE", KEYS[1], ARGV[2])
return 1
