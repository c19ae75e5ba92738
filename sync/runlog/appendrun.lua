-- appendrun moves the record of a run to the finished runs, and publishes it. Go prepends it to
-- finish.lua and orphan.lua.
--
-- records hash run id -> record; run id .. ":by" -> joiners;
--         fold -> one record for the scheduled runs without changes since the last
--         entry of the log; fold:ms -> the time of its id
-- log     stream of finished runs: r = record, by = joiners
--
-- The first arguments of both scripts; Log.Ending returns them.
-- ARGV[1] run id
-- ARGV[2] its record, JSON that starts with {"id":"ID"
-- ARGV[3] maximum number of entries of the log
-- ARGV[4] the time of the run's id, in milliseconds
-- ARGV[5] channel for a notice of the run; "" = none
-- ARGV[6] its record in the notice
-- ARGV[7] 1 = the run may be folded, unless a request has joined it

-- append adds an entry with the id ms, or the next id after the last one.
local function append(log, most, ms, ...)
  local number = ms .. "-0"
  local last = redis.call("XREVRANGE", log, "+", "-", "COUNT", 1)[1]
  if last then
    local before, seq = string.match(last[1], "^(%d+)-(%d+)$")
    if tonumber(ms) <= tonumber(before) then
      number = before .. "-" .. string.format("%d", tonumber(seq) + 1)
    end
  end
  redis.call("XADD", log, "MAXLEN", most, number, ...)
end

local function appendrun(records, log)
  local run, record, most, ms = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
  local by = redis.call("HGET", records, run .. ":by")
  local open = redis.call("HMGET", records, "fold", "fold:ms")
  redis.call("HDEL", records, run, run .. ":by")
  if ARGV[7] == "1" and not by then
    if open[1] then
      local count, first = string.match(open[1], '^{"folded":{"count":(%d+),"first":"(%w+)"}')
      if not count then
        count, first = 1, string.match(open[1], '^{"id":"(%w+)"')
      end
      if first then -- otherwise it is unreadable
        record = string.format('{"folded":{"count":%d,"first":"%s"},', count + 1, first) .. string.sub(record, 2)
      end
    end
    redis.call("HSET", records, "fold", record, "fold:ms", ms)
  else
    if open[1] then
      append(log, most, open[2], "r", open[1])
      redis.call("HDEL", records, "fold", "fold:ms")
    end
    if by then
      append(log, most, ms, "r", record, "by", by)
    else
      append(log, most, ms, "r", record)
    end
  end
  if ARGV[5] ~= "" then
    redis.call("PUBLISH", ARGV[5], "run.finished " .. ARGV[6])
  end
end

