-- appendrun moves a finished run from those at work to those that are kept. It
-- stands before finish.lua and orphan.lua, which both end runs.
--
-- records hash run id -> record; run id .. ":by" -> joiners;
--         fold -> the record of the scheduled runs since the last entry of the
--         log that found nothing changed; fold:ms -> the time of its id
-- log     stream of finished runs: r = record, by = joiners
-- record  JSON that begins with {"id":"ID"
-- ms      the time of the run's id, in milliseconds
-- most    how many entries the log keeps
-- fold    1 = the run may be folded: unless somebody has joined it

-- append adds an entry. It is numbered by ms, or right after the last one.
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

local function appendrun(records, log, run, record, ms, most, fold)
  local by = redis.call("HGET", records, run .. ":by")
  local open = redis.call("HMGET", records, "fold", "fold:ms")
  redis.call("HDEL", records, run, run .. ":by")
  if fold == "1" and not by then
    if open[1] then
      local count, first = string.match(open[1], '^{"folded":{"count":(%d+),"first":"(%w+)"}')
      if not count then
        count, first = 1, string.match(open[1], '^{"id":"(%w+)"')
      end
      if first then -- else nobody can read it
        record = string.format('{"folded":{"count":%d,"first":"%s"},', count + 1, first) .. string.sub(record, 2)
      end
    end
    redis.call("HSET", records, "fold", record, "fold:ms", ms)
    return
  end
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

