-- commit makes one change, or none at all: when something that the change
-- relies on is otherwise than it was read, nothing is written. Every change of
-- an order checks and raises its record's revision (field "rev"). All keys
-- share the connection's hash tag.
--
-- KEYS      every key that the change checks or writes
-- ARGV[1]   c, how many checks follow
-- ARGV[2 ..] c triples: key, field of the hash ("" = the key is a string),
--           value that it must have ("" = there must be none)
-- ARGV[2+3c ..] the steps of the change, five words each, unused ones "":
--   put    key field value -    set a field of a hash
--   stamp  key field - -        set a field to now, in milliseconds since the epoch
--   unput  key field - -        delete a field
--   set    key value - -        set a string that does not expire
--   unset  key value - -        delete a string that has this value
--   del    key - - -            delete
--   keep   key value - -        never expire; with a value only a string that has it
--   life   key value rel abs    expire at now + rel or at abs, whichever is later
--                               (milliseconds); with a value only a string that has it
--   born   key ref - -          add "now/ref" to a sorted set, score 0
--   add    key member - -       add to a sorted set, score 0
--   due    key member rel abs   add to a sorted set, scored by when life would expire
--   drop   key member - -       take out of a sorted set
-- A key is told by its number in KEYS.
--
-- result {1, now in milliseconds}  made
--        {0, number of the key that was otherwise}
local checks = tonumber(ARGV[1])
for i = 2, 3 * checks, 3 do
  local key, value = KEYS[tonumber(ARGV[i])], nil
  if ARGV[i + 1] == "" then
    value = redis.call("GET", key)
  else
    value = redis.call("HGET", key, ARGV[i + 1])
  end
  if (value or "") ~= ARGV[i + 2] then
    return {0, ARGV[i]}
  end
end

local time = redis.call("TIME")
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local function ms(number)
  return string.format("%.0f", number)
end
local function later(rel, abs)
  return ms(math.max(now + tonumber(rel), tonumber(abs)))
end
local function has(key, value)
  return value == "" or redis.call("GET", key) == value
end

local steps = {
  put = function(key, field, value) redis.call("HSET", key, field, value) end,
  stamp = function(key, field) redis.call("HSET", key, field, ms(now)) end,
  unput = function(key, field) redis.call("HDEL", key, field) end,
  set = function(key, value) redis.call("SET", key, value) end,
  unset = function(key, value)
    if has(key, value) then redis.call("DEL", key) end
  end,
  del = function(key) redis.call("UNLINK", key) end,
  keep = function(key, value)
    if has(key, value) then redis.call("PERSIST", key) end
  end,
  life = function(key, value, rel, abs)
    if has(key, value) then redis.call("PEXPIREAT", key, later(rel, abs)) end
  end,
  born = function(key, ref) redis.call("ZADD", key, "0", string.format("%015.0f/", now) .. ref) end,
  add = function(key, member) redis.call("ZADD", key, "0", member) end,
  due = function(key, member, rel, abs) redis.call("ZADD", key, later(rel, abs), member) end,
  drop = function(key, member) redis.call("ZREM", key, member) end,
}
for i = 2 + 3 * checks, #ARGV, 5 do
  steps[ARGV[i]](KEYS[tonumber(ARGV[i + 1])], ARGV[i + 2], ARGV[i + 3], ARGV[i + 4])
end
return {1, ms(now)}
