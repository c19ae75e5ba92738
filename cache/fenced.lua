-- fenced checks whether a publisher may still publish: another publisher may have
-- taken over the restaurant, or was first (policy S2). Go prepends it to the scripts
-- that publish.
--
-- A failover can lose fencing numbers, so that a number is used twice. Then the run
-- ids differ.
--
-- key       hash {fence, run}: the last fencing number, the run with the lease
-- publisher its fencing number and, after a space, its run; without a run, only the
--           number counts
-- current   hash, the current version of the restaurant
-- base      version that must be current; "0" = none
--
-- result {"fenced", stored fencing number}, {"stale", current version}, or nil
local function fenced(key, publisher, current, base)
  local number, run = string.match(publisher, "^(%d+) ?(.*)$")
  local last = redis.call("HMGET", key, "fence", "run")
  local given = last[1] or "0"
  if tonumber(given) > tonumber(number) or run ~= "" and last[2] ~= run then
    return {"fenced", given}
  end
  local version = redis.call("HGET", current, "version") or "0"
  if not tonumber(version) then version = "0" end -- larder did not write it
  if version ~= base then
    return {"stale", version}
  end
  return nil
end
