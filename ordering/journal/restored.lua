-- The first part of the script of a commit; commit.lua is the rest.
-- What Redis knows about the commits of one connection, and the comparison with what the calling instance remembers. If
-- Redis has lost commits, new calls are paused (policy O14a). The state (KEYS[1], a hash) has the fields:
--   epoch         random name of this history of commits
--   format        format of the records, "3"
--   mark          of the last commit: the time in microseconds, raised if
--                 necessary, so that marks only grow, even after a failover
--   by:INSTANCE   mark of the last commit of this instance
--   predecessors  epochs that this one has replaced, separated by spaces
--   paused        time since which new calls are paused, in milliseconds
--   disputed      epochs that the pausing instances remembered, separated by spaces
--   replicated    "1" once a replica has acknowledged a write (policy O14)
--
-- KEYS[2]   the list of every record, for unreadable (format.lua)
--
-- ARGV[1]   mode: "begin" is rejected during a pause, the others never;
--           "watch" and "probe" do not raise the mark; "probe" writes the
--           unchanged mark, because WAIT needs a write before it
-- ARGV[2]   remembered epoch, or ""
-- ARGV[3]   remembered mark
-- ARGV[4]   name of the calling instance
-- ARGV[5]   remembered mark of the last commit of this instance
-- ARGV[6]   highest mark that this instance has seen
-- ARGV[7]   epoch to set if none is stored and none is remembered
-- ARGV[8]   "true" = commits that are lost from the remembered epoch do not pause new calls
-- ARGV[9]   "true" = set replicated
--
-- Redis uses more time for Lua than for the commands. A conversion between a text
-- and a number takes as long as a simple command, and a new text takes time for
-- each byte. So numbers stay texts where possible.
local call, keys, words = redis.call, KEYS, ARGV
local mode, known, knownMark, instance, knownOwn, seen, candidate, reportOnly, setReplicated = unpack(words, 1, 9)
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

local stored = call("HMGET", state, "epoch", "format", "mark", own, "paused", "replicated")
local epoch, mark, ownMark = stored[1] or "", stored[3] or "0", stored[4] or "0"
local paused, replicated, predecessors, behind = stored[5] or "", stored[6] or "", "", ""
local isFirst = not stored[4] -- Redis has no mark of this instance
local other = stored[2] ~= "3" and unreadable(state, keys[2])
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
  lost = reportOnly ~= "true"
end
if lost then
  local disputed = call("HGET", state, "disputed") or ""
  if paused == "" or not among(disputed, known) then
    paused = paused ~= "" and paused or now
    call("HSET", state, "format", "3", "paused", paused, "disputed", disputed .. " " .. known)
  end
end
if known == "" and epoch == "" and candidate ~= "" then
  epoch = candidate
  call("HSET", state, "epoch", epoch, "format", "3")
end
if setReplicated == "true" and replicated == "" then
  replicated = "1"
  call("HSET", state, "replicated", replicated)
end

-- raise stores the mark of a commit.
local function raise()
  if less(mark, nowMicros) and less(seen, nowMicros) then
    mark = nowMicros
  else
    mark = string.format("%.0f", math.max(tonumber(mark), tonumber(seen)) + 1)
  end
  call("HSET", state, "mark", mark, own, mark)
  if isFirst then -- a good time to forget the silent instances
    local fields = call("HGETALL", state)
    for i = 1, #fields, 2 do
      if string.sub(fields[i], 1, 3) == "by:" and silent(fields[i + 1]) then
        call("HDEL", state, fields[i])
      end
    end
  end
end

-- result returns the reply of commit.lua: a code and what the instance learns.
local function result(code)
  return code .. "," .. now .. "," .. epoch .. "," .. mark .. "," .. predecessors .. "," .. paused .. "," .. replicated .. "," .. behind
end
