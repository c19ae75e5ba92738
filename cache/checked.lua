-- checked moves what is known of a restaurant's current version without a new
-- version: when it was last confirmed, and how the last run ended. It stands
-- before scripts that do so.
--
-- current  hash, the restaurant's current version
-- at       time of the check (RFC 3339, UTC, milliseconds), or "" to leave it
-- ahead    a time after it: what was checked later than that, was by a clock
--          that was wrong
-- outcome  of the run
--
-- result 1, or 0 where there is no current version
local function checked(current, at, ahead, outcome)
  if redis.call("EXISTS", current) == 0 then
    return 0
  end
  -- Times of one form compare as text; a late answer never moves one back.
  local before = redis.call("HGET", current, "checkedAt") or ""
  if at ~= "" and (at > before or before > ahead) then
    redis.call("HSET", current, "checkedAt", at)
  end
  redis.call("HSET", current, "lastOutcome", outcome)
  return 1
end
