-- fenced reports whether a publisher may publish no more, for another one has
-- taken the restaurant over (policy S2). It stands before scripts that publish.
--
-- Fencing numbers that a fail-over lost may be given twice; the run then tells
-- the holders apart.
--
-- key       hash {fence, run}: the last fencing number given, the run that has
--           the lease
-- publisher its fencing number and, after a space, its run; no run = the number
--           alone decides
--
-- result {"fenced", stored fencing number}, or nil
local function fenced(key, publisher)
  local number, run = string.match(publisher, "^(%d+) ?(.*)$")
  local last = redis.call("HMGET", key, "fence", "run")
  local given = last[1] or "0"
  if tonumber(given) > tonumber(number) or run ~= "" and last[2] ~= run then
    return {"fenced", given}
  end
  return nil
end
