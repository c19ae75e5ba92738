-- batchdone counts one restaurant of a batch as done, once.
--
-- KEYS[1] hold    string: who does the batch
-- KEYS[2] batch   hash: total, done, failed, outcome:NAME, finishedAt, …
-- KEYS[3] pending set of restaurants that are not done
-- KEYS[4] faults  hash restaurant -> record of the run that went wrong
-- ARGV[1] who asks
-- ARGV[2] restaurant
-- ARGV[3] outcome
-- ARGV[4] record of the run where it went wrong, else ""
-- ARGV[5] how many such records are kept
-- ARGV[6] now, as finishedAt is written
--
-- result {done, failed}; {-1, 0} when another does the batch by now, or it is gone
if redis.call("GET", KEYS[1]) ~= ARGV[1] or redis.call("EXISTS", KEYS[2]) == 0 then
  return {-1, 0}
end
if redis.call("SREM", KEYS[3], ARGV[2]) == 1 then
  redis.call("HINCRBY", KEYS[2], "done", 1)
  redis.call("HINCRBY", KEYS[2], "outcome:" .. ARGV[3], 1)
  if ARGV[4] ~= "" then
    redis.call("HINCRBY", KEYS[2], "failed", 1)
    if redis.call("HLEN", KEYS[4]) < tonumber(ARGV[5]) then
      redis.call("HSET", KEYS[4], ARGV[2], ARGV[4])
      redis.call("PEXPIRE", KEYS[4], redis.call("PTTL", KEYS[2]))
    end
  end
  if redis.call("SCARD", KEYS[3]) == 0 then
    redis.call("HSET", KEYS[2], "finishedAt", ARGV[6])
  end
end
return {
  tonumber(redis.call("HGET", KEYS[2], "done") or "0"),
  tonumber(redis.call("HGET", KEYS[2], "failed") or "0"),
}
