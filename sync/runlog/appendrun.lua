-- appendrun moves the record of a run to the finished runs. Go prepends it to
-- finish.lua and orphan.lua.
--
-- records hash run id -> record; run id .. ":by" -> joiners;
--         fold -> one record for the scheduled runs without changes since the last
--         entry of the log; fold:ms -> the time of its id
-- log     stream of finished runs: r = record, by = joiners
-- record  JSON that starts with {"id":"ID"
-- ms      the time of the run's id, in milliseconds
-- most    maximum number of entries of the log
-- fold    1 = the run may be folded, unless a request has joined it

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
      if first then -- otherwise it is unreadable
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

