-- start joins a manual request to a run in progress, or queues a run (policy S8).
--
-- KEYS[1] lease   hash {run, force, alone}
-- KEYS[2] queue   hash {run, force}; expires if its instance disappears
-- KEYS[3] records hash run id -> record; run id .. ":by" -> joiners
-- ARGV[1] id of the new run, if one is needed
-- ARGV[2] its record
-- ARGV[3] force: 0 = nothing, 1 = skip the comparison with the last fetch, 2 = the guard too
-- ARGV[4] name of the client; may be empty
-- ARGV[5] expiry of a queued run without its instance, in milliseconds
-- ARGV[6] 1 = join only a run that has not started
--
-- result {run id, 1 = queued | 0 = joined}
-- A joined run has a list of joiners, even with empty names, so it is not folded.
local function join(id)
  local by = redis.call("HGET", KEYS[3], id .. ":by")
  -- The limit of 4 KiB bounds the memory for the names.
  if not by then
    redis.call("HSET", KEYS[3], id .. ":by", ARGV[4])
  elseif ARGV[4] ~= "" and #by < 4096 then
    redis.call("HSET", KEYS[3], id .. ":by", by .. "\n" .. ARGV[4])
  end
  return {id, 0}
end

local running = redis.call("HGET", KEYS[1], "run")
local force = tonumber(ARGV[3])
local open = ARGV[6] == "0" and redis.call("HGET", KEYS[1], "alone") ~= "1"
if running and open and force <= tonumber(redis.call("HGET", KEYS[1], "force") or "0") then
  return join(running)
end
local queued = redis.call("HGET", KEYS[2], "run")
if queued then
  if force > tonumber(redis.call("HGET", KEYS[2], "force") or "0") then
    redis.call("HSET", KEYS[2], "force", ARGV[3])
  end
  return join(queued)
end
redis.call("HSET", KEYS[2], "run", ARGV[1], "force", ARGV[3])
redis.call("PEXPIRE", KEYS[2], ARGV[5])
redis.call("HSET", KEYS[3], ARGV[1], ARGV[2])
return {ARGV[1], 1}
