-- acquire takes the lease of a restaurant for one run, and stores its record as running.
--
-- KEYS[1] lease   hash {run, force, alone}; expires if its holder disappears
-- KEYS[2] fence   hash {fence, slot, run}: the last fencing number, the last tick of
--                 the schedule that an instance took, the unfinished run
-- KEYS[3] queue   hash {run, force} of the queued manual run, see start.lua; expires
-- KEYS[4] records hash run id -> record
-- ARGV[1] run id
-- ARGV[2] its record
-- ARGV[3] expiry of the lease in milliseconds
-- ARGV[4] tick of the schedule in milliseconds since the epoch, 0 = none
-- ARGV[5] channel for a notice of the run; "" = none
-- ARGV[6] 1 = the run does not contact the ordering service, so no request joins it
-- ARGV[7] force of its own request; see start.lua
-- ARGV[8] how far ahead of Redis's clock a tick may be, in milliseconds
-- ARGV[9] the interval of the schedule in milliseconds
--
-- result {"busy", holder's run id}
--        {"done"}                     another instance took the tick
--        {"ok", fence, force, id of an unfinished run or "", now in milliseconds}
local holder = redis.call("HGET", KEYS[1], "run")
if holder then
  return {"busy", holder}
end
local slot = tonumber(ARGV[4])
if slot > 0 then
  local taken = tonumber(redis.call("HGET", KEYS[2], "slot") or "0")
  -- Ticks in the future by Redis's clock come from an instance with a wrong clock.
  -- They do not count as taken, and cannot be taken.
  local due = tonumber(redis.call("TIME")[1]) * 1000 + tonumber(ARGV[8])
  -- A tick that is more than one interval older than the last one taken comes from
  -- an instance whose clock was set back. It counts, or that instance would not sync.
  if taken >= slot and taken - slot <= tonumber(ARGV[9]) and taken <= due then
    return {"done"}
  end
  if slot <= due then
    redis.call("HSET", KEYS[2], "slot", ARGV[4])
  end
end
local force = tonumber(ARGV[7])
if redis.call("HGET", KEYS[3], "run") == ARGV[1] then
  force = math.max(force, tonumber(redis.call("HGET", KEYS[3], "force") or "0"))
  redis.call("DEL", KEYS[3])
end
local left = redis.call("HGET", KEYS[2], "run") or ""
local fence = redis.call("HINCRBY", KEYS[2], "fence", 1)
redis.call("HSET", KEYS[2], "run", ARGV[1])
redis.call("HSET", KEYS[1], "run", ARGV[1], "force", force, "alone", ARGV[6])
redis.call("PEXPIRE", KEYS[1], ARGV[3])
redis.call("HSET", KEYS[4], ARGV[1], ARGV[2])
if ARGV[5] ~= "" then
  redis.call("PUBLISH", ARGV[5], "run.started " .. ARGV[2])
end
local now = redis.call("TIME")
return {"ok", fence, force, left, tonumber(now[1]) * 1000 + math.floor(tonumber(now[2]) / 1000)}
