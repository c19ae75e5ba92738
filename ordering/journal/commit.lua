-- commit applies one transaction completely or not at all: if a checked value
-- has changed since it was read, nothing is written. Every transaction on an
-- order checks the revision at the beginning of its record, and every change of
-- a record gives it a new one. All keys share the connection's hash tag.
--
-- A commit also compares what the calling instance remembers about this Redis
-- with the state of the connection. If Redis has lost commits, it pauses new
-- orders (policy O14a). The state (KEYS[1], a hash) has the fields:
--   epoch         random name of this history of commits
--   format        format of the records, "3"
--   mark          of the last commit: the time in microseconds, raised if
--                 necessary, so that marks only grow, even after a failover
--   by:INSTANCE   mark of the last commit of this instance
--   predecessors  epochs that this one has replaced, separated by spaces
--   paused        time since which new orders are paused, in milliseconds
--   disputed      epochs that the pausing instances remembered, separated by spaces
--   replicated    "1" once a replica has acknowledged a write (policy O14)
--
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
-- ARGV[10]  the number of keys that must not exist
-- ARGV[11]  the number of checks
-- ARGV[12 ..] two words for each check: last, value. The bytes 0 to last of the
--           string must be the value; with last = its length, the whole string.
--           With last "until", value is a time in milliseconds that must not have passed.
-- then the steps of the transaction, each with its words:
--   record      head tail EXPIRY  set the record of an order: head, the time of the commit, tail
--   set         value EXPIRY      set a string
--   expire      value EXPIRY      change the expiry; with a value, only if the string has it
--   hset        field value       set a field of a hash
--   del                           delete
--   del-if      value             delete a string that has this value
--   zadd        member EXPIRY     add to a sorted set, by the expiry or with score 0
--   zadd-now    ref EXPIRY        add "now/ref" to a sorted set, in the same way
--   zrem        member            remove from a sorted set
-- EXPIRY is "" (never), "keep" (as before; of record and set), or two words: a key expires at the
-- later of now + the first and the second, in milliseconds.
--
-- KEYS has the state, the list of every record, the keys that must not exist, the
-- key of each check, and the key of each step.
--
-- result "1,now in milliseconds,epoch,mark,predecessors,paused,replicated,behind"  done
--        "2,the same"  rejected: new orders are paused
--        "0"  a checked value has changed
-- Missing fields are empty; behind is "1" if Redis lacks a commit of the
-- remembered epoch. predecessors is empty if the epoch is the remembered one.
--
-- Redis uses more time for Lua than for the commands. A conversion between a text
-- and a number takes as long as a simple command, and a new text takes time for
-- each byte. So numbers stay texts where possible.
local call, keys, words = redis.call, KEYS, ARGV
local mode, known, knownMark, instance, knownOwn, seen = unpack(words, 1, 6)
local state, own = keys[1], "by:" .. instance
local time = call("TIME")
local micros = string.sub("00000" .. time[2], -6)
local now, nowMicros = time[1] .. string.sub(micros, 1, 3), time[1] .. micros

-- less compares natural numbers without leading zeros.
local function less(a, b)
  return #a < #b or #a == #b and a < b
end
-- Marks of instances without a commit for 30 days are removed and not expected.
local function silent(mark)
  return tonumber(mark) <= tonumber(nowMicros) - 30 * 24 * 3600 * 1000000
end
local function among(list, word)
  return string.find(" " .. list .. " ", " " .. word .. " ", 1, true)
end

local kept = call("HMGET", state, "epoch", "format", "mark", own, "paused", "replicated")
local epoch, mark, ownMark = kept[1] or "", kept[3] or "0", kept[4] or "0"
local paused, replicated, predecessors, behind = kept[5] or "", kept[6] or "", "", ""
local other = kept[2] ~= "3" and unreadable(state, keys[2])
if other then
  return other
end
local lost = false
if epoch ~= known then
  predecessors = call("HGET", state, "predecessors") or ""
  lost = known ~= "" and not among(predecessors, known)
elseif known ~= "" and (less(mark, knownMark) or less(ownMark, knownOwn) and not silent(knownOwn)) then
  -- Other instances may have raised the mark although commits of this instance
  -- are lost. Its own mark shows that.
  behind = "1"
  lost = words[8] ~= "1"
end
if lost then
  local disputed = call("HGET", state, "disputed") or ""
  if paused == "" or not among(disputed, known) then
    if paused == "" then
      paused = now
    end
    call("HSET", state, "format", "3", "paused", paused, "disputed", disputed .. " " .. known)
  end
end
if known == "" and epoch == "" and words[7] ~= "" then
  epoch = words[7]
  call("HSET", state, "epoch", epoch, "format", "3")
end
if words[9] == "1" and replicated == "" then
  replicated = "1"
  call("HSET", state, "replicated", replicated)
end
local function result(code)
  return code .. "," .. now .. "," .. epoch .. "," .. mark .. "," .. predecessors .. "," .. paused .. "," .. replicated .. "," .. behind
end

local keyAt = 2 + tonumber(words[10]) -- the last key that was used
if keyAt > 2 and call("EXISTS", unpack(keys, 3, keyAt)) > 0 then
  return "0"
end
local wordAt = 11 -- the last word that was read
local function nextWord()
  wordAt = wordAt + 1
  return words[wordAt]
end
for _ = 1, tonumber(words[11]) do
  keyAt = keyAt + 1
  local last, value = nextWord(), nextWord()
  if last == "until" then
    if less(value, now) then
      return "0"
    end
  elseif call("GETRANGE", keys[keyAt], "0", last) ~= value then
    return "0"
  end
end

if mode == "create" and paused ~= "" then
  return result("2")
end

local laterRel, laterAbs, laterText
-- later returns the later of now + rel and abs. It keeps the last result: the
-- record, the orderID and the entry of the expiry list have the same expiry.
local function later(rel, abs)
  if rel ~= laterRel or abs ~= laterAbs then
    laterRel, laterAbs = rel, abs
    laterText = string.format("%.0f", math.max(tonumber(now) + tonumber(rel), tonumber(abs)))
  end
  return laterText
end
-- expiry returns the next EXPIRY as arguments of SET.
local function expiry()
  local rel = nextWord()
  if rel == "" then
    return
  elseif rel == "keep" then
    return "KEEPTTL"
  end
  local abs = nextWord()
  if abs == "0" and rel ~= "0" then -- PX must be positive
    return "PX", rel
  end
  return "PXAT", later(rel, abs)
end
local function score()
  local rel = nextWord()
  return rel == "" and "0" or later(rel, nextWord())
end
local prefix = string.sub("00000000000000" .. now, -15)
for n = keyAt + 1, #keys do
  local step, key = nextWord(), keys[n]
  if step == "record" then
    local head, tail = nextWord(), nextWord()
    call("SET", key, head .. prefix .. tail, expiry())
  elseif step == "set" then
    local value = nextWord()
    call("SET", key, value, expiry())
  elseif step == "zadd" then
    local member = nextWord()
    call("ZADD", key, score(), member)
  elseif step == "zadd-now" then
    local member = prefix .. "/" .. nextWord()
    call("ZADD", key, score(), member)
  elseif step == "zrem" then
    call("ZREM", key, nextWord())
  elseif step == "hset" then
    local field = nextWord()
    call("HSET", key, field, nextWord())
  elseif step == "expire" then
    local value, unit, expires = nextWord(), expiry()
    if value == "" or call("GET", key) == value then
      if not unit then
        call("PERSIST", key)
      else
        call(unit == "PX" and "PEXPIRE" or "PEXPIREAT", key, expires)
      end
    end
  elseif step == "del" then
    call("UNLINK", key)
  elseif step == "del-if" then
    local value = nextWord()
    if call("GET", key) == value then
      call("DEL", key)
    end
  else
    error("unknown step " .. tostring(step))
  end
end
if mode == "probe" then
  call("HSET", state, "mark", mark)
elseif mode ~= "watch" then
  if less(mark, nowMicros) and less(seen, nowMicros) then
    mark = nowMicros
  else
    mark = string.format("%.0f", math.max(tonumber(mark), tonumber(seen)) + 1)
  end
  call("HSET", state, "mark", mark, own, mark)
  if not kept[4] then
    local fields = call("HGETALL", state)
    for i = 1, #fields, 2 do
      if string.sub(fields[i], 1, 3) == "by:" and silent(fields[i + 1]) then
        call("HDEL", state, fields[i])
      end
    end
  end
end
return result("1")
