-- batchdone counts one restaurant of a batch as done, once.
--
-- KEYS[1] batch   hash: total, done, failed, outcome:NAME, finishedAt, toldAt, …
-- KEYS[2] pending set of restaurants that are not done
-- KEYS[3] faults  hash restaurant -> record of its failed run
-- ARGV[1] restaurant
-- ARGV[2] outcome
-- ARGV[3] record of the run if it failed, else ""
-- ARGV[4] maximum number of such records
-- ARGV[5] now, in the format of finishedAt
-- ARGV[6] channel for notices of progress
-- ARGV[7] the event
-- ARGV[8] id of the batch
-- ARGV[9] its connection; "" = all
-- ARGV[10] interval between notices in milliseconds, except for the last one
--
-- result 1 counted, 0 it was done before
if redis.call("SREM", KEYS[2], ARGV[1]) == 0 or redis.call("EXISTS", KEYS[1]) == 0 then
  return 0
end
local done = redis.call("HINCRBY", KEYS[1], "done", 1)
redis.call("HINCRBY", KEYS[1], "outcome:" .. ARGV[2], 1)
if ARGV[3] ~= "" then
  redis.call("HINCRBY", KEYS[1], "failed", 1)
  if redis.call("HLEN", KEYS[3]) < tonumber(ARGV[4]) then
    redis.call("HSET", KEYS[3], ARGV[1], ARGV[3])
    redis.call("PEXPIRE", KEYS[3], redis.call("PTTL", KEYS[1]))
  end
end
local ended = redis.call("EXISTS", KEYS[2]) == 0
if ended then
  redis.call("HSET", KEYS[1], "finishedAt", ARGV[5])
end
local time = redis.call("TIME")
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local told = tonumber(redis.call("HGET", KEYS[1], "toldAt") or "0")
if ended or now < told or now - told >= tonumber(ARGV[10]) then
  redis.call("HSET", KEYS[1], "toldAt", string.format("%d", now))
  local progress = {
    batch = ARGV[8],
    done = done,
    failed = tonumber(redis.call("HGET", KEYS[1], "failed") or "0"),
    total = tonumber(redis.call("HGET", KEYS[1], "total")),
  }
  if ARGV[9] ~= "" then
    progress.connection = ARGV[9]
  end
  redis.call("PUBLISH", ARGV[6], ARGV[7] .. " " .. cjson.encode(progress))
end
return 1
