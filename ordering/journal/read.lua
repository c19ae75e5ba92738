-- read returns an order and the service's answers to its calls, atomically. All
-- keys share the connection's hash tag.
--
-- KEYS[1]    the order's record, a hash
-- KEYS[2 ..] the hashes with the guest data of some calls
--
-- result {fields and values of the record, answer or nil for each call …}
local result = {redis.call("HGETALL", KEYS[1])}
for i = 2, #KEYS do
  result[i] = redis.call("HGET", KEYS[i], "answer")
end
return result
