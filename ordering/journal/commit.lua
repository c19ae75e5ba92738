-- commit makes one change, or none at all: when something that the change
-- relies on is otherwise than it was read, nothing is written. Every change of
-- an order checks and raises its record's revision (field "rev"). All keys
-- share the connection's hash tag.
--
-- A commit also compares what the calling instance remembers of this Redis with
-- the state of the connection, and pauses creates where Redis has lost commits
-- (policy O14a). The state (KEYS[1], a hash) has the fields:
--   epoch         random name of this history of commits
--   mark          of the last commit: the time in microseconds, raised where
--                 necessary, so that marks only grow, also from one master to the next
--   by:INSTANCE   mark of the last commit of this instance
--   predecessors  epochs that operators have replaced by this one, by spaces
--   paused        since when creates are paused, in milliseconds since the epoch
--   disputed      epochs remembered by the instances that paused, by spaces
--   replicated    "1" once a replica has acknowledged a write (policy O14)
--
-- KEYS[1]   the state of the connection
-- KEYS[2 ..] every key that the change checks or writes
-- ARGV[1]   "create" is refused while paused; "commit" never; "watch" is never
--           refused and leaves the mark as it is; "probe" does too, and writes
--           it again: WAIT needs a write before it
-- ARGV[2]   remembered epoch, "" for none
-- ARGV[3]   remembered mark
-- ARGV[4]   name of the calling instance
-- ARGV[5]   remembered mark of the last commit of this instance
-- ARGV[6]   highest mark that this instance has seen
-- ARGV[7]   epoch to set where nothing is remembered and there is none
-- ARGV[8]   "1" = lost commits do not pause
-- ARGV[9]   "1" = set replicated
-- ARGV[10]  c, how many checks follow
-- ARGV[11 ..] c triples: key, field of the hash ("" = the key is a string),
--           value that it must have ("" = there must be none)
-- ARGV[11+3c ..] the steps of the change, five words each, unused ones "":
--   hset        key field value -    set a field of a hash
--   hset-now    key field - -        set a field to now, in milliseconds since the epoch
--   hdel        key field - -        delete a field
--   set         key value - -        set a string that does not expire
--   del-if      key value - -        delete a string that has this value
--   del         key - - -            delete
--   persist     key value - -        never expire; with a value only a string that has it
--   expire      key value rel abs    expire at now + rel or at abs, whichever is later
--                                    (milliseconds); with a value only a string that has it
--   zadd-now    key ref - -          add "now/ref" to a sorted set, score 0
--   zadd        key member - -       add to a sorted set, score 0
--   zadd-expire key member rel abs   add to a sorted set, scored by the time that expire would set
--   zrem        key member - -       take out of a sorted set
-- A key is given by its number in KEYS.
--
-- result {"1", now in milliseconds, epoch, mark, predecessors, paused, replicated, behind}  made
--        {"2", the same}  refused: creates are paused
--        {"0", number of the key that was otherwise}
-- What the state does not have is ""; behind is "1" where Redis lacks a commit of
-- the remembered epoch.
local time = redis.call("TIME")
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local nowMicros = tonumber(time[1]) * 1000000 + tonumber(time[2])
-- The marks of instances that have been silent for so long are dropped, and not
-- missed.
local silent = nowMicros - 30 * 24 * 3600 * 1000000
local function ms(number)
  return string.format("%.0f", number)
end
local function later(rel, abs)
  return ms(math.max(now + tonumber(rel), tonumber(abs)))
end
local function has(key, value)
  return value == "" or redis.call("GET", key) == value
end

local own = "by:" .. ARGV[4]
local kept = redis.call("HMGET", KEYS[1], "epoch", "mark", "predecessors", "paused", "replicated", "disputed", own)
local epoch, mark, predecessors = kept[1] or "", tonumber(kept[2] or "0"), kept[3] or ""
local paused, replicated, disputed = kept[4] or "", kept[5] or "", kept[6] or ""
local function among(words, word)
  return string.find(" " .. words .. " ", " " .. word .. " ", 1, true)
end
local known, knownOwn = ARGV[2], tonumber(ARGV[5])
local lost = known ~= "" and epoch ~= known and not among(predecessors, known)
local behind = ""
if known ~= "" and epoch == known then
  -- Others may have raised the mark of a history that lacks commits of this
  -- instance. Its own mark shows that.
  if mark < tonumber(ARGV[3]) or knownOwn > silent and tonumber(kept[7] or "0") < knownOwn then
    behind = "1"
  end
  lost = behind == "1" and ARGV[8] ~= "1"
end
if lost and (paused == "" or not among(disputed, known)) then
  if paused == "" then
    paused = ms(now)
  end
  redis.call("HSET", KEYS[1], "paused", paused, "disputed", disputed .. " " .. known)
end
if known == "" and epoch == "" and ARGV[7] ~= "" then
  epoch = ARGV[7]
  redis.call("HSET", KEYS[1], "epoch", epoch)
end
if ARGV[9] == "1" and replicated == "" then
  replicated = "1"
  redis.call("HSET", KEYS[1], "replicated", replicated)
end
local first = 11
local checks = tonumber(ARGV[first - 1])
for i = first, first + 3 * checks - 1, 3 do
  local key, value = KEYS[tonumber(ARGV[i])], nil
  if ARGV[i + 1] == "" then
    value = redis.call("GET", key)
  else
    value = redis.call("HGET", key, ARGV[i + 1])
  end
  if (value or "") ~= ARGV[i + 2] then
    return {"0", ARGV[i]}
  end
end

if ARGV[1] == "create" and paused ~= "" then
  return {"2", ms(now), epoch, ms(mark), predecessors, paused, replicated, behind}
end

local steps = {
  ["hset"] = function(key, field, value) redis.call("HSET", key, field, value) end,
  ["hset-now"] = function(key, field) redis.call("HSET", key, field, ms(now)) end,
  ["hdel"] = function(key, field) redis.call("HDEL", key, field) end,
  ["set"] = function(key, value) redis.call("SET", key, value) end,
  ["del-if"] = function(key, value)
    if has(key, value) then redis.call("DEL", key) end
  end,
  ["del"] = function(key) redis.call("UNLINK", key) end,
  ["persist"] = function(key, value)
    if has(key, value) then redis.call("PERSIST", key) end
  end,
  ["expire"] = function(key, value, rel, abs)
    if has(key, value) then redis.call("PEXPIREAT", key, later(rel, abs)) end
  end,
  ["zadd-now"] = function(key, ref) redis.call("ZADD", key, "0", string.format("%015.0f/", now) .. ref) end,
  ["zadd"] = function(key, member) redis.call("ZADD", key, "0", member) end,
  ["zadd-expire"] = function(key, member, rel, abs) redis.call("ZADD", key, later(rel, abs), member) end,
  ["zrem"] = function(key, member) redis.call("ZREM", key, member) end,
}
for i = first + 3 * checks, #ARGV, 5 do
  steps[ARGV[i]](KEYS[tonumber(ARGV[i + 1])], ARGV[i + 2], ARGV[i + 3], ARGV[i + 4])
end
if ARGV[1] == "probe" then
  redis.call("HSET", KEYS[1], "mark", ms(mark))
elseif ARGV[1] ~= "watch" then
  mark = math.max(nowMicros, mark + 1, tonumber(ARGV[6]) + 1)
  redis.call("HSET", KEYS[1], "mark", ms(mark), own, ms(mark))
  if not kept[7] then
    local fields = redis.call("HGETALL", KEYS[1])
    for i = 1, #fields, 2 do
      if string.sub(fields[i], 1, 3) == "by:" and tonumber(fields[i + 1]) < silent then
        redis.call("HDEL", KEYS[1], fields[i])
      end
    end
  end
end
return {"1", ms(now), epoch, ms(mark), predecessors, paused, replicated, behind}
