-- publish makes a version of a restaurant current, or refuses and changes nothing
-- (policies S2, S6). The keys of the version have been written under staged names,
-- which expire. This script gives them their final names. All keys share the
-- restaurant's hash tag.
--
-- KEYS[1] current  hash, the current version of the restaurant's source
-- KEYS[2] fence    hash {fence, run, floor}; see fenced.lua and raisefloor.lua
-- KEYS[3] history  list of "version content", newest first
-- KEYS[4] published hash, the documented copy of what was published last (policy
--                  O16); the same key as current without sources
-- KEYS[5] sources  set of the tags of sources
-- KEYS[6 ..]       n pairs: staged key, final key
-- KEYS[6+2n ..]    keys of older versions, which get an expiry
-- ARGV[1] publisher: "fencing number run"; see fenced.lua
-- ARGV[2] version that must be current; "0" = none
-- ARGV[3] new entry of the history
-- ARGV[4] "1" = same content: the entry replaces the newest one
-- ARGV[5] maximum length of the history
-- ARGV[6] channel of notices
-- ARGV[7] notice
-- ARGV[8] expiry of keys of older versions, in milliseconds
-- ARGV[9] n
-- ARGV[10] tag of the source; "" = none
-- ARGV[11 ..]      n pairs: command that returns the size of the staged key,
--                  required size
-- ARGV[11+2n ..]   fields and values of current
--
-- result {"ok"}
--        {"fenced", stored fencing number}
--        {"stale", current version} also if another source has used the number
--        {"floor", floor}           the version is not above it (policy S2a)
--        {"incomplete", staged key} it has expired or is incomplete: stage it again
local refused = fenced(KEYS[2], ARGV[1], KEYS[1], ARGV[2])
if refused then
  return refused
end
local number = tonumber(string.match(ARGV[3], "^%d+"))
local floor = redis.call("HGET", KEYS[2], "floor") or "0"
if number <= tonumber(floor) then
  return {"floor", floor}
end
local last = redis.call("HGET", KEYS[4], "version") or "0"
if number <= (tonumber(last) or 0) then
  return {"stale", last}
end
local n = tonumber(ARGV[9])
for i = 0, n - 1 do
  local staged = KEYS[6 + 2 * i]
  if redis.call(ARGV[11 + 2 * i], staged) ~= tonumber(ARGV[12 + 2 * i]) then
    return {"incomplete", staged}
  end
end
for i = 0, n - 1 do
  local final = KEYS[7 + 2 * i]
  redis.call("RENAME", KEYS[6 + 2 * i], final)
  redis.call("PERSIST", final)
end
for i = 6 + 2 * n, #KEYS do
  redis.call("PEXPIRE", KEYS[i], ARGV[8])
end
for i = 11 + 2 * n, #ARGV, 2 do
  redis.call("HSET", KEYS[1], ARGV[i], ARGV[i + 1])
end
if ARGV[4] == "1" and redis.call("LLEN", KEYS[3]) > 0 then
  redis.call("LSET", KEYS[3], 0, ARGV[3])
else
  redis.call("LPUSH", KEYS[3], ARGV[3])
  redis.call("LTRIM", KEYS[3], 0, tonumber(ARGV[5]) - 1)
end
if ARGV[10] ~= "" then
  redis.call("SADD", KEYS[5], ARGV[10])
  redis.call("COPY", KEYS[1], KEYS[4], "REPLACE")
end
redis.call("PUBLISH", ARGV[6], ARGV[7])
return {"ok"}
