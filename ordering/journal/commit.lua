-- commit applies one transaction completely or not at all: if a checked value
-- has changed since it was read, nothing is written. Every transaction on an
-- order checks and raises its record's revision (field "rev"). All keys share
-- the connection's hash tag.
--
-- A commit also compares what the calling instance remembers about this Redis
-- with the state of the connection. If Redis has lost commits, it pauses new
-- orders (policy O14a). The state (KEYS[1], a hash) has the fields:
--   epoch         random name of this history of commits
--   mark          of the last commit: the time in microseconds, raised if
--                 necessary, so that marks only grow, even after a failover
--   by:INSTANCE   mark of the last commit of this instance
--   predecessors  epochs that this one has replaced, separated by spaces
--   paused        time since which new orders are paused, in milliseconds
--   disputed      epochs that the pausing instances remembered, separated by spaces
--   replicated    "1" once a replica has acknowledged a write (policy O14)
--
-- KEYS[1]   the state of the connection
-- KEYS[2 ..] every key that the change checks or writes
-- ARGV[1]   mode: "create" is rejected during a pause, the others never;
--           "watch" and "probe" do not raise the mark; "probe" writes the
--           unchanged mark, because WAIT needs a write before it
-- ARGV[2]   remembered epoch, or ""
-- ARGV[3]   remembered mark
-- ARGV[4]   name of the calling instance
-- ARGV[5]   remembered mark of the last commit of this instance
-- ARGV[6]   highest mark that this instance has seen
-- ARGV[7]   epoch to set if none is stored and none is remembered
-- ARGV[8]   "1" = lost commits do not pause new orders
-- ARGV[9]   "1" = set replicated
-- ARGV[10]  c, the number of checks
-- ARGV[11 ..] c triples: key, field of the hash ("" = the key is a string),
--           required value ("" = it must not exist)
-- ARGV[11+3c ..] the steps of the transaction, five words each, unused ones "":
--   hset        key field value -    set a field of a hash
--   hset-now    key field - -        set a field to now, in milliseconds since the epoch
--   hdel        key field - -        delete a field
--   set         key value - -        set a string that does not expire
--   del-if      key value - -        delete a string that has this value
--   del         key - - -            delete
--   persist     key value - -        remove the expiry; with a value, only if the string has it
--   expire      key value rel abs    expire at the later of now + rel and abs (milliseconds);
--                                    with a value, only if the string has it
--   zadd-now    key ref - -          add "now/ref" to a sorted set, score 0
--   zadd        key member - -       add to a sorted set, score 0
--   zadd-expire key member rel abs   add to a sorted set, score as the time of expire
--   zrem        key member - -       remove from a sorted set
-- A key is its index in KEYS.
--
-- result {"1", now in milliseconds, epoch, mark, predecessors, paused, replicated, behind}  done
--        {"2", the same}  rejected: new orders are paused
--        {"0", index of the key whose value has changed}
-- Missing fields are ""; behind is "1" if Redis lacks a commit of the remembered
-- epoch.
local time = redis.call("TIME")
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local nowMicros = tonumber(time[1]) * 1000000 + tonumber(time[2])
-- Marks of instances without a commit since this time are removed and not
-- expected.
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
  -- Other instances may have raised the mark although commits of this instance
  -- are lost. Its own mark shows that.
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
