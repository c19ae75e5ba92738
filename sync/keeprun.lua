-- keeprun puts a finished run from those at work to those that are kept. It
-- stands before finish.lua and lost.lua, which both end runs.
--
-- records hash run id -> record; run id .. ":by" -> joiners
-- log     stream of finished runs: r = packed, by = joiners
-- ms      the time of the run's id, in milliseconds
-- most    how many finished runs are kept
local function keeprun(records, log, run, packed, ms, most)
  -- Numbered by the time of its id, or right after the last one.
  local number = ms .. "-0"
  local last = redis.call("XREVRANGE", log, "+", "-", "COUNT", 1)[1]
  if last then
    local before, seq = string.match(last[1], "^(%d+)-(%d+)$")
    if tonumber(ms) <= tonumber(before) then
      number = before .. "-" .. string.format("%d", tonumber(seq) + 1)
    end
  end
  local by = redis.call("HGET", records, run .. ":by")
  if by then
    redis.call("XADD", log, "MAXLEN", most, number, "r", packed, "by", by)
  else
    redis.call("XADD", log, "MAXLEN", most, number, "r", packed)
  end
  redis.call("HDEL", records, run, run .. ":by")
end

