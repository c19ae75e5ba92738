-- commit applies one transaction completely or not at all: if a checked value
-- has changed since it was read, nothing is written. Every transaction on an
-- order checks the revision at the beginning of its record, and every change of
-- a record gives it a new one. All keys share the connection's hash tag.
--
-- A commit also compares what the calling instance remembers about this Redis
-- with the state of the connection. If Redis has lost commits, it pauses new
-- orders (policy O14a). The state (KEYS[1], a hash) has the fields:
--   epoch         random name of this history of commits
--   format        format of the records, "2"
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
-- ARGV[11 ..] c triples: key of a string, last, value: the bytes 0 to last of the
--           string must be the value ("" = the key must not exist)
-- ARGV[11+3c ..] the steps of the transaction, five words each, unused ones "":
--   record      key text rel abs     set the record of an order, with the time of the commit
--   set         key value rel abs    set a string
--   expire      key value rel abs    change the expiry; with a value, only if the string has it
--   hset        key field value -    set a field of a hash
--   del         key - - -            delete
--   del-if      key value - -        delete a string that has this value
--   zadd        key member rel abs   add to a sorted set, by the expiry or with score 0
--   zadd-now    key ref rel abs      add "now/ref" to a sorted set, in the same way
--   zrem        key member - -       remove from a sorted set
-- A key is its index in KEYS. It expires at the later of now + rel and abs
-- (milliseconds); rel "" = never, "keep" = as before.
--
-- result "1,now in milliseconds,epoch,mark,predecessors,paused,replicated,behind"  done
--        "2,the same"  rejected: new orders are paused
--        "0"  a checked value has changed
--        "3"  the records have another format
-- Missing fields are empty; behind is "1" if Redis lacks a commit of the
-- remembered epoch.
local call = redis.call
local time = call("TIME")
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local nowMicros = tonumber(time[1]) * 1000000 + tonumber(time[2])
-- Marks of instances without a commit since this time are removed and not
-- expected.
local silent = nowMicros - 30 * 24 * 3600 * 1000000
local function ms(number)
  return string.format("%.0f", number)
end

local own = "by:" .. ARGV[4]
local kept = call("HMGET", KEYS[1], "epoch", "mark", "predecessors", "paused", "replicated", "disputed", own, "format")
local epoch, mark, predecessors = kept[1] or "", tonumber(kept[2] or "0"), kept[3] or ""
local paused, replicated, disputed = kept[4] or "", kept[5] or "", kept[6] or ""
if epoch ~= "" and kept[8] ~= "2" then
  return "3"
end
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
  call("HSET", KEYS[1], "paused", paused, "disputed", disputed .. " " .. known)
end
if known == "" and epoch == "" and ARGV[7] ~= "" then
  epoch = ARGV[7]
  call("HSET", KEYS[1], "epoch", epoch, "format", "2")
end
if ARGV[9] == "1" and replicated == "" then
  replicated = "1"
  call("HSET", KEYS[1], "replicated", replicated)
end
local newMark -- as text, if this commit raises the mark
local function result(code)
  return table.concat({code, ms(now), epoch, newMark or ms(mark), predecessors, paused, replicated, behind}, ",")
end
local steps = 11 + 3 * tonumber(ARGV[10])
for i = 11, steps - 1, 3 do
  if call("GETRANGE", KEYS[tonumber(ARGV[i])], 0, ARGV[i + 1]) ~= ARGV[i + 2] then
    return "0"
  end
end

if ARGV[1] == "create" and paused ~= "" then
  return result("2")
end

local prefix = string.format("%015.0f", now)
for i = steps, #ARGV, 5 do
  local step, key, a, rel = ARGV[i], KEYS[tonumber(ARGV[i + 1])], ARGV[i + 2], ARGV[i + 3]
  local at
  if rel ~= "" and rel ~= "keep" and step ~= "hset" then
    at = ms(math.max(now + tonumber(rel), tonumber(ARGV[i + 4])))
  end
  if step == "record" or step == "set" then
    if step == "record" then
      a = string.sub(a, 1, 30) .. prefix .. string.sub(a, 46)
    end
    if at then
      call("SET", key, a, "PXAT", at)
    elseif rel == "keep" then
      call("SET", key, a, "KEEPTTL")
    else
      call("SET", key, a)
    end
  elseif step == "zadd" then
    call("ZADD", key, at or "0", a)
  elseif step == "zadd-now" then
    call("ZADD", key, at or "0", prefix .. "/" .. a)
  elseif step == "zrem" then
    call("ZREM", key, a)
  elseif step == "hset" then
    call("HSET", key, a, rel)
  elseif step == "expire" then
    if a == "" or call("GET", key) == a then
      if at then
        call("PEXPIREAT", key, at)
      else
        call("PERSIST", key)
      end
    end
  elseif step == "del" then
    call("UNLINK", key)
  elseif step == "del-if" then
    if call("GET", key) == a then
      call("DEL", key)
    end
  end
end
if ARGV[1] == "probe" then
  call("HSET", KEYS[1], "mark", ms(mark))
elseif ARGV[1] ~= "watch" then
  mark = math.max(nowMicros, mark + 1, tonumber(ARGV[6]) + 1)
  newMark = ms(mark)
  call("HSET", KEYS[1], "mark", newMark, own, newMark)
  if not kept[7] then
    local fields = call("HGETALL", KEYS[1])
    for i = 1, #fields, 2 do
      if string.sub(fields[i], 1, 3) == "by:" and tonumber(fields[i + 1]) < silent then
        call("HDEL", KEYS[1], fields[i])
      end
    end
  end
end
return result("1")
